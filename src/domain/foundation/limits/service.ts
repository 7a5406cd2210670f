/**
 * The limits of the service: counts what is about to be done, on all of its counters in one step, and refuses with
 * the seconds to wait. The groups of callers are in callers.ts, what each group pays in counters.ts.
 */

import type { Config } from '../../../platform/config/types.ts'
import type { Ground } from '../../../platform/ground.ts'
import type { Logger } from '../../../platform/log/logging.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { AccountLimit, LimitedAccount } from './account-counters.ts'
import type { Caller } from './callers.ts'
import type { NamedCharge } from './counter-names.ts'
import { createCounters } from './counters.ts'
import { createDryPools } from './dry-pools.ts'
import type { Charge, LimitStore, NextMs, SendingPool } from './store.ts'

/** `devices`: its known devices and sessions, as callers.ts names them. */
interface LiftedAccount {
  uuid: string
  devices: readonly string[]
}

interface Options extends Pick<Ground, 'clock' | 'secret'> {
  store: LimitStore
  logger: Pick<Logger, 'warn'>
  config: Pick<Config, 'limits' | 'sms' | 'smtp' | 'accounts'>
  /** Tells whether a message could reach an identifier of this kind and number at all. */
  reaches(identifier: Identifier): boolean
  metrics: Pick<Metrics, 'isOn' | 'count'>
  /** Called when the log reports too many wrong codes. */
  onAlarm?: (() => void) | undefined
  /** Called when the log reports that a pool is used up. */
  onDry?: ((pool: SendingPool) => void) | undefined
}

/** Something that is refused to somebody now; `address`: only from there. */
export interface AccountRefusal {
  limit: AccountLimit
  /** The name of the counter, as in metrics and in the log. */
  cause: string
  until: Date
  address: string | null
}

export type LimitService = ReturnType<typeof createLimitService>

export function createLimitService(options: Options) {
  const { store, secret, clock, logger, config, reaches } = options
  const { limits } = config
  const counters = createCounters({
    config,
    tag: (...parts) => secret.tag('limit key', ...parts).toString('base64url', 0, 15),
    now: clock.now,
    reaches,
  })
  const dryPools = createDryPools(options)
  const refuse = createRefusal(options)
  let lastAlarmMs = Number.NEGATIVE_INFINITY

  /** Asks first for what the caller has to itself, if there is such a thing. */
  async function leastMs(charges: Charge[], ask: LimitStore['charge']): Promise<number> {
    if (!limits.enabled || charges.length === 0) return 0
    const now = clock.now()
    const own = charges.map(({ ownRule, ...charge }) => ({ ...charge, rule: ownRule ?? charge.rule }))
    const hasOwn = charges.some(({ ownRule }) => ownRule !== undefined)
    const ownMs = hasOwn ? await ask(own, now) : Number.POSITIVE_INFINITY
    return ownMs === 0 ? 0 : Math.min(ownMs, await ask(charges, now))
  }

  async function waitMs(charges: Charge[], ask = store.charge): Promise<number> {
    const ms = await leastMs(charges, ask)
    if (ms > 0) dryPools.note(charges)
    return ms
  }

  const admits = async (charges: NamedCharge[]): Promise<boolean> => (await waitMs(charges)) === 0

  return {
    counters,
    /** Counts all of them or, throwing `too_many_requests`, none. */
    charge: async (charges: NamedCharge[]): Promise<void> => refuse(await waitMs(charges), charges),
    /** The same; returns the whole seconds until it would admit them again, unless others are counted meanwhile. */
    async chargeAndForesee(charges: NamedCharge[]): Promise<number> {
      let nextMs: NextMs = () => 0
      const ask: LimitStore['charge'] = async (asked, now) => {
        const answer = await store.chargeAndForesee(asked, now)
        nextMs = answer.nextMs
        return answer.waitMs
      }
      await refuse(await waitMs(charges, ask), charges)
      return Math.ceil((await leastMs(charges, async (...asked) => nextMs(...asked))) / 1000)
    },
    /**
     * Counts a login or a try of a code on the client's address, together with `others`. If the address is refused and
     * the caller's device is known, it counts on the device instead.
     */
    async chargeVisit(
      kind: 'login' | 'verification',
      caller: Caller,
      others: NamedCharge[] = [],
    ): Promise<void> {
      const byAddress = [...counters.visits(kind, { address: caller.addressBucket }), ...others]
      const ms = await waitMs(byAddress)
      if (ms === 0 || caller.group !== 'owner') return refuse(ms, byAddress)
      const device = secret.tag('limit key', 'visit', caller.account.uuid, caller.device)
      const name = device.toString('base64url', 0, 15)
      const byDevice = [...counters.visits(kind, { knownDevice: name }), ...others]
      return refuse(await waitMs(byDevice), byDevice)
    },
    /** Like `charge`: false where it would throw. */
    admits,
    /** `admits` for a code; false also where its country is not allowed. */
    async admitsCode(caller: Caller, destination: Identifier, purpose: string, isOwn: boolean) {
      if (!counters.mayReceive(destination)) return false
      return admits(counters.codes(caller, destination, purpose, isOwn, { hidden: true }))
    },
    /** Says what refuses each of these accounts now and until when. Nothing is counted. */
    async refusalsOf(accounts: LimitedAccount[]): Promise<AccountRefusal[][]> {
      const now = clock.now()
      const asked = limits.enabled ? accounts.map(counters.ofAccount) : []
      const charges = asked.flat().map(({ charge }) => charge)
      const waits: number[] = []
      for (let i = 0; i < charges.length; i += READ_AT_ONCE)
        waits.push(...(await store.waitsOf(charges.slice(i, i + READ_AT_ONCE), now)))
      let place = 0
      return accounts.map((_, i) =>
        (asked[i] ?? []).flatMap(({ limit, charge, address }) => {
          const ms = waits[place++]!
          return ms > 0 ? { limit, cause: limitOf(charge), until: new Date(now.getTime() + ms), address } : []
        }),
      )
    },
    async clear(charges: Charge[]): Promise<void> {
      if (limits.enabled && charges.length > 0) await store.clear(charges.map(({ key }) => key))
    },
    /**
     * Lifts what refuses an identifier, no matter who filled it, and what refuses the account that has it on its own
     * devices. The counts of a client's address stay.
     */
    async lift(
      identifier: Identifier,
      { account, purposes }: { account: LiftedAccount | null; purposes: readonly string[] },
    ): Promise<void> {
      const kept = [
        counters.keptFor(identifier, purposes),
        ...(account ? [counters.keptForAccount(account.uuid, account.devices, purposes)] : []),
      ]
      await store.clear(kept.flatMap(({ keys }) => keys))
      for (const beginning of kept.flatMap(({ beginnings }) => beginnings))
        await store.clearBeginning(beginning)
    },
    /** Counts a notice that is about to be sent to an owner, and returns whether it may be sent. */
    async admitsNotice(destination: Identifier, purpose: string): Promise<boolean> {
      if (!counters.mayReceive(destination)) return false
      return admits(counters.notices(destination, purpose))
    },
    /** The same for a notice with an undo link. */
    async admitsUndoNotice(destination: Identifier): Promise<boolean> {
      return counters.mayReceive(destination) && admits(counters.undoNotices(destination))
    },
    /**
     * Counts a message that a stranger caused and that is about to be sent; gives the milliseconds that it must wait, and 0
     * when it may go.
     */
    strangersWaitMs: (message: { channel: 'email' | 'sms'; codePurpose: string | null }): Promise<number> =>
      waitMs(counters.strangersWaitMs(message.channel, message.codePurpose)),
    /** The SMS of the running day that may still be sent, for any caller. */
    async smsLeft(): Promise<number> {
      const { key, rule } = counters.smsOfDay
      return Math.max(0, rule.count - (await store.countOf(key, clock.now())))
    },
    /**
     * Counts a wrong code of any caller: if there are too many over the whole service, the log reports it. Never
     * throws.
     */
    async noteWrongCode(): Promise<void> {
      const nowMs = clock.now().getTime()
      const isMany = await admits([counters.wrongCodesOfMinute]).then(
        (isFew) => !isFew,
        () => false,
      )
      if (!isMany || nowMs - lastAlarmMs < 60_000) return
      lastAlarmMs = nowMs
      logger.warn(
        { more_than: limits.wrongCodesAlarm },
        'many wrong codes in a minute: somebody may be guessing',
      )
      options.onAlarm?.()
    },
  }
}

/** So many counters are read in one step. */
const READ_AT_ONCE = 1000

/** How often in a second a store is asked which counter refused. */
const CAUSES_A_SECOND = 10

/** Refuses where there is something to wait for, and names the counter for the log. */
function createRefusal({ store, clock, metrics }: Options) {
  let [askedAtMs, asked] = [0, 0]
  function mayAsk(): boolean {
    const nowMs = clock.now().getTime()
    if (nowMs - askedAtMs >= 1000) [askedAtMs, asked] = [nowMs, 0]
    asked += 1
    return asked <= CAUSES_A_SECOND
  }

  async function refuse(ms: number, charges: Charge[]): Promise<void> {
    if (ms === 0) return
    const retryAfterSeconds = Math.ceil(ms / 1000)
    // A caller who is refused again and again should cost little: beyond some, the first counter stands for the one.
    const isAsked = metrics.isOn || mayAsk()
    const cause = limitOf(isAsked ? await findRefusing(charges) : charges[0])
    throw new AppError('too_many_requests', { retryAfterSeconds, cause })
  }

  /** A refusal says for how long, not by which counter. The counter may be free again by now: then it was the first. */
  async function findRefusing(charges: Charge[]): Promise<Charge | undefined> {
    const found = await store.findRefusing(charges, clock.now()).catch(() => null)
    return found ?? charges[0]
  }

  return refuse
}

/** `code-requests:…` is `code_requests`: what stands before the colon is the same for everybody. */
const limitOf = (charge: Charge | undefined) =>
  charge?.key.split(':', 1)[0]?.replaceAll('-', '_') ?? 'unknown'
