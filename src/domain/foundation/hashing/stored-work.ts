/**
 * The amount of work that the stored passwords require. As long as all of them have today's parameters, a wrong
 * password takes the same time for every account and for an identifier without one. A change of the parameters, or an
 * import of hashes from another system, would end that: the time would distinguish old accounts, new accounts and no
 * account.
 *
 * So every check of a password costs one hash for each set of parameters in use. The account's digest has its own, and
 * decoys have the others; without an account, decoys have all of them. The sum is the same for everybody. This needs
 * neither a calibrated pause, which would show on a busy machine, nor a guess at how many accounts have which
 * parameters. It costs more as long as there are old digests; each is renewed when its owner signs in.
 *
 * The table is read in small pieces, again and again. Parameters that were not found yet are learned from the first digest
 * that is checked.
 */
import { decoyDigest } from '../decoys/decoys.ts'
import { type ConfiguredWork, parseDigest } from './digest.ts'
import type { DigestStore } from './store.ts'

interface Options {
  store: DigestStore
  /** Today's parameters, as `workOf` names them. */
  today: string
  configured: ConfiguredWork
  /** Called if there are several sets, each of which now costs a hash for every wrong password. */
  onSeveral?: ((works: string[]) => void) | undefined
}

const PIECE = 5_000
/** The pause between two pieces of a large table; there is no hurry. */
const PAUSE_MS = 50
const INTERVAL_MS = 3_600_000
const RETRY_MS = 60_000

export function createStoredWork({ store, today, configured, onSeveral = () => {} }: Options) {
  let known = new Map<string, string>()
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let seen = new Set<string>()
  let said = ''
  let ready: Promise<void> | undefined

  function keep(works: Iterable<string>): void {
    const decoys = [...new Set([today, ...works])]
      .sort()
      .map((work) => [work, makeDecoy(work, configured)] as const)
    known = new Map(decoys.filter((entry): entry is [string, string] => entry[1] !== null))
    const names = [...known.keys()]
    if (names.length > 1 && names.join() !== said) onSeveral(names)
    said = names.join()
  }

  /** Reads up to PIECE accounts, then schedules the next piece or the next round. */
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
    /**
     * Begins to read the table unless that has begun; resolves after the first piece, when a small table is known. Never
     * rejects.
     */
    start(): Promise<void> {
      ready ??= readPiece(0)
      return ready
    },
    /**
     * A decoy for every set of parameters in use, including today's, by its name (see `workOf`) and always in the same
     * order. No password that opens one of them is known.
     */
    decoys: (): ReadonlyMap<string, string> => known,
    /**
     * It is called for each digest that is checked: its parameters are in use, even if the table was not read that far.
     */
    learn(work: string): void {
      seen.add(work)
      if (!known.has(work)) keep([...known.keys(), work])
    },
    close(): void {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** `$argon2id$v=19$m=19456,t=2,p=1` or `$2b$10`: the part before the salt. All variants of bcrypt have the same name. */
export function workOf(digest: string): string {
  return digest.startsWith('$2') ? `$2b$${digest.slice(4, 6)}` : digest.split('$').slice(0, 4).join('$')
}

/** It returns null for parameters that this service never accepts. */
function makeDecoy(work: string, configured: ConfiguredWork): string | null {
  const decoy = decoyDigest(work)
  return parseDigest(decoy, configured) && decoy
}
