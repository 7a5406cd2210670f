/**
 * The second step: a sent code, a code of an authenticator app or a recovery code, whichever the account has. The
 * same work for identifiers without account. An account with an app gets no code sent: it would be the weaker way in.
 */
import { AppError } from '../../errors.ts'
import type { CodeBinding, CodeService } from '../codes/service.ts'
import type { Outbox } from '../delivery/outbox.ts'
import type { FactorService } from '../factors/service.ts'
import { type Identifier, parseIdentifier } from '../identifiers/identifier.ts'
import type { LimitService } from '../limits/service.ts'
import { type Account, type Contact, provedContacts } from './account.ts'

export interface SecondFactor {
  /** True when the account's codes come from an authenticator app. */
  hasApp(account: Account): Promise<boolean>
  /** Sends a code to the proved contact named, else to the other one; null when there is nobody to send to. */
  sendCode(account: Account | null, identifier: Identifier): Promise<Contact | null>
  /**
   * Takes what was typed: the code that `sendCode` sent to the contact `identifier` stands for, a code of the app, or
   * a recovery code. Throws `invalid_code`, `too_many_attempts`, `too_many_requests`. Without account it counts on a
   * stand-in: one for calls that bring a password and one for those that do not, since for an account without two
   * factors a wrong password is counted on the stand-in and no password on the account.
   */
  takeCode(
    account: Account | null,
    identifier: Identifier,
    typed: string,
    call?: { withPassword: boolean },
  ): Promise<void>
}

interface Options {
  codes: CodeService
  factors: Pick<FactorService, 'findApp' | 'use'>
  limits: LimitService
  outbox: Outbox
  defaultCountry: string
}

export function createSecondFactor(options: Options): SecondFactor {
  const { codes, factors, limits, outbox, defaultCountry } = options

  function contactFor(account: Account | null, identifier: Identifier): Contact | null {
    const open = account !== null && account.accountConfirmedAt !== null && account.lockedAt === null
    return open ? (provedContacts(account, identifier.kind)[0] ?? null) : null
  }

  const subjectOf = (account: Account | null, identifier: Identifier) =>
    account?.uuid ?? codes.decoySubject(identifier.key)

  const bindingOf = (account: Account | null, identifier: Identifier): CodeBinding => ({
    purpose: 'two_factor',
    subject: subjectOf(account, identifier),
    destination: contactFor(account, identifier)?.destination ?? identifier.key,
  })

  /** The named identifier was counted; a code that goes elsewhere counts there too, and nobody is told. */
  async function mayGoTo({ destination }: Contact, named: Identifier): Promise<boolean> {
    const actual = parseIdentifier(destination, defaultCountry)
    if (actual === null || actual.key === named.key) return true
    return limits.admitsCode(actual, 'two_factor')
  }

  /** Counts a try before it is compared; what it gives takes that back. */
  async function count(subject: string): Promise<() => Promise<void>> {
    const giveBack = await codes.count({ subject, purpose: 'two_factor' })
    const guess = limits.guessDemand(subject)
    try {
      await limits.take([guess])
    } catch (error) {
      await giveBack()
      throw error
    }
    return async () => {
      await Promise.all([giveBack(), limits.clear(guess)])
    }
  }

  return {
    hasApp: async (account) => (await factors.findApp(account)) !== null,
    async sendCode(account, identifier) {
      const sendsTo = (await factors.findApp(account)) === null ? account : null
      const contact = contactFor(sendsTo, identifier)
      const to =
        sendsTo && contact && (await mayGoTo(contact, identifier))
          ? { channel: contact.channel, language: sendsTo.language }
          : null
      await outbox.sendCode(bindingOf(sendsTo, identifier), to)
      return contact
    },
    async takeCode(account, identifier, typed, { withPassword } = { withPassword: false }) {
      const nobody = codes.decoySubject(withPassword ? `${identifier.key} with password` : identifier.key)
      const [wasRight, app] = await Promise.all([count(account?.uuid ?? nobody), factors.findApp(account)])
      const sentTo = app === null ? account : null
      const taken = await Promise.all([
        codes.takeCounted(bindingOf(sentTo, identifier), typed),
        factors.use(account, app, typed),
      ])
      if (!taken.includes(true)) throw new AppError('invalid_code')
      await wasRight()
    },
  }
}
