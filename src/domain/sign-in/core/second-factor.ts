/**
 * The second factor: a code of an authenticator app, a sent code or a recovery code, whichever the account has. The
 * work is the same for identifiers without an account. No code is sent to an account with an app, because a sent code
 * is the weaker factor. A new kind of factor is one more entry of the list `factors`.
 */

import type { Ground } from '../../../platform/ground.ts'
import { AppError, type TwoFactorMethod, twoFactorMethods } from '../../../texts/errors.ts'
import { type Account, type Contact, verifiedContacts } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { Authenticators, HeldFactors } from '../../credentials/authenticators/service.ts'
import { decoyRecipient } from '../../foundation/decoys/decoys.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Caller, CallerGroup } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TestIdentity } from '../../foundation/test-identities/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import type { CodePurpose, CodeResult } from '../../messages/codes/store.ts'
import type { Channel } from '../../messages/outbox/message.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'

/** The code that was sent. Where nobody proved who they are, it is what would hold if there is an account. */
export interface SentCode {
  channel: Channel
  /** The contact to which it went; null if the caller named it, or proved nothing. */
  destination: string | null
  expiresInSeconds: number
  /** The wait until this caller's counters admit another one. */
  resendAfterSeconds: number
}

interface CodeAttempt {
  typed: string
  caller: Caller
  /** The name that a stranger typed for the account; the answer depends only on the attempts with this name. */
  name: string
  /** Only the client address shows that the first factor was verified. */
  byAddress?: boolean
  /** The call is refused whatever is typed: a right code is not used up. */
  keeps?: boolean
  /** Opened the account, so that its code is right. */
  test?: TestIdentity | null
}

/** One kind of second factor. */
interface Factor {
  /** The methods by which the account can use it now. */
  methods(held: HeldFactors): TwoFactorMethod[]
  /** Tells whether a code of this form is compared with this factor. */
  reads(typed: string): boolean
  /**
   * Compares the code and, if it is right and not `keeps`, uses it up. The work is the same for an account without such a
   * factor.
   */
  verify(held: HeldFactors, typed: string, compare: CompareSent, keeps: boolean): Promise<CodeResult>
}

/** Compares a typed code with the sent one, or with a decoy if the account takes no sent codes. */
type CompareSent = (accepts: boolean) => Promise<CodeResult>
const noSentCode: CompareSent = async () => 'wrong'

interface Needs extends Pick<Ground, 'config'> {
  codes: CodeService
  authenticators: Authenticators
  notices: OwnerNotices
  limits: LimitService
  outbox: Outbox
  policy: SignInPolicy | null
}

/**
 * Without two-factor sign-in a code alone signs in. The two purposes are kept apart, so that wrong codes from before
 * two-factor sign-in was turned on do not block the second step.
 */
const purposeOf = (account: Account | null) => (account?.twoFactorEnabled ? 'two_factor' : 'login_code')

const nothingStored = {
  sealedSecret: null,
  lossToldAt: null,
  recoveredAt: null,
  recoveryHashes: [],
  hasPasskey: false,
  removalAt: null,
}

const inOrder = (methods: TwoFactorMethod[]) => twoFactorMethods.filter((method) => methods.includes(method))

export type SecondFactor = ReturnType<typeof createSecondFactor>

export function createSecondFactor(needs: Needs) {
  const { codes, notices, authenticators, limits, outbox, config, policy } = needs
  const { defaultCountry } = config.accounts
  const { allowEmail } = config.twoFactor

  const isReachable = ({ destination }: Contact): boolean => {
    const identifier = parseIdentifier(destination, defaultCountry)
    return identifier !== null && limits.counters.mayReceive(identifier)
  }

  /**
   * The verified contacts that codes may go to. An e-mail counts as a second step only if the operator allows it, or if
   * the account has no telephone number that SMS can reach.
   */
  function codeContacts(account: Account, first: Identifier['kind'] = 'email'): Contact[] {
    const contacts = verifiedContacts(account, first)
    if (allowEmail || !account.twoFactorEnabled) return contacts
    const phones = contacts.filter((contact) => contact.channel === 'sms' && isReachable(contact))
    return phones.length > 0 ? phones : contacts
  }

  /**
   * The factors of the account. A passkey takes the place of sent codes where these are the first factor, since the account
   * has no password, and of e-mail where the operator does not allow that.
   */
  async function find(account: Account | null): Promise<HeldFactors> {
    const held = await authenticators.find(account)
    if (policy !== null) {
      const hasPasskey = account !== null && (await policy.hasPasskey(account))
      return { ...held, acceptsSentCodes: false, stored: { ...held.stored, hasPasskey } }
    }
    if (account === null || !held.stored.hasPasskey) return held
    const isAllowed = allowEmail || codeContacts(account).some(({ channel }) => channel === 'sms')
    return isAllowed && account.passwordDigest !== null ? held : { ...held, acceptsSentCodes: false }
  }

  const factors: Factor[] = [
    // A passkey is not a code to type: its owner calls passkeys/login, which needs no second step.
    {
      methods: ({ stored }) => (stored.hasPasskey ? ['passkey'] : []),
      reads: () => false,
      verify: async () => 'wrong',
    },
    {
      methods: ({ app }) => (app === 'usable' ? ['totp'] : []),
      reads: (typed) => !authenticators.isRecoveryCode(typed),
      verify: async (held, typed, _, keeps) =>
        keeps && authenticators.matchesAppCode(held, typed)
          ? 'right'
          : authenticators.useAppCode(held, typed),
    },
    {
      methods: ({ account, acceptsSentCodes }) =>
        account && acceptsSentCodes
          ? codeContacts(account)
              .filter(isReachable)
              .map(({ channel }) => channel)
          : [],
      reads: (typed) => !authenticators.isRecoveryCode(typed),
      verify: ({ account, acceptsSentCodes }, _, compare) => compare(acceptsSentCodes && account !== null),
    },
    {
      methods: ({ recoveryCodesLeft }) => (recoveryCodesLeft > 0 ? ['recovery_code'] : []),
      reads: authenticators.isRecoveryCode,
      verify: async (held, typed, _, keeps) =>
        (keeps && authenticators.matchesRecoveryCode(held, typed)) ||
        (await authenticators.useRecoveryCode(held, typed))
          ? 'right'
          : 'wrong',
    },
  ]

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
   * The methods that can be used now. Sent codes are among them if one can be sent, by both channels where the account has
   * both. Recovery codes are named wherever some are left: whoever lost a phone has to see that they can be used.
   */
  function methods(held: HeldFactors, canSend: boolean) {
    const works = (method: TwoFactorMethod) =>
      policy ? policy.factors.includes(method) : canSend || (method !== 'email' && method !== 'sms')
    return inOrder(factors.flatMap((factor) => factor.methods(held))).filter(works)
  }

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

  const verify = async (held: HeldFactors, typed: string, compare: CompareSent, keeps: boolean) => {
    const compared = factors.filter((factor) => factor.reads(typed))
    const results = await Promise.all(compared.map((factor) => factor.verify(held, typed, compare, keeps)))
    return (
      results.find((result) => result === 'right') ?? results.find((result) => result === 'spent') ?? 'wrong'
    )
  }

  /**
   * The owner is told, once a day, of the third wrong code within a day behind the right password on an unknown device.
   * It does not matter which factors were tried, or whether only the address shows who gave the password.
   */
  async function noteWrongCode(account: Account | null, { caller }: CodeAttempt): Promise<void> {
    if (account === null || caller.group !== 'password') return
    const { wrongSecondFactors, onceADay } = limits.counters
    if (await limits.admits([wrongSecondFactors(account.uuid)])) return
    if (!(await limits.admits([onceADay('wrong second factor', account.uuid)]))) return
    await outbox.sendNotices(await notices.about(account, 'second_factor_failed'))
  }

  /**
   * A recovery code is too long to be guessed, so its attempts have a counter of their own and never block other
   * methods.
   */
  async function takeRecoveryCode(account: Account | null, sent: CodeBinding, attempt: CodeAttempt) {
    const { caller, typed, byAddress, keeps = false } = attempt
    // Others at the owner's address, whom only the address shows, use up none of what a token or password pays for.
    const subject = byAddress ? `${sent.subject} by address` : sent.subject
    await limits.charge(limits.counters.recoveryCodes(subject, caller.addressBucket))
    const held = await find(account)
    if ((await verify(held, typed, noSentCode, keeps)) === 'right') return
    await noteWrongCode(account, attempt)
    throw new AppError('invalid_code')
  }

  /** Where a policy names the factors, a code is one of an app. */
  async function requireApp(account: Account | null, typed: string): Promise<void> {
    const usable = methods(await find(account), false)
    if (account !== null && !usable.includes('totp'))
      throw new AppError('two_factor_required', { twoFactor: { methods: usable } })
    if (authenticators.isRecoveryCode(typed)) throw new AppError('invalid_code')
  }

  /** Returns whether the code was one that is sent. */
  async function take(account: Account | null, sent: CodeBinding, attempt: CodeAttempt) {
    const { caller, name, byAddress = false, typed, keeps = false, test = null } = attempt
    if (policy !== null) await requireApp(account, typed)
    if (authenticators.isRecoveryCode(typed)) {
      await takeRecoveryCode(account, sent, attempt)
      return { wasSent: false }
    }
    const held = await find(account)
    const factor = held.app === 'usable' ? 'totp' : sent.purpose
    const others = othersThan(account, sent)
    const by = { caller, factor, name, byAddress, keepsRight: keeps, test, others }
    await codes.attempt(sent, typed, by, async (allowed, compareSent) => {
      // If no more attempts at this account are allowed, the same work is done on something that is never right.
      const tryable = allowed ? held : { ...held, account: null, stored: nothingStored }
      const result = await verify(tryable, typed, compareSent, keeps)
      if (result === 'wrong') await noteWrongCode(account, attempt)
      return result
    })
    return { wasSent: held.acceptsSentCodes }
  }

  /** Refuses if no codes are sent to the account. Call it only after the first factor was verified. */
  function requireSentCodes(held: HeldFactors): void {
    if (held.acceptsSentCodes) return
    throw new AppError('use_another_method', { twoFactor: { methods: methods(held, false) } })
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

  return {
    sendToOwner,
    /** It reads the factors once for each call. */
    find,
    /**
     * Notifies the owner, once, that the app cannot be used any more. Call it only after the first factor was verified.
     */
    tellLoss: authenticators.tellLoss,
    methods,
    recipientOf: contactFor,
    contactBy,
    /** Tells whether the typed text has the form of a recovery code. */
    isRecoveryCode: authenticators.isRecoveryCode,
    requireSentCodes,
    /**
     * Sends a code to the contact that `identifier` leads to, or does the same work without sending one if the account
     * takes none. `named`: what a stranger typed, whose counters were charged, if that is a different identifier.
     */
    async sendCode(
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
    },
    /**
     * Takes a code that `sendCode` sent, a code of the app or a recovery code. Returns whether the operator counts it as
     * a second factor.
     */
    async takeCode(account: Account | null, identifier: Identifier, attempt: CodeAttempt): Promise<boolean> {
      const binding = bindingOf(account, identifier, attempt.caller.group)
      const { wasSent } = await take(account, binding, attempt)
      // The code may have gone to another contact as well, so the weaker one decides.
      const mayBeMailed = [binding.destination, ...othersThan(account, binding)].some((destination) =>
        destination.includes('@'),
      )
      return allowEmail || !(wasSent && mayBeMailed)
    },
    /** The methods that can confirm a change inside a session while two-factor sign-in is on. */
    async methodsInSession(account: Account): Promise<TwoFactorMethod[]> {
      const held = await find(account)
      return methods(held, codeContacts(account).length > 0)
    },
    /**
     * Sends a code that confirms a change inside a session to the contact of this channel, or else to the first verified
     * one; none if two-factor sign-in is off.
     */
    async sendStepUpCode(account: Account, caller: Caller, wanted: Channel | null = null) {
      if (account.twoFactorEnabled) requireSentCodes(await find(account))
      const [first] = codeContacts(account)
      const contact = (wanted && contactBy(account, wanted)) ?? first
      if (!contact || !account.twoFactorEnabled) return null
      return sendToOwner(account, contact, stepUpBinding(account, contact), caller)
    },
    /** Works like `takeCode`, for a change inside a session. */
    async takeStepUp(account: Account, typed: string, caller: Caller): Promise<void> {
      await take(account, stepUpBinding(account), { typed, caller, name: '' })
    },
  }
}
