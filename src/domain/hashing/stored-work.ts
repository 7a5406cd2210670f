/**
 * Which work stored passwords ask for. As long as all of them were hashed under today's parameters, a wrong password
 * takes the same time for every account, and for an identifier that nobody has. Once the parameters were changed, or
 * accounts came with hashes of another system, it would not: the time would tell an old account from a new one, and
 * either from none.
 *
 * So every password that is judged costs one hash under each set of parameters that any stored digest has: the account's
 * own digest under its own, and decoys under the others; without account, decoys under all. The sum is the same for
 * everybody, and needs neither a calibrated pause, which a busy machine would betray, nor a guess at how many accounts
 * have which parameters. It costs more as long as old digests are left: each is renewed when its owner logs in.
 *
 * The table is read in small pieces, over and over. What it does not tell in time is learned from the first digest of
 * an unknown kind that is judged.
 */
import { decoyDigest } from '../decoys/decoys.ts'
import { parseDigest } from './digest.ts'
import type { DigestStore } from './store.ts'

export interface StoredWork {
  /**
   * Begins to read the table, if nobody did before; resolves after the first piece, when a small one is known. Never
   * rejects.
   */
  start(): Promise<void>
  /**
   * A decoy for every set of parameters in use, by its name (see `workOf`), always in the same order; today's among
   * them. Nothing is known that any of them opens to.
   */
  decoys(): ReadonlyMap<string, string>
  /** A digest was met: its parameters are in use, whether the table was read that far or not. */
  learn(work: string): void
  close(): void
}

interface Options {
  store: DigestStore
  /** What `hash` makes today, as `workOf` names it. */
  today: string
  /** There are several sets now: each wrong password costs a hash under each of them. */
  onSeveral?: ((works: string[]) => void) | undefined
}

const PIECE = 5_000
/** Between two pieces of a large table: it is never in a hurry. */
const PAUSE_MS = 50
const INTERVAL_MS = 3_600_000
const RETRY_MS = 60_000

export function createStoredWork({ store, today, onSeveral = () => {} }: Options): StoredWork {
  let known = new Map<string, string>()
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let seen = new Set<string>()
  let said = ''
  let ready: Promise<void> | undefined

  function keep(works: Iterable<string>): void {
    const decoys = [...new Set([today, ...works])].sort().map((work) => [work, makeDecoy(work)] as const)
    known = new Map(decoys.filter((entry): entry is [string, string] => entry[1] !== null))
    const names = [...known.keys()]
    if (names.length > 1 && names.join() !== said) onSeveral(names)
    said = names.join()
  }

  /** Up to PIECE accounts; then it plans the next ones, or the next round. */
  async function readPiece(after: number): Promise<void> {
    let next = { after: 0, inMs: INTERVAL_MS }
    try {
      const { works, last } = await store.listWork(after, PIECE)
      for (const work of works) seen.add(work)
      if (last === null) {
        keep(seen)
        seen = new Set()
      } else {
        keep([...known.keys(), ...works])
        next = { after: last, inMs: PAUSE_MS }
      }
    } catch {
      next = { after, inMs: RETRY_MS }
    }
    if (closed) return
    timer = setTimeout(() => void readPiece(next.after), next.inMs)
    timer.unref()
  }

  keep([])
  return {
    start() {
      ready ??= readPiece(0)
      return ready
    },
    decoys: () => known,
    learn(work) {
      seen.add(work)
      if (!known.has(work)) keep([...known.keys(), work])
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** `$argon2id$v=19$m=19456,t=2,p=1` or `$2b$10`: what stands before the salt. All names of bcrypt are one. */
export function workOf(digest: string): string {
  return digest.startsWith('$2') ? `$2b$${digest.slice(4, 6)}` : digest.split('$').slice(0, 4).join('$')
}

/** Null for parameters that this service never accepts. */
function makeDecoy(work: string): string | null {
  const decoy = decoyDigest(work)
  return parseDigest(decoy) && decoy
}
