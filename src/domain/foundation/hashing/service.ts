/**
 * Hashes and verifies passwords, as many at once as there are processors, a bounded number waiting in turn, the
 * rest refused: memory and waiting time stay bounded whatever arrives. Every password that is checked costs the same
 * work, whether there is a digest or not, and whatever its parameters are.
 */

import { availableParallelism } from 'node:os'
import type { Ground } from '../../../platform/ground.ts'
import { noteWork } from '../../../platform/request-context.ts'
import { AppError } from '../../../texts/errors.ts'
import { decoyPassword } from '../decoys/decoys.ts'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { parseDigest, suitsAddon } from './digest.ts'
import { createHashThreads, type HashJob, type HashThreadsOptions, type Verifiable } from './hash-threads.ts'
import { normalizePassword } from './password.ts'
import type { DigestStore } from './store.ts'
import { createStoredWork, workOf } from './stored-work.ts'

interface PasswordResult {
  right: boolean
  /** Null, unless the password is right and its digest has older parameters than today's. */
  newDigest: string | null
}

/** The caller for whom a password is hashed. */
interface HashCaller {
  /**
   * True for a session and for a known device. They may also take the reserved places of the queue, and are served
   * before all others, so that strangers who fill the queue keep no owner out.
   */
  owner?: boolean
}

interface HeldPlace {
  /** Gives the place up, or hands it to the check that begins. May be called again. */
  release(): void
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
  /** Stored passwords have several sets of parameters: each wrong one costs a hash under every one of them. */
  onSeveralWorks?: ((works: string[]) => void) | undefined
  /** Called once, where Bun.password verifies because the native addon cannot. */
  onFallback?: ((reason: string) => void) | undefined
  addon?: HashThreadsOptions['addon']
  metrics?: Pick<Metrics, 'count' | 'observe'>
}

interface Needs extends Pick<Ground, 'config' | 'logger'> {
  metrics: Metrics
  stores: { digests: DigestStore }
}

const SEVERAL_WORKS =
  'stored passwords have several sets of hash parameters: until their owners sign in, each login costs a hash under every one of them'

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
    onSeveralWorks: (works) => logger.info({ works }, SEVERAL_WORKS),
    onFallback: (reason) => logger.warn({ reason }, FALLBACK),
  })
}

/** A hash takes tens of milliseconds: after a second the queue has emptied many times over. */
const BUSY_RETRY_SECONDS = 1

export type HashService = ReturnType<typeof createHashService>

export function createHashService(options: HashOptions) {
  const { memoryKib, iterations, concurrency, queue, reserved, store, onSeveralWorks } = options
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
  const today = `$argon2id$v=19$m=${memoryKib},t=${iterations},p=1`
  const configured = { memoryKib, iterations }
  const storedWork = createStoredWork({ store, today, configured, onSeveral: onSeveralWorks })
  /**
   * While several sets of parameters are in use, the right password of an old digest makes a new one, and only
   * Bun.password makes digests. So it verifies those with today's parameters for everybody: the work stays the same.
   */
  const verifiable = (digest: string) => ({
    digest,
    suitsAddon:
      suitsAddon(digest, configured) && (storedWork.decoys().size === 1 || workOf(digest) !== today),
  })
  const ofStrangers = queue > reserved ? queue - reserved : queue
  let held = 0
  const requireFreePlace = ({ owner = false }: HashCaller = {}): void => {
    if (threads.jobs + held < atOnce + (owner ? queue : ofStrangers)) return
    metrics.count('hash_refused_total')
    throw new AppError('server_busy', { retryAfterSeconds: BUSY_RETRY_SECONDS })
  }

  /** Nothing can be right. */
  const jobInVain = (): HashJob => ({
    kind: 'verify',
    password: decoyPassword,
    stored: null,
    decoys: [...storedWork.decoys().values()].map(verifiable),
    renewal: null,
  })

  function jobFor(typed: { stored: string; password: string; newPassword: string }): HashJob {
    const work = workOf(typed.stored)
    storedWork.learn(work)
    const decoys = new Map(storedWork.decoys())
    const [own, todays] = [work, today].map((name) => verifiable(decoys.get(name) as string)) as [
      Verifiable,
      Verifiable,
    ]
    decoys.delete(work)
    const renews = decoys.delete(today)
    return {
      kind: 'verify',
      password: typed.password,
      stored: { ...verifiable(typed.stored), decoy: own },
      decoys: [...decoys.values()].map(verifiable),
      renewal: renews ? { password: typed.newPassword, memoryKib, iterations, decoy: todays } : null,
    }
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
      const digest = await threads.run({ kind: 'hash', password, memoryKib, iterations }, { first: owner })
      if (typeof digest !== 'string') throw new Error('Bun.password made no digest')
      return digest
    },
    /**
     * Refuses if the queue is full now for this caller. For work that spends something on its way to the hash and must
     * not be refused afterwards: `requireFreePlace`, spend, `hash(…, { admitted: true })`.
     */
    requireFreePlace,
    /** Takes a place in the queue, for a `check` that is to follow what must be counted first. Throws like `requireFreePlace`. */
    holdPlace(caller?: HashCaller): HeldPlace {
      requireFreePlace(caller)
      held++
      let isHeld = true
      return {
        release() {
          if (isHeld) held--
          isHeld = false
        },
      }
    },
    /**
     * Tells whether the password opens the digest. Where it does and the digest is not what `hash` would make today, it
     * gives a new one. The work is the same for every digest and for none (see stored-work.ts), so that unknown
     * identifiers and accounts without password answer in the same time. A digest that is none or asks for too much work
     * counts as none. A full queue refuses the caller.
     */
    async check(
      typed: string,
      stored: string | null,
      { owner = false, place }: HashCaller & { place?: HeldPlace } = {},
    ): Promise<PasswordResult> {
      await storedWork.start()
      const form = normalizePassword(typed)
      const digest = stored === null ? null : parseDigest(stored, configured)
      if (place) place.release()
      else requireFreePlace({ owner })
      noteWork('hashed')
      if (!form.ok || form.password === '' || stored === null || digest === null) {
        await threads.run(jobInVain(), { first: owner })
        return { right: false, newDigest: null }
      }
      // bcrypt digests were imported: what made them hashed the password as it was typed.
      const password = digest.algorithm === 'bcrypt' ? typed : form.password
      const job = jobFor({ stored, password, newPassword: form.password })
      const result = await threads.run(job, { first: owner })
      return (result as PasswordResult | null) ?? { right: false, newDigest: null }
    },
    /** Prepares what the first password would otherwise wait for; works without it, too. */
    start(): void {
      void storedWork.start()
      // Later than what the caller does next, which is to listen.
      setImmediate(threads.warmUp)
    },
    /** Ends the threads. Jobs that still wait fail. */
    close(): void {
      storedWork.close()
      threads.close()
    },
    /** Returns the number of passwords that wait to be hashed. */
    waiting: (): number => Math.max(0, threads.jobs - atOnce),
  }
}
