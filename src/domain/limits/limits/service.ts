/**
 * The limits of the service: counts what is about to be done, on all of its counters in one step, and refuses with
 * the seconds to wait. The groups of callers are in callers.ts, what each group pays in counters.ts.
 */
import { AppError } from '../../../errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { Logger } from '../../../platform/http/logging.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { Caller } from './callers.ts'
import { type Counters, createCounters } from './counters.ts'
import { createDryPools } from './dry-pools.ts'
import type { Charge, LimitStore, NextMs, SendingPool } from './store.ts'

export interface LimitService {
  readonly counters: Counters
  /** Counts all of them or, throwing `too_many_requests`, none. */
  charge(charges: Charge[]): Promise<void>
  /** The same; returns the whole seconds until it would admit them again, unless others are counted meanwhile. */
  chargeAndForesee(charges: Charge[]): Promise<number>
  /**
   * Counts a login or a try of a code on the client's address, together with `others`. If the address is refused and
   * the caller's device is known, it counts on the device instead.
   */
  chargeVisit(kind: 'login' | 'verification', caller: Caller, others?: Charge[]): Promise<void>
  /** Like `charge`: false where it would throw. */
  admits(charges: Charge[]): Promise<boolean>
  /** `admits` for a code; false also where its country is not allowed. */
  admitsCode(caller: Caller, destination: Identifier, purpose: string, isOwn: boolean): Promise<boolean>
  clear(charges: Charge[]): Promise<void>
  /**
   * Lifts what refuses an identifier, no matter who filled it, and what refuses the account that has it on its own
   * devices. The counts of a client's address stay.
   */
  lift(
    identifier: Identifier,
    lifted: {
      account: { uuid: string; sessionIds: string[]; fingerprints: string[] } | null
      purposes: readonly string[]
    },
  ): Promise<void>
  /** Counts a notice that is about to be sent to an owner, and returns whether it may be sent. */
  admitsNotice(destination: Identifier, purpose: string): Promise<boolean>
  /** The same for a notice with an undo link. */
  admitsUndoNotice(destination: Identifier): Promise<boolean>
  /**
   * Counts a message that a stranger caused and that is about to be sent; gives the milliseconds that it must wait, and 0
   * when it may go.
   */
  strangersWaitMs(message: { channel: 'email' | 'sms'; codePurpose: string | null }): Promise<number>
  /** The SMS of the running day that may still be sent, for any caller. */
  smsLeft(): Promise<number>
  /**
   * Counts a wrong code of any caller: if there are too many over the whole service, the log reports it. Never
   * throws.
   */
  noteWrongCode(): Promise<void>
}

interface Options {
  store: LimitStore
  secret: ServerSecret
  clock: Clock
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

export function createLimitService(options: Options): LimitService {
  const { store, secret, clock, logger, config, reaches, metrics } = options
  const { limits } = config
  const counters = createCounters({
    config,
    tag: (...parts) => secret.tag('limit key', ...parts).toString('base64url', 0, 15),
    now: clock.now,
    reaches,
  })
  const dryPools = createDryPools(options)
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

  const admits = async (charges: Charge[]) => (await waitMs(charges)) === 0

  async function refuse(ms: number, charges: Charge[]): Promise<void> {
    if (ms === 0) return
    const retryAfterSeconds = Math.ceil(ms / 1000)
    // A caller who is refused again and again should cost little: only metrics are worth another question to the store.
    const cause = metrics.isOn ? limitOf(await findRefusing(charges)) : undefined
    throw new AppError('too_many_requests', { retryAfterSeconds, cause })
  }

  /** A refusal says for how long, not by which counter. The counter may be free again by now: then it was the first. */
  async function findRefusing(charges: Charge[]): Promise<Charge | undefined> {
    const found = await store.findRefusing(charges, clock.now()).catch(() => null)
    return found ?? charges[0]
  }

  return {
    counters,
    charge: async (charges) => refuse(await waitMs(charges), charges),
    async chargeAndForesee(charges) {
      let nextMs: NextMs = () => 0
      const ask: LimitStore['charge'] = async (asked, now) => {
        const answer = await store.chargeAndForesee(asked, now)
        nextMs = answer.nextMs
        return answer.waitMs
      }
      await refuse(await waitMs(charges, ask), charges)
      return Math.ceil((await leastMs(charges, async (...asked) => nextMs(...asked))) / 1000)
    },
    async chargeVisit(kind, caller, others = []) {
      const byAddress = [...counters.visits(kind, { address: caller.addressBucket }), ...others]
      const ms = await waitMs(byAddress)
      if (ms === 0 || caller.group !== 'owner') return refuse(ms, byAddress)
      const device = secret.tag('limit key', 'visit', caller.account.uuid, caller.device)
      const name = device.toString('base64url', 0, 15)
      const byDevice = [...counters.visits(kind, { knownDevice: name }), ...others]
      return refuse(await waitMs(byDevice), byDevice)
    },
    admits,
    async admitsCode(caller, destination, purpose, isOwn) {
      if (!counters.mayReceive(destination)) return false
      return admits(counters.codes(caller, destination, purpose, isOwn, { hidden: true }))
    },
    async clear(charges) {
      if (limits.enabled && charges.length > 0) await store.clear(charges.map(({ key }) => key))
    },
    async lift(identifier, { account, purposes }) {
      const { keys, beginnings } = counters.namesOf(identifier, purposes)
      const devices = account && [
        ...account.sessionIds.map((id) => `session ${id}`),
        ...account.fingerprints.map((fingerprint) => `device ${fingerprint}`),
      ]
      const ofAccount = account ? counters.namesOfAccount(account.uuid, devices ?? [], purposes) : []
      await store.clear([...keys, ...ofAccount])
      for (const beginning of beginnings) await store.clearBeginning(beginning)
    },
    async admitsNotice(destination, purpose) {
      if (!counters.mayReceive(destination)) return false
      return admits(counters.notices(destination, purpose))
    },
    strangersWaitMs: ({ channel, codePurpose }) => waitMs(counters.strangersWaitMs(channel, codePurpose)),
    async smsLeft() {
      const { key, rule } = counters.smsOfDay
      return Math.max(0, rule.count - (await store.countOf(key, clock.now())))
    },
    async admitsUndoNotice(destination) {
      return counters.mayReceive(destination) && admits(counters.undoNotices(destination))
    },
    async noteWrongCode() {
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

/** `code-requests:…` is `code_requests`: what stands before the colon is the same for everybody. */
const limitOf = (charge: Charge | undefined) =>
  charge?.key.split(':', 1)[0]?.replaceAll('-', '_') ?? 'unknown'
