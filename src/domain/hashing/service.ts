/**
 * Hashes and verifies passwords, as many at once as there are processors, a bounded number waiting in turn, the
 * rest refused: memory and waiting time stay bounded whatever arrives. Every verification costs one full hash,
 * whether there is a digest or not.
 */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { AppError } from '../../errors.ts'
import { parseDigest } from './digest.ts'
import { createHashThreads } from './hash-threads.ts'
import { normalizePassword } from './password.ts'

/** For whom a password is hashed. */
export interface HashCaller {
  /**
   * True for a session and for a known device: they may also take the reserved places of the queue, and are served
   * before all others, so that strangers who fill the queue keep no owner out.
   */
  owner?: boolean
}

/** See createHashService. */
export interface HashService {
  /** The PHC string of a new password. `admitted`: it waits in turn even where the queue is full. */
  hash(password: string, options?: HashCaller & { admitted?: boolean }): Promise<string>
  /**
   * Throws AppError('server_busy') when the queue is full now for this caller. For work that spends something on its
   * way to the hash and must not be refused afterwards: `requireRoom`, spend, `hash(…, { admitted: true })`.
   */
  requireRoom(caller?: HashCaller): void
  /**
   * True when the password opens the digest. A null digest costs the same work and is false: unknown identifiers
   * and accounts without password answer in the same time; so does a digest that is none or asks for too much
   * work. Throws AppError('server_busy') when the queue is full for this caller.
   */
  verify(password: string, digest: string | null, caller?: HashCaller): Promise<boolean>
  /** True when the digest is not what `hash` would make today: hash the password again after it proved right. */
  needsRehash(digest: string): boolean
  /** To be called when nothing else is to be done: the first password then does not wait for its thread. */
  warmUp(): void
  /** Ends the threads. What is still waiting fails. */
  close(): void
}

export interface HashOptions {
  memoryKib: number
  iterations: number
  /** At once; 0: as many as processors. */
  concurrency: number
  /** Waiting, beyond those at work. */
  queue: number
  /** Of those, the places that only owners take; none where the queue has no more places than this. */
  reserved: number
}

/** A hash takes tens of milliseconds: after a second the queue has emptied many times over. */
const BUSY_RETRY_SECONDS = 1

export function createHashService(options: HashOptions): HashService {
  const { memoryKib, iterations, concurrency, queue, reserved } = options
  const atOnce = concurrency === 0 ? availableParallelism() : concurrency
  const threads = createHashThreads(atOnce)
  const dummyDigest = createDummyDigest(memoryKib, iterations)
  const ofStrangers = queue > reserved ? queue - reserved : queue
  const requireRoom = ({ owner = false }: HashCaller = {}) => {
    if (threads.jobs < atOnce + (owner ? queue : ofStrangers)) return
    throw new AppError('server_busy', { retryAfterSeconds: BUSY_RETRY_SECONDS })
  }
  return {
    async hash(typed, { admitted = false, owner = false } = {}) {
      const form = normalizePassword(typed)
      if (!form.ok || form.password === '') {
        const code = form.ok ? 'required' : form.code
        throw new AppError('validation_failed', { fields: [{ field: 'password', code }] })
      }
      const { password } = form
      if (!admitted) requireRoom({ owner })
      const digest = await threads.run({ kind: 'hash', password, memoryKib, iterations }, { first: owner })
      if (typeof digest !== 'string') throw new Error('Bun.password made no digest')
      return digest
    },
    requireRoom,
    async verify(typed, stored, { owner = false } = {}) {
      const form = normalizePassword(typed)
      const digest = stored === null ? null : parseDigest(stored)
      const possible = form.ok && form.password !== '' && digest !== null
      // bcrypt digests were imported: what made them hashed the password as it was typed.
      const password = possible ? (digest.algorithm === 'bcrypt' ? typed : form.password) : 'impossible'
      requireRoom({ owner })
      const right = await threads.run(
        {
          kind: 'verify',
          password,
          digest: possible ? (stored as string) : dummyDigest,
          otherwise: dummyDigest,
        },
        { first: owner },
      )
      return right === true && possible
    },
    needsRehash(stored) {
      const digest = parseDigest(stored)
      return !(
        digest?.algorithm === 'argon2id' &&
        digest.memoryKib === memoryKib &&
        digest.iterations === iterations &&
        digest.parallelism === 1
      )
    },
    warmUp: threads.warmUp,
    close: threads.close,
  }
}

/** Of the same work as a true digest, without the work of making one: nothing is known that hashes to it. */
function createDummyDigest(memoryKib: number, iterations: number): string {
  const random = () => randomBytes(32).toString('base64').replace('=', '')
  return `$argon2id$v=19$m=${memoryKib},t=${iterations},p=1$${random()}$${random()}`
}
