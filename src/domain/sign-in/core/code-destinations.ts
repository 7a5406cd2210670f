/** Where a code of the second step goes, and what it is bound to. */

import type { Ground } from '../../../platform/ground.ts'
import type { Account, Contact } from '../../accounts/core/account.ts'
import type { HeldFactors } from '../../credentials/authenticators/service.ts'
import { decoyRecipient } from '../../foundation/decoys/decoys.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Caller, CallerGroup } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import type { CodePurpose } from '../../messages/codes/store.ts'
import type { Channel } from '../../messages/outbox/message.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { FactorMethods } from './factor-methods.ts'

/** The code that was sent. Where nobody proved who they are, it is what would hold if there is an account. */
export interface SentCode {
  channel: Channel
  /** The contact to which it went; null if the caller named it, or proved nothing. */
  destination: string | null
  expiresInSeconds: number
  /** The wait until this caller's counters admit another one. */
  resendAfterSeconds: number
}

interface Needs extends Pick<Ground, 'config'> {
  codes: CodeService
  limits: LimitService
  outbox: Outbox
  methods: FactorMethods
}

/**
 * Without two-factor sign-in a code alone signs in. The two purposes are kept apart, so that wrong codes from before
 * two-factor sign-in was turned on do not block the second step.
 */
const purposeOf = (account: Account | null) => (account?.twoFactorEnabled ? 'two_factor' : 'login_code')

export function createCodeDestinations({ codes, limits, outbox, methods, config }: Needs) {
  const { codeContacts } = methods
  const { defaultCountry } = config.accounts

  /**
   * The verified contact that the identifier names, otherwise the other one; null if the account has no verified
   * contact.
   */
  const contactFor = (account: Account | null, identifier: Identifier) =>
    (account && codeContacts(account, identifier.kind)[0]) ?? null

  const bindingOf = (account: Account | null, identifier: Identifier, group: CallerGroup): CodeBinding => ({
    group,
    purpose: purposeOf(account),
    subject: account?.uuid ?? codes.decoySubject(identifier.key),
    destination: contactFor(account, identifier)?.destination ?? identifier.key,
  })

  /** The verified contact of this channel to which a code of the second step may go; null if there is none. */
  const contactBy = (account: Account, channel: Channel) =>
    codeContacts(account).find((contact) => contact.channel === channel) ?? null

  /** Inside a session the code goes to the first verified contact, unless the caller names the other channel. */
  const stepUpBinding = (account: Account, contact = codeContacts(account)[0] ?? null): CodeBinding => ({
    purpose: 'step_up',
    group: 'owner',
    subject: account.uuid,
    destination: contact?.destination ?? account.uuid,
  })

  /** A code of the second step belongs to account and purpose: it is right whichever contact is typed with it. */
  const othersThan = (account: Account | null, { destination }: CodeBinding) =>
    account?.twoFactorEnabled
      ? codeContacts(account)
          .map((contact) => contact.destination)
          .filter((other) => other !== destination)
      : []

  /**
   * A stranger has paid for the identifier they typed. Another contact of the account to which the code goes is charged
   * too, and a refusal is not revealed. The same is charged on a decoy if the code goes to the typed contact, or is not
   * sent.
   */
  async function mayGoTo(to: Contact | null, named: Identifier, caller: Caller, purpose: CodePurpose) {
    if (caller.group !== 'stranger') return to !== null
    const actual = to && parseIdentifier(to.destination, defaultCountry)
    const isElsewhere = actual !== null && actual.key !== named.key
    const admitted = await limits.admitsCode(
      caller,
      isElsewhere ? actual : decoyRecipient(named.key),
      purpose,
      false,
    )
    return to !== null && (admitted || !isElsewhere)
  }

  /**
   * Sends a code to the contact that `identifier` leads to, or does the same work without sending one if the account
   * takes none. `named`: what a stranger typed, whose counters were charged, if that is a different identifier.
   */
  async function sendCode(
    { account, acceptsSentCodes }: HeldFactors,
    identifier: Identifier,
    caller: Caller,
    named: Identifier = identifier,
  ): Promise<void> {
    const sendsTo = acceptsSentCodes ? account : null
    const contact = sendsTo?.lockedAt === null ? contactFor(sendsTo, identifier) : null
    const mayGo = await mayGoTo(contact, named, caller, purposeOf(sendsTo))
    const to = sendsTo && contact && mayGo ? { channel: contact.channel, language: sendsTo.language } : null
    await outbox.sendCode(bindingOf(sendsTo, identifier, caller.group), to)
  }

  /** Sends a code to a verified contact, which is charged for it; null where it can be read no more. */
  async function sendToOwner(
    { language }: Account,
    { channel, destination }: Contact,
    binding: CodeBinding,
    caller: Caller,
  ): Promise<SentCode | null> {
    const identifier = parseIdentifier(destination, defaultCountry)
    if (identifier === null) return null
    const charges = limits.counters.codes(caller, identifier, binding.purpose, true)
    const resendAfterSeconds = await limits.chargeAndForesee(charges)
    await outbox.sendCode(binding, { channel, language })
    return { channel, destination, expiresInSeconds: config.codes.lifetimeSeconds, resendAfterSeconds }
  }

  return { contactFor, contactBy, bindingOf, stepUpBinding, othersThan, sendCode, sendToOwner }
}
