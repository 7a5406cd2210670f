/**
 * The second step: a sent code, a code of an authenticator app or a recovery code, whichever the account has. The
 * same work for identifiers without account. An account with an app gets no code sent: it would be the weaker way in.
 */

import { AppError } from '../../errors.ts'
import { type Account, type Contact, verifiedContacts } from '../accounts/account.ts'
import type { CodeBinding } from '../codes/service.ts'
import type { CodePurpose } from '../codes/store.ts'
import { type Identifier, parseIdentifier } from '../identifiers/identifier.ts'
import type { CallerGroup } from '../limits/callers.ts'
import type { Services } from '../services.ts'

export interface SecondFactor {
  /** True when the account's codes come from an authenticator app. */
  hasApp(account: Account): Promise<boolean>
  /** The proved contact that is named, else the other one. What is named, where the account has proved none. */
  recipientOf(account: Account, named: Identifier): Identifier
  /** Sends a code to that contact; null when there is nobody to send to. */
  sendCode(account: Account | null, identifier: Identifier, group: CallerGroup): Promise<Contact | null>
  /**
   * Takes what was typed: the code that `sendCode` sent to the contact `identifier` stands for, a code of the app, or
   * a recovery code. Throws `invalid_code`, `too_many_attempts`, `too_many_requests`.
   */
  takeCode(account: Account | null, identifier: Identifier, typed: string, counts: CountsOn): Promise<void>
}

/**
 * Which tries the answer follows from. Those of the account only where its first factor was proved in the call;
 * anybody may type a name, and must not see by it whose it is. The account's tries bound the others too, unseen.
 */
export type CountsOn = 'account' | { name: string }

type Needs = Pick<Services, 'codes' | 'authenticators' | 'limits' | 'outbox' | 'config'>

/**
 * A code alone signs in where two factors are off. What was sent, or guessed, for one purpose has no meaning for the
 * other: guesses made before two factors were on do not close the second step.
 */
const purposeOf = (account: Account | null): 'login_code' | 'two_factor' =>
  account?.twoFactorEnabled ? 'two_factor' : 'login_code'

export function createSecondFactor(needs: Needs): SecondFactor {
  const { codes, authenticators, limits, outbox, config } = needs
  const { defaultCountry } = config.accounts

  const contactFor = (account: Account | null, identifier: Identifier): Contact | null =>
    (account && verifiedContacts(account, identifier.kind)[0]) ?? null

  const bindingOf = (account: Account | null, identifier: Identifier, group: CallerGroup): CodeBinding => ({
    group,
    purpose: purposeOf(account),
    subject: account?.uuid ?? codes.decoySubject(identifier.key),
    destination: contactFor(account, identifier)?.destination ?? identifier.key,
  })

  /** The named identifier was counted; a code that goes elsewhere counts there too, and nobody is told. */
  async function mayGoTo(
    { destination }: Contact,
    named: Identifier,
    purpose: CodePurpose,
  ): Promise<boolean> {
    const actual = parseIdentifier(destination, defaultCountry)
    if (actual === null || actual.key === named.key) return true
    return limits.admitsCode(actual, purpose)
  }

  /** Counts a try before it is compared, on the account, or its stand-in, and on the name. */
  async function count(account: Account | null, countsOn: CountsOn) {
    const name = countsOn === 'account' ? `proved ${account?.uuid}` : countsOn.name
    const subject = account?.uuid ?? codes.decoySubject(name)
    const purpose = purposeOf(account)
    const counted = await codes.countNamed({ subject, purpose }, name)
    const guesses = `${purpose} ${subject}`
    const wait = counted.open ? await limits.countGuess(guesses) : 0
    if (wait > 0) await counted.giveBackSubject()
    const told = countsOn === 'account' ? counted.open : counted.namedOpen
    return {
      open: counted.open && wait === 0,
      standIn: counted.standIn,
      refusal(): AppError {
        if (countsOn === 'account' && wait > 0)
          return new AppError('too_many_requests', { retryAfterSeconds: wait })
        return told ? new AppError('invalid_code') : counted.exhausted()
      },
      async giveBack() {
        await Promise.all([counted.giveBack(), limits.clearGuesses(guesses)])
      },
    }
  }

  return {
    hasApp: async (account) => (await authenticators.findApp(account)) !== null,
    recipientOf(account, named) {
      const contact = contactFor(account, named)
      return (contact && parseIdentifier(contact.destination, defaultCountry)) ?? named
    },
    async sendCode(account, identifier, group) {
      const sendsTo = (await authenticators.findApp(account)) === null ? account : null
      const contact = sendsTo?.lockedAt === null ? contactFor(sendsTo, identifier) : null
      const to =
        sendsTo && contact && (await mayGoTo(contact, identifier, purposeOf(sendsTo)))
          ? { channel: contact.channel, language: sendsTo.language }
          : null
      await outbox.sendCode(bindingOf(sendsTo, identifier, group), to)
      return contact
    },
    async takeCode(account, identifier, typed, countsOn) {
      const [counted, app] = await Promise.all([count(account, countsOn), authenticators.findApp(account)])
      // Where the account may not be tried any more, the same work is done on what is never right.
      const group = countsOn === 'account' ? 'password' : 'stranger'
      const binding = bindingOf(app === null ? account : null, identifier, group)
      const taken = await Promise.all(
        counted.open
          ? [codes.takeCounted(binding, typed), authenticators.use(account, app, typed)]
          : [
              codes.takeCounted({ ...binding, subject: counted.standIn }, typed),
              authenticators.use(null, null, typed),
            ],
      )
      if (!taken.includes(true)) throw counted.refusal()
      await counted.giveBack()
    },
  }
}
