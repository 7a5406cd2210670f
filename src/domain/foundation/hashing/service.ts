/**
 * Hashes and verifies passwords, as many at once as there are processors, a bounded number waiting in turn, the
 * rest refused: memory and waiting time stay bounded whatever arrives.
 *
 * A try is a row of stages in a fixed order: today's own hash, then each foreign family in use at its largest number. A
 * right password ends the row at its stage; a wrong one goes through all of it, whether there is a digest or not, and
 * whatever it is. So an own sign-in costs one own hash, whatever was imported, and wrong passwords cost the same for
 * everybody (docs/decisions/stages-of-a-try.md).
 */

import { availableParallelism } from 'node:os'
import type { Config } from '../../../platform/config/types.ts'
import type { Ground } from '../../../platform/ground.ts'
import { noteWork } from '../../../platform/request-context.ts'
import { AppError } from '../../../texts/errors.ts'
import { decoyDigest, decoyPassword } from '../decoys/decoys.ts'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { type Digest, type Family, parseDigest, suitsAddon } from './digest.ts'
import { createFamilies, restOf } from './families.ts'
import { createHashThreads, type HashThreadsOptions, type Rank, type TypedPassword } from './hash-threads.ts'
import { normalizePassword } from './password.ts'
import { createHashPlaces, type HashCaller, type HeldPlace } from './places.ts'
import type { DigestStore } from './store.ts'

interface PasswordResult {
  right: boolean
  /** Null, unless the password is right and its digest is not what `hash` would make today. */
  newDigest: string | null
}

interface CheckOptions extends HashCaller {
  place?: HeldPlace
  /** True where the answer does not tell that the password was right: then the time must not, either. */
  untold?: boolean
}

export interface HashOptions {
  memoryKib: number
  iterations: number
  /** So many run at once; 0 means as many as processors. */
  concurrency: number
  /** Waiting, beyond those at work. */
  queue: number
  /** Of those, the places that only owners take; none where the queue has no more places than this. */
  reserved: number
  store: DigestStore
  /** Stored passwords are of several families: each wrong one costs a hash of every one of them. */
  onSeveralFamilies?: ((families: string[]) => void) | undefined
  /** Called once, where Bun.password verifies because the native addon cannot. */
  onFallback?: ((reason: string) => void) | undefined
  addon?: HashThreadsOptions['addon']
  metrics?: Pick<Metrics, 'count' | 'observe'>
}

interface Needs extends Pick<Ground, 'config' | 'logger'> {
  metrics: Metrics
  stores: { digests: DigestStore }
}

const SEVERAL_FAMILIES =
  'stored passwords are of several kinds or parameters: until their owners sign in, each wrong password costs a hash of every one of them'

const FALLBACK =
  'passwords are verified by Bun.password, which takes about three times as long: the native addon cannot be used'

/** The hash service, as large as it is configured. */
export function createHashing({ stores, config: { password, limits }, logger, metrics }: Needs) {
  return createHashService({
    memoryKib: password.memoryKib,
    iterations: password.iterations,
    concurrency: limits.hashConcurrency,
    queue: limits.hashQueue,
    reserved: limits.hashQueueReserved,
    store: stores.digests,
    metrics,
    onSeveralFamilies: (families) => logger.info({ families }, SEVERAL_FAMILIES),
    onFallback: (reason) => logger.warn({ reason }, FALLBACK),
  })
}

/** The time of a processor that a wrong password takes where these families are in use, in milliseconds. */
export async function measureWrongPassword(
  { memoryKib, iterations }: Pick<Config['password'], 'memoryKib' | 'iterations'>,
  families: readonly Family[],
) {
  const service = createHashService({
    ...{ memoryKib, iterations },
    ...{ concurrency: 1, queue: 1, reserved: 0 },
    store: { listFamilies: async () => [...families] },
  })
  try {
    await service.check('', null)
    const before = process.cpuUsage()
    await service.check('', null)
    const { user, system } = process.cpuUsage(before)
    return Math.round((user + system) / 1000)
  } finally {
    service.close()
  }
}

const rankOf = (owner: boolean): Rank => (owner ? 'owners' : 'others')

const WRONG: PasswordResult = { right: false, newDigest: null }
/** Nothing can be right. */
const NO_PASSWORD = { typed: decoyPassword, normal: decoyPassword }

export type HashService = ReturnType<typeof createHashService>

export function createHashService(options: HashOptions) {
  const { memoryKib, iterations, concurrency, queue, reserved, store, onSeveralFamilies } = options
  const { metrics = noMetrics, onFallback = () => {}, addon } = options
  const atOnce = concurrency === 0 ? availableParallelism() : concurrency
  let hasFallenBack = false
  const threads = createHashThreads(atOnce, {
    addon,
    onBegin: (waitedMs, { by: verifier }) =>
      metrics.observe('hash_wait_seconds', waitedMs / 1000, { verifier }),
    onStart(verifier) {
      if (verifier.by === 'addon' || hasFallenBack) return
      hasFallenBack = true
      onFallback(verifier.reason)
    },
  })
  const configured = { memoryKib, iterations }
  const families = createFamilies({ store, configured, onSeveral: onSeveralFamilies })
  const verifiable = (digest: string) => ({ digest, suitsAddon: suitsAddon(digest, configured) })
  const places = createHashPlaces({ atOnce, queue, reserved, metrics, jobs: () => threads.jobs })
  const { requireFreePlace, holdPlace, runLaterStages } = places

  /** One stage of a try. `stored`: the digest, if it is of this family. */
  async function runStage(
    { family, number }: Family,
    password: TypedPassword,
    stored: (Digest & { digest: string }) | null,
    { rank, untold }: { rank: Rank; untold: boolean },
  ): Promise<PasswordResult> {
    const rest = stored === null ? [] : restOf(family, stored.number, number).map(verifiable)
    const innerOnly = family.startsWith('wrapped-')
    const ifOtherForm = family === families.today
    const result = await threads.run(
      {
        kind: 'verify',
        password,
        stored: stored && verifiable(stored.digest),
        rest: rest.map((each) => ({ ...each, innerOnly })),
        all: [verifiable(decoyDigest(family, number))],
        goesOn: untold,
        renewal: stored && !untold ? { password: password.normal, memoryKib, iterations, ifOtherForm } : null,
      },
      rank,
    )
    return (result as PasswordResult | null) ?? WRONG
  }

  return {
    /** The PHC string of a new password. `admitted`: it waits in turn even where the queue is full. */
    async hash(typed: string, { admitted = false, owner = false }: HashCaller & { admitted?: boolean } = {}) {
      const form = normalizePassword(typed)
      if (!form.ok || form.password === '') {
        const code = form.ok ? 'required' : form.code
        throw new AppError('validation_failed', { fields: [{ field: 'password', code }] })
      }
      const { password } = form
      if (!admitted) requireFreePlace({ owner })
      noteWork('hashed')
      const digest = await threads.run({ kind: 'hash', password, memoryKib, iterations }, rankOf(owner))
      if (typeof digest !== 'string') throw new Error('Bun.password made no digest')
      return digest
    },
    /**
     * Argon2id of a hash that was imported and is too fast by itself, behind everything that people wait for. The text is
     * hashed as it is.
     */
    async wrap(inner: string): Promise<string> {
      const job = { kind: 'hash', password: inner, memoryKib, iterations } as const
      return (await threads.run(job, 'background')) as string
    },
    /**
     * Refuses if the queue is full now for this caller. For work that spends something on its way to the hash and must
     * not be refused afterwards: `requireFreePlace`, spend, `hash(…, { admitted: true })`.
     */
    requireFreePlace,
    holdPlace,
    /**
     * Tells whether the password opens the digest. Where it does and the digest is not what `hash` would make today, it
     * gives a new one, unless the answer does not tell (`untold`). A digest that is none or asks for too much work counts
     * as none. A full queue refuses the caller, before the first stage or after it: `place` is given back then.
     */
    async check(
      typed: string,
      stored: string | null,
      { owner = false, place, untold = false }: CheckOptions = {},
    ): Promise<PasswordResult> {
      await families.start()
      const form = normalizePassword(typed)
      const isUsable = form.ok && form.password !== ''
      const parsed = stored === null || !isUsable ? null : parseDigest(stored, configured)
      const own = parsed && { ...parsed, digest: stored as string }
      if (own) families.learn(own)
      const password = isUsable ? { typed, normal: form.password } : NO_PASSWORD
      const [first, ...later] = families.row() as [Family, ...Family[]]
      if (place) place.release()
      else requireFreePlace({ owner })
      noteWork('hashed')
      const stageOf = async (stage: Family, rank: Rank) =>
        runStage(stage, password, own?.family === stage.family ? own : null, { rank, untold })
      let result = await stageOf(first, rankOf(owner))
      if ((result.right && !untold) || later.length === 0) return result
      await runLaterStages(later, async (stage) => {
        const of = await stageOf(stage, 'later')
        if (of.right) result = of
        return of.right && !untold
      })
      return result
    },
    /** The names of the families in use; today's own is the first. */
    families: () => families.row().map(({ family }) => family),
    measureWrong: () => measureWrongPassword({ memoryKib, iterations }, families.row()),
    /** Asks at once for the families in use. */
    refreshFamilies: families.refresh,
    /** Prepares what the first password would otherwise wait for; works without it, too. */
    start(): void {
      void families.start()
      // Later than what the caller does next, which is to listen.
      setImmediate(threads.warmUp)
    },
    /** Ends the threads. Jobs that still wait fail. */
    close(): void {
      families.close()
      threads.close()
    },
    /** Returns the number of passwords that wait to be hashed. */
    waiting: (): number => Math.max(0, threads.jobs - atOnce),
  }
}
