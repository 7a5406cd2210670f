/**
 * Attempts at a code. Each is counted before anything is compared, on the counters of the caller. They count by the day
 * and purpose (20), and in a row until the right one (100, then one a day; NIST SP 800-63B-4, 3.2.2).
 *
 * Strangers may type any name, and must not see by the answer whose it is. Their attempts count on the name as well,
 * and the answer follows from the name alone. The attempts of the others count on the account, the owner's on each
 * device or session apart.
 *
 * | the account's counters | the name's | compared with      | a wrong code answers |
 * |------------------------|------------|--------------------|----------------------|
 * | open                   | open       | the account's code | invalid_code         |
 * | closed                 | open       | nothing            | invalid_code         |
 * | open                   | closed     | the account's code | too_many_attempts    |
 * | closed                 | closed     | nothing            | too_many_attempts    |
 *
 * If nothing is compared, the same work is done on a decoy. Only the first and the third row can turn out right.
 *
 * Confirmations count in the same way, but for each address apart: nobody who waits for one is known, so what strangers
 * fill elsewhere must not refuse it. The code itself bounds them over all addresses, and so does the number that is
 * sent.
 *
 * A second step that only the client address connects with its login counts by account and address and, where that is
 * open, by account over all addresses. Somebody who shares the owner's address can fill the first of these alone.
 */
import { AppError } from '../../../errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { decoySubject } from '../../foundation/decoys/decoys.ts'
import type { Caller } from '../limits/callers.ts'
import { createPendingAttempts } from './pending-attempts.ts'
import { type AttemptKey, type AttemptStore, type CountedKey, IN_A_ROW } from './store.ts'

/** The outcome of a comparison. `spent`: right but already used, so that repeating it reveals nothing. */
export type CodeResult = 'right' | 'spent' | 'wrong'

export interface Attempt {
  /** True if the code may be compared with the right one; otherwise it is compared with a decoy. */
  allowed: boolean
  /** The error of the answer if it failed. */
  refusal(): AppError
  /** Takes the counting back, because it was right or was not compared after all. */
  refund(options: { wasRight: boolean }): Promise<void>
}

export interface Tried {
  caller: Caller
  /** The account's uuid, or the decoy of one. */
  subject: string
  /** The purpose of the code, and the name under which tries in a row are counted beside it: by default the same. */
  purpose: string
  factor?: string
  /** The name that a stranger typed for the account, in comparable form. */
  name: string
  /**
   * Only the client address shows that the first factor was verified: counted by account and address, then by account
   * over all addresses, apart from all others.
   */
  byAddress?: boolean
  /** A stranger's attempts are counted for each client address apart. */
  eachAddress?: boolean
  /** It is true for a stranger, who is compared only where the name's counter is open too. */
  boundByName?: boolean
}

export interface Attempts {
  /**
   * Counts one attempt, lets `compare` decide it, and takes the counting back if it was right or spent. Parallel calls
   * with one right code use up nothing.
   */
  run(tried: Tried, compare: (attempt: Attempt) => Promise<CodeResult>): Promise<void>
  /** A decoy in the form of a uuid, for what has none (domain/decoys). */
  decoy(...parts: string[]): string
  /** Counts a wrong password inside a session; true if there were so many in a row that the session must end. */
  failInSession(sessionId: string): Promise<boolean>
  /** The right one. */
  clearInSession(sessionId: string): Promise<void>
  /** Forgets every count of an account, and of the name by which strangers try it. */
  forget(name: string, accountUuid: string | null): Promise<void>
  /** Called after a reset: it forgets what was tried today without a known device. */
  clearDay(accountUuid: string, purposes: string[]): Promise<void>
}

interface Options {
  store: AttemptStore
  secret: ServerSecret
  clock: Clock
  attemptsPerDay: number
  /** Called after each wrong one, and never waited for. */
  onWrong: () => Promise<void>
}

/** The number of tries that all addresses together have at one account in a day, in days of a single address. */
const ADDRESSES = 3

export function createAttempts({ store, secret, clock, attemptsPerDay, onWrong }: Options): Attempts {
  const pending = createPendingAttempts()
  const bounds = { perDay: attemptsPerDay, inARow: IN_A_ROW }
  const overAllAddresses = { ...bounds, perDay: ADDRESSES * attemptsPerDay }

  const decoy = (...parts: string[]) => decoySubject(secret, ...parts)

  /** The account's key first, then, of a stranger, the name's; by address, that of all addresses second. */
  function keysOf(tried: Tried): AttemptKey[] {
    const { caller, subject, purpose, factor = purpose, name, byAddress, eachAddress } = tried
    const { group } = caller
    const apart = (kind: string, ...what: string[]) => `/${kind}/${decoy(kind, subject, ...what)}`
    const keyBehind = (one: string, behind: string) => ({
      subject: one,
      budget: purpose + behind,
      group,
      factor: factor + behind,
    })
    const here = (one: string) => `/address/${decoy('address', one, caller.addressBucket)}`
    if (byAddress) return [here(subject), '/addresses'].map((behind) => keyBehind(subject, behind))
    const budget = budgetOf(purpose, group)
    if (group === 'owner')
      return [{ subject, budget: purpose + apart('device', caller.device), group, factor }]
    if (group === 'password') return [{ subject, budget, group, factor }]
    return [subject, decoy('named', name)].map((one) => keyBehind(one, eachAddress ? here(one) : ''))
  }

  /**
   * A try that the address refuses is not counted over all addresses, and one that either refuses is counted on
   * neither.
   */
  async function reserveByAddress([ofAddress, ofAll]: AttemptKey[], now: Date): Promise<CountedKey[]> {
    const [here] = await store.reserve([ofAddress!], bounds, now)
    if (!here!.isOpen) return [here!, here!]
    const [everywhere] = await store.reserve([ofAll!], overAllAddresses, now)
    if (!everywhere!.isOpen) await store.release([ofAddress!], false, now)
    return [everywhere!, everywhere!]
  }

  async function count(keys: AttemptKey[], { byAddress, boundByName }: Tried): Promise<Attempt> {
    const now = clock.now()
    const counted = await (byAddress ? reserveByAddress(keys, now) : store.reserve(keys, bounds, now))
    const [ofAccount, ofName] = counted
    const answers = ofName ?? ofAccount!
    return {
      allowed: ofAccount!.isOpen && (!boundByName || answers.isOpen),
      refusal: () =>
        answers.isOpen
          ? new AppError('invalid_code')
          : new AppError('too_many_attempts', {
              retryAfterSeconds: secondsToMidnight(now),
              cause: 'wrong_codes',
            }),
      refund: ({ wasRight }) =>
        store.release(
          keys.filter((_, i) => counted[i]!.isOpen),
          wasRight,
          now,
        ),
    }
  }

  return {
    decoy,
    async run(tried, compare) {
      const keys = keysOf(tried)
      let attempt = null as Attempt | null
      const decide = async (admitted: Attempt) => {
        const result = await compare(admitted).catch(async (error) => {
          await admitted.refund({ wasRight: false })
          throw error
        })
        const refunded = result !== 'wrong'
        if (refunded) await admitted.refund({ wasRight: result === 'right' })
        return { refunded, result, refusal: admitted.refusal }
      }
      // One that is not allowed is compared all the same, with a decoy, unless another one is about to be refunded.
      const outcome =
        (await pending.run(
          `${keys[0]!.subject} ${keys[0]!.budget}`,
          async () => {
            await attempt?.refund({ wasRight: false })
            attempt = await count(keys, tried)
            return attempt.allowed ? attempt : null
          },
          decide,
        )) ?? (await decide(attempt!))
      if (outcome.result === 'right') return
      if (outcome.result === 'wrong') void onWrong()
      throw outcome.refusal()
    },
    failInSession: async (sessionId) =>
      (await store.addInARow(passwordIn(sessionId), clock.now())) >= IN_A_ROW,
    clearInSession: (sessionId) => store.clearInARow(passwordIn(sessionId)),
    forget: (name, accountUuid) =>
      store.forget([decoy('named', name), ...(accountUuid === null ? [] : [accountUuid])]),
    clearDay: (accountUuid, purposes) => store.clearDay(accountUuid, purposes, clock.now()),
  }
}

const passwordIn = (sessionId: string) => ({
  subject: sessionId,
  group: 'owner' as const,
  factor: 'password',
})

const budgetOf = (purpose: string, group: Caller['group']) =>
  group === 'stranger' ? purpose : `${purpose}/${group}`

/** Budgets are by the day in UTC. */
function secondsToMidnight(now: Date): number {
  return 86_400 - (Math.floor(now.getTime() / 1000) % 86_400)
}
