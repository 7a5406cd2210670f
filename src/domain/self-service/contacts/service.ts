/**
 * Changing the e-mail address or phone number inside a session: the password allows the request, and a code sent to
 * the new contact verifies it. If somebody else owns the contact, they get a notice instead of a code, and the answer is
 * the same.
 */

import { randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Admission } from '../../accounts/admission/service.ts'
import { type Account, channelOf, contactOf, hasVerified } from '../../accounts/core/account.ts'
import { type AccountRecord, accountRecord } from '../../accounts/core/account-schema.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import { emailProblem, parseEmail } from '../../foundation/identifiers/email.ts'
import { type Identifier, parseIdentifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import { inSession } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TestIdentities } from '../../foundation/test-identities/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import { parseReachablePhone } from '../../messages/delivery/reach.ts'
import type { NoticePurpose } from '../../messages/outbox/message.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { SentCode } from '../../sign-in/core/code-destinations.ts'
import type { Reauthentication } from '../../sign-in/core/reauthentication.ts'
import type { OwnerProof } from '../../sign-in/core/sign-in-schema.ts'
import type { UndoService } from '../../sign-in/undo/service.ts'
import type { ContactChange, ContactNotices, ContactStore } from './store.ts'

type Kind = Identifier['kind']

interface Client {
  address: string
  addressBucket: string
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  admission: Admission
  testIdentities: Pick<TestIdentities, 'refuse'>
  codes: CodeService
  limits: LimitService
  reauthentication: Reauthentication
  notices: OwnerNotices
  outbox: Outbox
  undo: UndoService
  providers: ProviderService
  stores: { accounts: AccountStore; contacts: ContactStore }
}

const purposes = {
  email: { code: 'email_change', notice: 'email_changed', removal: 'email_removed' },
  phone: { code: 'phone_change', notice: 'phone_changed', removal: 'phone_removed' },
} as const

const nothingTold: ContactNotices = { notices: [], knownClient: true, undoHash: null, undoKey: null }

export type ContactsService = ReturnType<typeof createContactsService>

export function createContactsService(needs: Needs) {
  const { admission, testIdentities, codes, limits, reauthentication, notices, undo, providers } = needs
  const { clock, config } = needs
  const { accounts, contacts: store } = needs.stores
  const { defaultCountry } = config.accounts

  const bindingOf = (accountUuid: string, kind: Kind, change: ContactChange | null): CodeBinding => ({
    purpose: purposes[kind].code,
    group: 'owner',
    subject: change?.codeSubject ?? codes.decoySubject(`${kind} change of ${accountUuid}`),
    destination: change?.destination ?? '',
  })

  /** Notices to every contact that was verified before. The one that goes gets the undo link, if there is one. */
  async function toldOf(
    signedIn: Authenticated,
    kind: Kind,
    purpose: NoticePurpose,
    client: { address: string },
  ): Promise<ContactNotices> {
    const { kept, notice } = await undo.prepare(signedIn, kind, client)
    return { ...kept, notices: await notices.about(signedIn.account, purpose, { undo: notice }) }
  }

  /** The same contact in another spelling is no change to tell of. */
  const isTheSame = ({ account }: Authenticated, { destination }: ContactChange) => {
    const identifier = parseIdentifier(destination, defaultCountry)
    return identifier !== null && hasVerified(account, identifier)
  }

  async function confirm(
    signedIn: Authenticated,
    kind: Kind,
    { otp }: { otp: string },
    client: Client,
  ): Promise<AccountRecord> {
    const { account } = signedIn
    const caller = inSession(signedIn, client)
    await limits.chargeVisit('verification', caller)
    const change = await store.find(account, kind)
    // Counted on the account and not on this change, so that a new request does not allow more wrong codes.
    await codes.attempt(bindingOf(account.uuid, kind, change), otp, {
      caller,
      name: '',
      countsOn: account.uuid,
    })
    if (change === null) throw new AppError('invalid_code')
    const identifier = readIdentifier(change.destination, defaultCountry)
    admission.requireDomain(identifier)
    await testIdentities.refuse(identifier)
    const told = isTheSame(signedIn, change)
      ? nothingTold
      : await toldOf(signedIn, kind, purposes[kind].notice, client)
    const ends = { ...told, endCodes: codes.ending(account.uuid) }
    const changed = await store.confirm(signedIn, change, ends, clock.now())
    if (changed === null) throw new AppError('invalid_code')
    return accountRecord(changed, config.accounts.passwordDigest)
  }

  /** Tells whether the account has verified just this contact by now, and waits for no other one. */
  async function hasConfirmed(
    { account: { uuid } }: Pick<Authenticated, 'account'>,
    kind: Kind,
    contact: string,
  ): Promise<boolean> {
    const identifier = parseIdentifier(contact, defaultCountry)
    const account = await accounts.findByUuid(uuid)
    if (identifier === null || account === null || !hasVerified(account, identifier)) return false
    return contactOf(account, kind) === identifier.destination && (await store.find(account, kind)) === null
  }

  const usable = { providers: providers.names, rpId: config.passkeys.rpId }
  const isLastMethod = ({ id }: Account, kind: Kind) => store.isLastMethod(id, kind, usable)

  /** Tells whether `remove` would find a contact that may go. */
  const mayRemove = async ({ account }: Pick<Authenticated, 'account'>, kind: Kind): Promise<boolean> =>
    contactOf(account, kind) !== null && !(await isLastMethod(account, kind))

  /**
   * Returns the account without this contact. Every verified contact gets a notice, the removed one too. The last
   * verified contact and the last of all ways in stay.
   */
  async function remove(
    signedIn: Authenticated,
    kind: Kind,
    proof: OwnerProof,
    client: Client,
  ): Promise<AccountRecord> {
    const { account } = signedIn
    const admit = async () => {
      if (contactOf(account, kind) === null) throw new AppError('contact_not_found')
      if (await isLastMethod(account, kind)) throw new AppError('last_sign_in_method')
    }
    await reauthentication.require(signedIn, proof, client, { admit })
    const told = await toldOf(signedIn, kind, purposes[kind].removal, client)
    const ends = { ...told, endCodes: codes.ending(account.uuid) }
    const outcome = await store.remove(signedIn, kind, usable, ends, clock.now())
    if (outcome === 'session_over') throw new AppError('invalid_token', { cause: outcome })
    if (outcome === 'not_found') throw new AppError('contact_not_found')
    if (outcome === 'last_sign_in_method') throw new AppError('last_sign_in_method')
    return accountRecord(outcome, config.accounts.passwordDigest)
  }

  return { ...createAsking(needs), confirm, hasConfirmed, mayRemove, remove }
}

/** Asking for a new contact, and what is done where it is somebody else's. */
function createAsking(needs: Needs) {
  const { admission, testIdentities, codes, limits, reauthentication, outbox, clock, config } = needs
  const { accounts, contacts: store } = needs.stores

  function read(kind: Kind, contact: string): Identifier {
    const identifier = kind === 'email' ? parseEmail(contact) : parseReachablePhone(contact, config)
    if (identifier !== null) return identifier
    const code = kind === 'email' ? emailProblem(contact) : 'invalid_phone'
    throw new AppError('validation_failed', { fields: [{ field: kind, code }] })
  }

  async function refuseTaken({ id }: Account, identifier: Identifier): Promise<void> {
    const owner = await accounts.findByIdentifier(identifier, 'login')
    if (owner !== null && owner.id !== id && hasVerified(owner, identifier))
      throw new AppError('identifier_taken')
  }

  /** The contact is somebody else's: the work of a request, for a subject that no request has, so that no code is right. */
  async function pretendToAsk(kind: Kind, { destination }: Identifier, seed: Uint8Array): Promise<void> {
    const nobodys = {
      purpose: purposes[kind].code,
      group: 'owner',
      subject: randomUUID(),
      destination,
    } as const
    await codes.put(nobodys, seed, null)
    outbox.wake()
    if (config.accounts.revealExisting) throw new AppError('identifier_taken')
  }

  /** `prove` calls what it is given before it compares a second factor. */
  async function ask(
    signedIn: Authenticated,
    kind: Kind,
    contact: string,
    client: { addressBucket: string },
    prove: (admit: () => Promise<void>) => Promise<unknown>,
  ): Promise<SentCode> {
    const identifier = read(kind, contact)
    admission.requireDomain(identifier)
    await testIdentities.refuse(identifier)
    const { account } = signedIn
    const caller = inSession(signedIn, client)
    const { code: purpose } = purposes[kind]
    // Checked before the password, so that a country that is not allowed is reported at once.
    const charges = limits.counters.codes(caller, identifier, purpose, hasVerified(account, identifier))
    let resendAfterSeconds = 0
    await prove(async () => {
      resendAfterSeconds = await limits.chargeAndForesee(charges)
      // Before the second factor, because what is refused must not use up a recovery code.
      if (config.accounts.revealExisting) await refuseTaken(account, identifier)
    })
    const code = { subject: randomUUID(), seed: codes.createSeed() }
    // The caller named the contact, and the answer must not depend on whose it is.
    const sent = {
      channel: channelOf(kind),
      destination: null,
      expiresInSeconds: config.codes.lifetimeSeconds,
      resendAfterSeconds,
    }
    const outcome = await store.request(signedIn, identifier, code, clock.now())
    if (outcome === 'session_over') throw new AppError('invalid_token', { cause: outcome })
    if (outcome === 'taken') {
      await pretendToAsk(kind, identifier, code.seed)
      return sent
    }
    const { destination } = identifier
    await outbox.putCode({ purpose, group: 'owner', subject: code.subject, destination }, code.seed, null)
    return sent
  }

  return {
    /** A later call for the same kind cancels this one. A taken contact is named only with `accounts.reveal_existing`. */
    change: (
      signedIn: Authenticated,
      kind: Kind,
      { contact, ...proof }: { contact: string } & OwnerProof,
      client: { addressBucket: string },
    ): Promise<SentCode> =>
      ask(signedIn, kind, contact, client, (admit) =>
        reauthentication.require(signedIn, proof, client, { admit }),
      ),
    /** The same once more, for a contact that the caller knows the session to have proved itself for a moment ago. */
    changeAgain: (
      signedIn: Authenticated,
      kind: Kind,
      contact: string,
      client: { addressBucket: string },
    ): Promise<SentCode> => ask(signedIn, kind, contact, client, (admit) => admit()),
  }
}
