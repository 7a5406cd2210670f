/**
 * The counters that upkeep goes by, from a clean close to the next start: PGlite does not write PostgreSQL's own file
 * of statistics. There is none after a crash, and every relation is looked at.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { flush } from '../../platform/flush.ts'

/** The numbers of one relation since its last vacuum and analyze; null where there was none. */
export interface UpkeepCounters {
  oid: number
  dead: number | null
  inserted: number | null
  changed: number | null
}

/** PostgreSQL would keep its own there. It is not part of a snapshot. */
const fileOf = (directory: string) => join(directory, 'pg_stat', 'poterne-counters.json')

/** Takes the counters that a clean close left. The file is gone afterwards, because it is true of no later state. */
export function takeCounters(directory: string): UpkeepCounters[] {
  const file = fileOf(directory)
  try {
    const counters = parse(readFileSync(file, 'utf8'))
    rmSync(file)
    flush(dirname(file))
    return counters
  } catch {
    // Missing, or torn by a crash.
    rmSync(file, { force: true })
    return []
  }
}

/** To be called once the database is closed. */
export function leaveCounters(directory: string, counters: UpkeepCounters[]): void {
  try {
    writeFileSync(fileOf(directory), JSON.stringify(counters), { mode: 0o600 })
  } catch {
    // On a full disk the next start looks at every relation instead.
  }
}

function parse(text: string): UpkeepCounters[] {
  const count = (value: unknown) => (value === null ? null : Number(value) || 0)
  return (JSON.parse(text) as Record<keyof UpkeepCounters, unknown>[]).map(
    ({ oid, dead, inserted, changed }) => ({
      oid: Number(oid) || 0,
      dead: count(dead),
      inserted: count(inserted),
      changed: count(changed),
    }),
  )
}
