/**
 * Counts attempts at a code, each before anything is compared, on the counters of the caller. They count by the day and
 * purpose (20), and in a row until the right one (100, then one a day; NIST SP 800-63B-4, 3.2.2).
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

import type { Clock } from '../../../platform/clock.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Caller } from '../../foundation/limits/callers.ts'
import { ADDRESSES, type AttemptKey, type AttemptStore, type CountedKey, IN_A_ROW } from './attempt-store.ts'

/** The caller and the target of an attempt, on which it counts. */
export interface Counted {
  caller: Caller
  /** The account's uuid, or the decoy of one. */
  subject: string
  purpose: string
  /** The name under which tries in a row are counted beside the purpose: by default the same. */
  factor?: string
  /** The name that a stranger typed for the account, in comparable form. */
  name: string
  /**
   * Only the client address shows that the first factor was verified: counted by account and address, then by account
   * over all addresses, apart from all others, and on no code.
   */
  byAddress?: boolean
  /** A stranger's attempts are counted for each client address apart. */
  eachAddress?: boolean
  /** It is true for a stranger, who is compared only where the name's counter is open too. */
  boundByName?: boolean
}

export interface CountedAttempt {
  /** True if the code may be compared with the right one; otherwise it is compared with a decoy. */
  allowed: boolean
  /** The error of the answer if it failed. */
  refusal(): AppError
  /** Takes the counting back, because it was right or was not compared after all. */
  refund(wasRight: boolean): Promise<void>
}

interface Needs {
  store: AttemptStore
  clock: Clock
  attemptsPerDay: number
  decoy(...parts: string[]): string
}

export function createCounting({ store, clock, attemptsPerDay, decoy }: Needs) {
  const bounds = { perDay: attemptsPerDay, inARow: IN_A_ROW }
  const overAllAddresses = { ...bounds, perDay: ADDRESSES * attemptsPerDay }

  /** The account's key first, then, of a stranger, the name's; by address, that of all addresses second. */
  function keysOf(on: Counted): AttemptKey[] {
    const { caller, subject, purpose, factor = purpose, name, byAddress, eachAddress } = on
    const { group } = caller
    const keyBehind = (one: string, behind: string) => ({
      subject: one,
      budget: purpose + behind,
      group,
      factor: factor + behind,
    })
    const here = (one: string) => `/address/${decoy('address', one, caller.addressBucket)}`
    if (byAddress) return [here(subject), '/addresses'].map((behind) => keyBehind(subject, behind))
    if (group === 'owner') {
      const budget = `${purpose}/device/${decoy('device', subject, caller.device)}`
      return [{ subject, budget, group, factor }]
    }
    if (group === 'password') return [{ subject, budget: `${purpose}/password`, group, factor }]
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

  async function count(keys: AttemptKey[], { byAddress, boundByName }: Counted): Promise<CountedAttempt> {
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
      refund: (wasRight) =>
        store.release(
          keys.filter((_, i) => counted[i]!.isOpen),
          wasRight,
          now,
        ),
    }
  }

  /** Parallel attempts of one `counter` wait for each other; `count` counts one. */
  return (on: Counted) => {
    const keys = keysOf(on)
    return { counter: `${keys[0]!.subject} ${keys[0]!.budget}`, count: () => count(keys, on) }
  }
}

/** Budgets are by the day in UTC. */
function secondsToMidnight(now: Date): number {
  return 86_400 - (Math.floor(now.getTime() / 1000) % 86_400)
}
