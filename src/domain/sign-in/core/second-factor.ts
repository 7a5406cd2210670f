/**
 * The second factor: a code of an authenticator app, a sent code or a recovery code, whichever the account has. The
 * work is the same for identifiers without an account. No code is sent to an account with an app, because a sent code
 * is the weaker factor. Which factors there are says factor-methods.ts, and `compare` what is typed for them.
 */

import type { Ground } from '../../../platform/ground.ts'
import { AppError, type TwoFactorMethod } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { Authenticators, HeldFactors } from '../../credentials/authenticators/service.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Caller } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TestIdentity } from '../../foundation/test-identities/service.ts'
import type { Attempt, CodeBinding, CodeService } from '../../messages/codes/service.ts'
import type { CodeResult } from '../../messages/codes/store.ts'
import type { Channel } from '../../messages/outbox/message.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import { createCodeDestinations, type SentCode } from './code-destinations.ts'
import { createFactorMethods } from './factor-methods.ts'

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

interface Needs extends Pick<Ground, 'config'> {
  codes: CodeService
  authenticators: Authenticators
  notices: OwnerNotices
  limits: LimitService
  outbox: Outbox
  policy: SignInPolicy | null
}

const nothingStored = {
  sealedSecret: null,
  confirmedAt: null,
  lossToldAt: null,
  recoveredAt: null,
  recoveryHashes: [],
  hasPasskey: false,
  removalAt: null,
}

export type SecondFactor = ReturnType<typeof createSecondFactor>

export function createSecondFactor(needs: Needs) {
  const { codes, authenticators, limits, config, policy } = needs
  const { allowEmail } = config.twoFactor
  const factorMethods = createFactorMethods(needs)
  const { codeContacts, find, methods, listMethods } = factorMethods
  const destinations = createCodeDestinations({ ...needs, methods: factorMethods })
  const { contactBy, bindingOf, stepUpBinding, othersThan, sendToOwner } = destinations

  /**
   * A recovery code is too long to be guessed, so its attempts have a counter of their own and never block other
   * methods.
   */
  async function takeRecoveryCode(account: Account | null, sent: CodeBinding, attempt: CodeAttempt) {
    const { caller, typed, byAddress, keeps = false } = attempt
    await limits.charge(limits.counters.recoveryCodes(sent.subject, caller.addressBucket, { byAddress }))
    const held = await find(account)
    if (keeps && authenticators.matchesRecoveryCode(held, typed)) return
    if (await authenticators.useRecoveryCode(held, typed)) return
    await noteWrongCode(needs, account, attempt)
    throw new AppError('invalid_code')
  }

  /**
   * Compares six digits with the app and with the code that was sent, and uses up what is right. The work is the same for an
   * account that has neither. Where no more attempts are allowed it is done on something that is never right.
   */
  async function compare(
    held: HeldFactors,
    sent: CodeBinding,
    typed: string,
    by: Attempt,
    allowed: boolean,
  ): Promise<CodeResult> {
    const tried = allowed ? held : { ...held, account: null, stored: nothingStored }
    const keptRight = by.keepsRight && authenticators.matchesAppCode(tried, typed)
    const results = await Promise.all([
      keptRight ? ('right' as const) : authenticators.useAppCode(tried, typed),
      codes.compare(sent, typed, by, tried.acceptsSentCodes && tried.account !== null),
    ])
    return (['right', 'spent'] as const).find((result) => results.includes(result)) ?? 'wrong'
  }

  /** Where a policy names the factors, a code is one of an app. */
  async function requireApp(account: Account | null, typed: string): Promise<void> {
    const usable = methods(await find(account), false)
    if (account !== null && !usable.includes('totp'))
      throw new AppError('two_factor_required', { twoFactor: { methods: usable } })
    if (authenticators.isRecoveryCode(typed)) throw new AppError('invalid_code')
  }

  /** Returns whether the code was one that is sent. */
  async function take(account: Account | null, sent: CodeBinding, attempt: CodeAttempt): Promise<boolean> {
    const { caller, name, byAddress = false, typed, keeps = false, test = null } = attempt
    if (policy !== null) await requireApp(account, typed)
    if (authenticators.isRecoveryCode(typed)) {
      await takeRecoveryCode(account, sent, attempt)
      return false
    }
    const held = await find(account)
    const factor = held.app === 'usable' ? 'totp' : sent.purpose
    const by = { caller, factor, name, byAddress, keepsRight: keeps, test, others: othersThan(account, sent) }
    let result: CodeResult | null = null
    try {
      await codes.attempt(sent, typed, by, async (allowed) => {
        result = await compare(held, sent, typed, by, allowed)
        return result
      })
    } catch (error) {
      // Not within the attempt: an error there would take the counting of a compared code back.
      if (result === 'wrong') await noteWrongCode(needs, account, attempt)
      throw error
    }
    return held.acceptsSentCodes
  }

  /**
   * Takes a code that `sendCode` sent, a code of the app or a recovery code. Returns whether the operator counts it as
   * a second factor.
   */
  async function takeCode(
    account: Account | null,
    identifier: Identifier,
    attempt: CodeAttempt,
  ): Promise<boolean> {
    const binding = bindingOf(account, identifier, attempt.caller.group)
    const wasSent = await take(account, binding, attempt)
    // The code may have gone to another contact as well, so the weaker one decides.
    const mayBeMailed = [binding.destination, ...othersThan(account, binding)].some((destination) =>
      destination.includes('@'),
    )
    return allowEmail || !(wasSent && mayBeMailed)
  }

  /** Works like `takeCode`, for a change inside a session. */
  async function takeStepUp(account: Account, typed: string, caller: Caller): Promise<void> {
    await take(account, stepUpBinding(account), { typed, caller, name: '' })
  }

  /** Refuses if no codes are sent to the account. Call it only after the first factor was verified. */
  function requireSentCodes(held: HeldFactors): void {
    if (held.acceptsSentCodes) return
    throw new AppError('use_another_method', { twoFactor: { methods: methods(held, false) } })
  }

  /** The methods that can confirm a change inside a session while two-factor sign-in is on. */
  async function methodsInSession(account: Account): Promise<TwoFactorMethod[]> {
    return methods(await find(account), codeContacts(account).length > 0)
  }

  /**
   * Sends a code that confirms a change inside a session to the contact of this channel, or else to the first verified
   * one; none if two-factor sign-in is off.
   */
  async function sendStepUpCode(
    account: Account,
    caller: Caller,
    wanted: Channel | null = null,
  ): Promise<SentCode | null> {
    if (account.twoFactorEnabled) requireSentCodes(await find(account))
    const [first] = codeContacts(account)
    const contact = (wanted && contactBy(account, wanted)) ?? first
    if (!contact || !account.twoFactorEnabled) return null
    return sendToOwner(account, contact, stepUpBinding(account, contact), caller)
  }

  return {
    /** It reads the factors once for each call. */
    find,
    methods,
    listMethods,
    methodsInSession,
    /** Tells whether the typed text has the form of a recovery code. */
    isRecoveryCode: authenticators.isRecoveryCode,
    /**
     * Notifies the owner, once, that the app cannot be used any more. Call it only after the first factor was verified.
     */
    tellLoss: authenticators.tellLoss,
    recipientOf: destinations.contactFor,
    contactBy,
    requireSentCodes,
    sendToOwner,
    sendCode: destinations.sendCode,
    sendStepUpCode,
    takeCode,
    takeStepUp,
  }
}

/**
 * The owner is told, once a day, of the third wrong code within a day behind the right password on an unknown device.
 * It does not matter which factors were tried, or whether only the address shows who gave the password.
 */
async function noteWrongCode(
  { limits, notices, outbox }: Needs,
  account: Account | null,
  { caller }: CodeAttempt,
): Promise<void> {
  if (account === null || caller.group !== 'password') return
  const { wrongSecondFactors, onceADay } = limits.counters
  if (await limits.admits([wrongSecondFactors(account.uuid)])) return
  if (!(await limits.admits([onceADay('wrong second factor', account.uuid)]))) return
  await outbox.sendNotices(await notices.about(account, 'second_factor_failed'))
}
