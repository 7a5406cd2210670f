/** verify-account and 2fa/request-otp a second, against bare store round trips of the same number and kinds. */
import { addAccounts, addWaiting } from '../accounts.ts'
import { type Bench, CLIENTS, type MeasuredPoterne } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import { startBareStores } from '../rivals.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import { codeRequests, confirmations } from '../traffic.ts'
import { countTrips, describeTrips, type Trips } from '../trips.ts'

/** The number for a round; a faster machine has shorter rounds. */
const PER_ROUND = 12_000

export const verifyAccountRow: Row = {
  name: 'verify-account',
  measure: (bench) =>
    measure(bench, 'verify-account', async (poterne, first) =>
      confirmations(await addWaiting(poterne, { first, count: PER_ROUND })),
    ),
}

export const requestOtpRow: Row = {
  name: 'request-otp',
  measure: (bench) =>
    measure(bench, '2fa/request-otp', async ({ databaseUrl }, first) => {
      await addAccounts(databaseUrl, { first, count: PER_ROUND })
      return codeRequests(PER_ROUND, first)
    }),
}

async function measure(
  bench: Bench,
  operation: string,
  prepare: (poterne: MeasuredPoterne, first: number) => Promise<Traffic>,
): Promise<Line[]> {
  const poterne = await bench.startPoterne()
  const bare = await startBareStores(bench)
  const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
  const counts: Trips[] = []
  const { seconds } = bench
  let first = 1
  const ours = async () => {
    const traffic = await prepare(poterne, first)
    first += PER_ROUND
    await counter.take(1)
    const load = { url: poterne.url, traffic, connections: CLIENTS, seconds, warmupSeconds: 0.3 }
    const result = requireStatuses(await bench.load(load), [201], operation)
    counts.push(await counter.take(result.answered))
    return result.rate
  }
  const meanTrips = () => mean(counts.slice(1))
  await ours()
  const line = await compareInRounds(bench, {
    row: operation,
    what: `${operation}, ${CLIENTS} clients`,
    rival: 'as many bare round trips',
    ours,
    theirs: () => bare.rate({ trips: meanTrips(), atOnce: CLIENTS, seconds }),
    goal: { atLeast: 0.5 },
  })
  await Promise.all([poterne.stop(), bare.end()])
  return [{ ...line, trips: describeTrips(meanTrips()) }]
}

function mean(all: Trips[]): Trips {
  const of = (part: keyof Trips) => all.reduce((sum, trips) => sum + trips[part], 0) / all.length
  return { reads: of('reads'), writes: of('writes'), redis: of('redis') }
}
