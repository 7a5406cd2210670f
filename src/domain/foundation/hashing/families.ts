/**
 * The families of the stored passwords: which kinds of digests there are beside today's own, and the largest number of
 * rounds in each. Every wrong password costs what all of them cost together, whoever it is for, so that the time does
 * not tell an account that was imported, one whose digest has older parameters, a new one and none from each other.
 * This needs neither a calibrated pause, which would show on a busy machine, nor a guess at how many accounts are of which
 * kind. It costs more as long as there are foreign digests; each is replaced when its owner signs in.
 *
 * An index knows the families, and is asked again and again. One that was not found yet is learned from the first digest
 * that is checked.
 */
import { decoyDigest } from '../decoys/decoys.ts'
import { bounds, type ConfiguredWork, type Family, familyOf, parseDigest } from './digest.ts'
import type { DigestStore } from './store.ts'

interface Options {
  store: DigestStore
  configured: ConfiguredWork
  /** Called if there are several families, each of which now costs a hash for every wrong password. */
  onSeveral?: ((families: string[]) => void) | undefined
}

/** Every process knows of a change within a minute. */
const INTERVAL_MS = 50_000
const RETRY_MS = 5_000

export type Families = ReturnType<typeof createFamilies>

export function createFamilies({ store, configured, onSeveral = () => {} }: Options) {
  const today = familyOf(configured)
  let row: readonly Family[] = [{ family: today, number: 0 }]
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let said = ''
  let ready: Promise<void> | undefined

  /** Today's own is the first stage; the others follow in the order of their names. */
  function keep(found: Iterable<Family>): void {
    const largest = new Map<string, number>()
    for (const { family, number } of found)
      if (family !== today) largest.set(family, Math.max(number, largest.get(family) ?? 0))
    const foreign = [...largest]
      .map(([family, number]) => ({ family, number: bounded(family, number) }))
      .filter(({ family, number }) => parseDigest(decoyDigest(family, number), configured) !== null)
      .sort((one, other) => (one.family < other.family ? -1 : 1))
    row = [{ family: today, number: 0 }, ...foreign]
    const names = row.map(({ family }) => family)
    if (names.length > 1 && names.join() !== said) onSeveral(names)
    said = names.join()
  }

  async function read(): Promise<void> {
    let inMs = INTERVAL_MS
    try {
      keep(await store.listFamilies())
    } catch {
      inMs = RETRY_MS
    }
    if (closed) return
    clearTimeout(timer)
    timer = setTimeout(() => void read(), inMs)
    timer.unref()
  }

  return {
    today,
    /** Begins to ask unless that has begun; resolves after the first answer. Never rejects. */
    start(): Promise<void> {
      ready ??= read()
      return ready
    },
    /** Asks now. */
    refresh: read,
    /** The stages of a try. A new list where something changed. */
    row: (): readonly Family[] => row,
    /** Called for each digest that is checked: its family is in use, even if it was imported since the index was asked. */
    learn({ family, number }: Family): void {
      const known = row.find((each) => each.family === family)
      if (!known || known.number < number) keep([...row, { family, number }])
    },
    close(): void {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** Beyond the bounds nothing is ever verified. */
function bounded(family: string, number: number): number {
  if (family === 'bcrypt') return Math.min(number, bounds.bcryptCost)
  if (family.startsWith('pbkdf2-')) return Math.min(number, bounds.pbkdf2)
  return family.startsWith('wrapped-phpass')
    ? Math.min(number, bounds.phpassRounds)
    : Math.min(number, bounds.cryptRounds)
}

/** The work that a wrong try of a digest with `number` still owes where the largest one has `largest`. */
export function restOf(family: string, number: number, largest: number): string[] {
  if (family === 'bcrypt')
    return Array.from({ length: Math.max(0, largest - number) }, (_, step) =>
      decoyDigest(family, number + step),
    )
  return largest > number ? [decoyDigest(family, largest - number)] : []
}
