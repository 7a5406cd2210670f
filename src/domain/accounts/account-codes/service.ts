/**
 * Codes of 16 letters that an administrator makes for somebody: a temporary access code for somebody who lost every way
 * in, an invitation for a new account. `password/reset` takes them in place of the six digits. Wrong tries, other codes
 * and other people's requests end none of them, so that nobody can keep the person from using theirs.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import {
  groupLetters,
  isLetterCode,
  lettersFrom,
  lettersOf,
  matchesSalted,
  saltedHash,
} from '../../messages/codes/letters.ts'
import type { AccountCodeKind } from '../../messages/codes/store.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { type Account, type Addressee, type Contact, verifiedContacts } from '../core/account.ts'
import type { OwnerNotices } from '../core/owner-notices.ts'
import type { OpenAccountCode, PreparedCode } from './account-code.ts'
import type { AccountCodeStore } from './store.ts'

export interface CodeWish {
  kind: AccountCodeKind
  lifetimeSeconds: number
  sendTo: Contact | null
  /** Using a temporary access code then removes every passkey and identity. */
  removeFactors?: boolean | undefined
}

export interface MatchedCode extends Omit<OpenAccountCode, 'sentTo'> {
  account: Account
  /** The contact that it proves; null where it was sent nowhere. */
  sentTo: Identifier | null
}

interface Needs extends Pick<Ground, 'clock' | 'config' | 'secret'> {
  notices: OwnerNotices
  limits: LimitService
  stores: { accountCodes: AccountCodeStore }
}

/** The part of them that the worker needs: see SendingCodes. */
export function createAccountCodeSending({
  stores,
  secret,
  clock,
}: Omit<Needs, 'notices' | 'limits' | 'config'>) {
  const letters = (id: string, seed: Uint8Array) => lettersFrom(secret.tag('account code', id, seed))
  return {
    letters,
    /** Tells whether the code of this message is still open. Its life began when it was made. */
    async start({ subject }: { subject: string }, seed: Uint8Array): Promise<boolean> {
      const open = await stores.accountCodes.findOpen(subject, clock.now())
      return open !== null && matchesSalted(open.hash, open.accountUuid, letters(subject, seed))
    },
    reveal: ({ subject }: { subject: string }, seed: Uint8Array) => groupLetters(letters(subject, seed)),
  }
}

export type AccountCodes = ReturnType<typeof createAccountCodes>

export function createAccountCodes(needs: Needs) {
  const { notices, limits, clock, config } = needs
  const store = needs.stores.accountCodes
  const { letters: lettersOfSeed } = createAccountCodeSending(needs)
  const { defaultCountry } = config.accounts
  const read = (contact: string) => parseIdentifier(contact, defaultCountry)

  async function admit({ destination }: Contact, kind: AccountCodeKind): Promise<Identifier> {
    const identifier = read(destination)
    if (identifier === null || !limits.counters.mayReceive(identifier)) {
      throw new AppError('channel_not_available')
    }
    await limits.charge(limits.counters.accountCodes(identifier, kind))
    return identifier
  }

  /** The message with the code tells its own destination. */
  async function messagesOf(
    account: Addressee,
    sendTo: Contact | null,
    message: Pick<NewMessage, 'purpose' | 'values' | 'code'>,
  ): Promise<NewMessage[]> {
    const contacts = verifiedContacts(account).filter(
      ({ destination }) => destination !== sendTo?.destination,
    )
    const told = await notices.about(account, 'recovery_created', { contacts })
    if (sendTo === null) return told
    const { language, uuid: accountUuid } = account
    return [{ ...sendTo, ...message, language, accountUuid }, ...told]
  }

  /** The account need not be there yet. */
  async function prepare(
    holder: Addressee,
    { kind, lifetimeSeconds, sendTo, removeFactors = false }: CodeWish,
  ): Promise<PreparedCode> {
    const sentTo = sendTo && (await admit(sendTo, kind))
    const expiresAt = new Date(clock.now().getTime() + lifetimeSeconds * 1000)
    const id = randomUUID()
    const seed = randomBytes(16)
    const letters = lettersOfSeed(id, seed)
    const messages = await messagesOf(holder, sendTo, {
      purpose: kind,
      values: { expires_at: expiresAt.toISOString() },
      code: { subject: id, purpose: kind, group: 'owner', seed },
    })
    const hash = saltedHash(holder.uuid, letters)
    const code = { id, kind, hash, sentTo: sentTo?.key ?? null, expiresAt, removeFactors }
    return { code, messages, shown: sendTo === null ? groupLetters(letters) : null }
  }

  return {
    /** Prepares the same as `issue`, for a transaction of the caller's (put-sql.ts). */
    prepare,
    /**
     * The older one of its kind is dead. With `sendTo` a message carries the code and `code` is null; otherwise the
     * caller is shown it. Every verified contact is told.
     */
    async issue(account: Account, wish: CodeWish): Promise<{ code: string | null; expiresAt: Date }> {
      const prepared = await prepare(account, wish)
      if (!(await store.put(account, prepared, clock.now()))) throw new AppError('account_not_found')
      return { code: prepared.shown, expiresAt: prepared.code.expiresAt }
    },
    /** Tells whether what was typed has the form of such a code. */
    hasForm: isLetterCode,
    /** The account whose open code this is, of those that the identifier or uuid may name. Nothing is used up. */
    async match(name: Identifier | { uuid: string }, typed: string): Promise<MatchedCode | null> {
      const now = clock.now()
      const open =
        'uuid' in name ? await store.findByUuid(name.uuid, now) : await store.findByIdentifier(name, now)
      const letters = lettersOf(typed)
      const found = open.find(({ account, hash }) => matchesSalted(hash, account.uuid, letters))
      if (found === undefined) return null
      return { ...found, sentTo: found.sentTo === null ? null : read(found.sentTo) }
    },
  }
}
