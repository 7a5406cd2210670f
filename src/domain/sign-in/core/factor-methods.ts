/** Which second factors an account has, and which of them can be used now. */

import type { Ground } from '../../../platform/ground.ts'
import { type TwoFactorMethod, twoFactorMethods } from '../../../texts/errors.ts'
import { type Account, type Contact, verifiedContacts } from '../../accounts/core/account.ts'
import type { Authenticators, HeldFactors } from '../../credentials/authenticators/service.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'

interface Needs extends Pick<Ground, 'config'> {
  authenticators: Authenticators
  limits: LimitService
  policy: SignInPolicy | null
}

const inOrder = (methods: TwoFactorMethod[]) => twoFactorMethods.filter((method) => methods.includes(method))

export type FactorMethods = ReturnType<typeof createFactorMethods>

export function createFactorMethods({ authenticators, limits, policy, config }: Needs) {
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
   * A passkey takes the place of sent codes where these are the first factor, since the account has no password, and of
   * e-mail where the operator does not allow that.
   */
  function besidePasskey(held: HeldFactors): HeldFactors {
    const { account } = held
    if (account === null || !held.stored.hasPasskey) return held
    const isAllowed = allowEmail || codeContacts(account).some(({ channel }) => channel === 'sms')
    return isAllowed && account.passwordDigest !== null ? held : { ...held, acceptsSentCodes: false }
  }

  /** The factors of the account. */
  async function find(account: Account | null): Promise<HeldFactors> {
    const held = await authenticators.find(account)
    if (policy !== null) {
      const hasPasskey = account !== null && (await policy.hasPasskey(account))
      return { ...held, acceptsSentCodes: false, stored: { ...held.stored, hasPasskey } }
    }
    return besidePasskey(held)
  }

  /** A passkey is not a code to type: its owner calls passkeys/login, which needs no second step. */
  function usable({
    account,
    app,
    acceptsSentCodes,
    recoveryCodesLeft,
    stored,
  }: HeldFactors): TwoFactorMethod[] {
    const contacts = account && acceptsSentCodes ? codeContacts(account).filter(isReachable) : []
    return [
      ...(stored.hasPasskey ? ['passkey' as const] : []),
      ...(app === 'usable' ? ['totp' as const] : []),
      ...contacts.map(({ channel }) => channel),
      ...(recoveryCodesLeft > 0 ? ['recovery_code' as const] : []),
    ]
  }

  /**
   * The methods that can be used now. Sent codes are among them if one can be sent, by both channels where the account has
   * both. Recovery codes are named wherever some are left: whoever lost a phone has to see that they can be used.
   */
  function methods(held: HeldFactors, canSend: boolean) {
    const works = (method: TwoFactorMethod) =>
      policy ? policy.factors.includes(method) : canSend || (method !== 'email' && method !== 'sms')
    return inOrder(usable(held)).filter(works)
  }

  /** The methods of each of these accounts, by uuid; of those without two-factor sign-in there are none. */
  async function listMethods(accounts: Account[]): Promise<Map<string, TwoFactorMethod[]>> {
    const all = (await authenticators.findAll(accounts)).map(besidePasskey)
    return new Map(all.map((held) => [held.account!.uuid, methods(held, true)]))
  }

  return { codeContacts, find, methods, listMethods }
}
