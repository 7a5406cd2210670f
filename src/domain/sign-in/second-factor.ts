/**
 * The second factor: a code of an authenticator app, a sent code or a recovery code, whichever the account has. The
 * work is the same for identifiers without account. An account with an app gets no code sent, since a sent code is the
 * weaker factor. Another kind of factor is one more entry of the list `factors`.
 */

import { AppError, type TwoFactorMethod, twoFactorMethods } from '../../errors.ts'
import { type Account, type Contact, verifiedContacts } from '../accounts/account.ts'
import type { HeldFactors } from '../authenticators/service.ts'
import type { CodeBinding } from '../codes/service.ts'
import type { CodePurpose } from '../codes/store.ts'
import { type Identifier, parseIdentifier } from '../identifiers/identifier.ts'
import type { CallerGroup } from '../limits/callers.ts'
import type { Services } from '../services.ts'

export interface SecondFactor {
  /** The factors of the account, read once for a call. */
  find(account: Account | null): Promise<HeldFactors>
  /** Tells the owner, once, of an app that cannot be used any more. Call it only behind the first factor. */
  tellLoss(held: HeldFactors): Promise<void>
  /** What can serve now; of sent codes only the channel of `recipient`. */
  methods(held: HeldFactors, recipient: Contact | 'any contact' | null): TwoFactorMethod[]
  /** The verified contact that is named, else the other one; null where the account has verified none. */
  recipientOf(account: Account, named: Identifier): Contact | null
  /** Sends a code to the contact `identifier` stands for; the message goes to nobody where no code may be sent. */
  sendCode(held: HeldFactors, identifier: Identifier, group: CallerGroup): Promise<void>
  /**
   * Takes what was typed: the code that `sendCode` sent to the contact `identifier` stands for, a code of the app, or
   * a recovery code. Throws `invalid_code`, `too_many_attempts`, `too_many_requests`.
   */
  takeCode(account: Account | null, identifier: Identifier, attempt: CodeAttempt): Promise<void>
  /** What can confirm a change inside a session, while two factors are on. */
  methodsInSession(account: Account): Promise<TwoFactorMethod[]>
  /**
   * Sends a code that confirms a change inside a session, to the first verified contact; none where codes come from an
   * app, or where two factors are off. Throws `too_many_requests`, `country_not_allowed`.
   */
  sendStepUpCode(account: Account): Promise<void>
  /** As `takeCode`, for a change inside a session. */
  takeStepUp(account: Account, typed: string, client: { addressBucket: string }): Promise<void>
}

export interface CodeAttempt {
  typed: string
  countsOn: CountsOn
  client: { addressBucket: string }
}

/**
 * Which tries the answer follows from. Those of the account only where its first factor was proved in the call;
 * anybody may type a name, and must not see by it whose it is. The account's tries bound the others too, unseen.
 */
export type CountsOn = 'account' | { name: string }

/** One kind of second factor. */
interface Factor {
  /** With which methods it can serve the account now. */
  methods(held: HeldFactors): TwoFactorMethod[]
  /** Whether what was typed is compared with this factor. */
  reads(typed: string): boolean
  /** Whether it was right, which uses it up. The work is the same where the account has no such factor. */
  verify(held: HeldFactors, typed: string, sent: CodeBinding): Promise<boolean>
}

type Needs = Pick<Services, 'codes' | 'authenticators' | 'limits' | 'outbox' | 'config'>

/**
 * A code alone signs in where two factors are off. What was sent, or guessed, for one purpose has no meaning for the
 * other: guesses made before two factors were on do not close the second step.
 */
const purposeOf = (account: Account | null): 'login_code' | 'two_factor' =>
  account?.twoFactorEnabled ? 'two_factor' : 'login_code'

const nothingStored = {
  sealedSecret: null,
  lossToldAt: null,
  recoveredAt: null,
  recoveryHashes: [],
  hasPasskey: false,
}

const inOrder = (methods: TwoFactorMethod[]) => twoFactorMethods.filter((method) => methods.includes(method))

export function createSecondFactor(needs: Needs): SecondFactor {
  const { codes, authenticators, limits, outbox, config } = needs
  const { defaultCountry } = config.accounts

  const factors: Factor[] = [
    // A passkey is no code that could be typed: who has one calls passkeys/login, which needs no second step.
    {
      methods: ({ stored }) => (stored.hasPasskey ? ['passkey'] : []),
      reads: () => false,
      verify: async () => false,
    },
    {
      methods: ({ app }) => (app === 'usable' ? ['totp'] : []),
      reads: (typed) => !authenticators.isRecoveryCode(typed),
      verify: (held, typed) => authenticators.useAppCode(held, typed),
    },
    {
      methods: ({ account, acceptsSentCodes }) =>
        account && acceptsSentCodes ? verifiedContacts(account).map(({ channel }) => channel) : [],
      reads: (typed) => !authenticators.isRecoveryCode(typed),
      verify: ({ account, acceptsSentCodes }, typed, sent) =>
        codes.takeCounted(acceptsSentCodes && account ? sent : decoyOf(sent), typed),
    },
    {
      methods: ({ recoveryCodesLeft }) => (recoveryCodesLeft > 0 ? ['recovery_code'] : []),
      reads: authenticators.isRecoveryCode,
      verify: (held, typed) => authenticators.useRecoveryCode(held, typed),
    },
  ]

  /** A subject that never has a code. */
  const decoyOf = (binding: CodeBinding): CodeBinding => ({
    ...binding,
    subject: codes.decoySubject(`no sent code for ${binding.subject}`),
  })

  const contactFor = (account: Account | null, identifier: Identifier): Contact | null =>
    (account && verifiedContacts(account, identifier.kind)[0]) ?? null

  const bindingOf = (account: Account | null, identifier: Identifier, group: CallerGroup): CodeBinding => ({
    group,
    purpose: purposeOf(account),
    subject: account?.uuid ?? codes.decoySubject(identifier.key),
    destination: contactFor(account, identifier)?.destination ?? identifier.key,
  })

  /** Inside a session the code goes to the first verified contact, whichever was typed at the sign-in. */
  const stepUpBinding = (account: Account): CodeBinding => ({
    purpose: 'step_up',
    group: 'owner',
    subject: account.uuid,
    destination: verifiedContacts(account)[0]?.destination ?? account.uuid,
  })

  /** Recovery codes are listed where nothing else can serve: they are the last resort, and few. */
  function methods(held: HeldFactors, recipient: Contact | 'any contact' | null): TwoFactorMethod[] {
    const all = inOrder(factors.flatMap((factor) => factor.methods(held)))
    const sentTo = (method: TwoFactorMethod) =>
      (method !== 'email' && method !== 'sms') || recipient === 'any contact' || method === recipient?.channel
    const others = all.filter((method) => method !== 'recovery_code' && sentTo(method))
    return others.length > 0 ? others : all.filter((method) => method === 'recovery_code')
  }

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
  async function count(account: Account | null, purpose: CodePurpose, countsOn: CountsOn) {
    const name = countsOn === 'account' ? `proved ${account?.uuid}` : countsOn.name
    const subject = account?.uuid ?? codes.decoySubject(name)
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

  const verify = async (held: HeldFactors, typed: string, sent: CodeBinding): Promise<boolean> => {
    const compared = factors.filter((factor) => factor.reads(typed))
    const right = await Promise.all(compared.map((factor) => factor.verify(held, typed, sent)))
    return right.includes(true)
  }

  /** A recovery code cannot be guessed: its tries count for themselves, and close nothing else. */
  async function takeRecoveryCode(
    account: Account | null,
    sent: CodeBinding,
    { typed, countsOn, client }: CodeAttempt,
  ): Promise<void> {
    const owner = countsOn === 'account' ? `account ${account?.uuid}` : `named ${countsOn.name}`
    await limits.charge(limits.recoveryCodeCharges(owner, client.addressBucket))
    const held = await authenticators.find(account)
    if (!(await verify(held, typed, sent))) throw new AppError('invalid_code')
  }

  async function take(account: Account | null, sent: CodeBinding, attempt: CodeAttempt): Promise<void> {
    const { typed, countsOn } = attempt
    if (authenticators.isRecoveryCode(typed)) return takeRecoveryCode(account, sent, attempt)
    const [counted, held] = await Promise.all([
      count(account, sent.purpose, countsOn),
      authenticators.find(account),
    ])
    // Where the account may not be tried any more, the same work is done on what is never right.
    const right = counted.open
      ? await verify(held, typed, sent)
      : await verify({ ...held, account: null, stored: nothingStored }, typed, {
          ...sent,
          subject: counted.standIn,
        })
    if (!right) throw counted.refusal()
    await counted.giveBack()
  }

  return {
    find: authenticators.find,
    tellLoss: authenticators.tellLoss,
    methods,
    recipientOf: contactFor,
    async sendCode({ account, acceptsSentCodes }, identifier, group) {
      const sendsTo = acceptsSentCodes ? account : null
      const contact = sendsTo?.lockedAt === null ? contactFor(sendsTo, identifier) : null
      const to =
        sendsTo && contact && (await mayGoTo(contact, identifier, purposeOf(sendsTo)))
          ? { channel: contact.channel, language: sendsTo.language }
          : null
      await outbox.sendCode(bindingOf(sendsTo, identifier, group), to)
    },
    takeCode(account, identifier, attempt) {
      const group = attempt.countsOn === 'account' ? 'password' : 'stranger'
      return take(account, bindingOf(account, identifier, group), attempt)
    },
    async methodsInSession(account) {
      const held = await authenticators.find(account)
      return methods(held, verifiedContacts(account)[0] ?? null)
    },
    async sendStepUpCode(account) {
      const [contact] = verifiedContacts(account)
      const identifier = contact && parseIdentifier(contact.destination, defaultCountry)
      if (!contact || !identifier || !account.twoFactorEnabled) return
      if (!(await authenticators.find(account)).acceptsSentCodes) return
      await limits.charge(limits.codeCharges(identifier, 'step_up'))
      const { channel } = contact
      await outbox.sendCode(stepUpBinding(account), { channel, language: account.language })
    },
    takeStepUp: (account, typed, client) =>
      take(account, stepUpBinding(account), { typed, countsOn: 'account', client }),
  }
}
