/**
 * A process of its own that races another one: waits for the time it is told, calls `take` many times at once, and
 * prints how many calls were admitted. Called by `raceProcesses`.
 */
import { DatabaseUnavailable } from '../../src/platform/postgres/failure.ts'
import { openStoresAt, type Place } from './backends.ts'

export type Race =
  | { what: 'code'; subject: string; hash: string; attempts: number; nowMs: number }
  | { what: 'ticket'; key: string; nowMs: number }
  | { what: 'limit'; key: string; burst: number; nowMs: number }

export interface RacerInput {
  place: Place
  race: Race
  callers: number
  startAtMs: number
}

/** Counts the admitted calls, by `processes` processes with `callers` each. */
export async function raceProcesses(place: Place | null, race: Race, { processes = 2, callers = 100 } = {}) {
  if (place === null) throw new Error('only one process may open this backend')
  const input: RacerInput = { place, race, callers, startAtMs: Date.now() + 1500 }
  const racers = Array.from({ length: processes }, () =>
    Bun.spawn([process.execPath, import.meta.path, JSON.stringify(input)], { stderr: 'inherit' }),
  )
  const admitted = await Promise.all(
    racers.map(async (racer) => Number(await new Response(racer.stdout).text())),
  )
  for (const racer of racers) if ((await racer.exited) !== 0) throw new Error('a racer failed')
  return admitted.reduce((sum, count) => sum + count, 0)
}

async function run({ place, race, callers, startAtMs }: RacerInput): Promise<number> {
  const stores = openStoresAt(place)
  await stores.ready()
  const now = new Date(race.nowMs)
  const call = async (): Promise<boolean> => {
    if (race.what === 'ticket') return (await stores.tickets.take(race.key, now)) !== null
    if (race.what === 'limit') {
      const rule = { kind: 'bucket', burst: race.burst, intervalMs: 60_000 } as const
      return (await stores.limits.charge([{ key: race.key, rule }], now)) === 0
    }
    const key = { subject: race.subject, purpose: 'confirmation', group: 'stranger' } as const
    return (await stores.codes.take(key, Buffer.from(race.hash, 'hex'), race.attempts, now)) === 'right'
  }
  await Bun.sleep(Math.max(0, startAtMs - Date.now()))
  // On a slow machine some of the callers get no connection in time: these are not admitted either.
  const refused = (error: unknown) => {
    if (error instanceof DatabaseUnavailable) return false
    throw error
  }
  const answers = await Promise.all(Array.from({ length: callers }, () => call().catch(refused)))
  await stores.close()
  return answers.filter(Boolean).length
}

if (import.meta.main) {
  console.log(await run(JSON.parse(process.argv[2] ?? '') as RacerInput))
  process.exit(0)
}
