/** verify-account and 2fa/request-otp a second, against bare store round trips of the same number and kinds. */
import { addAccounts, addWaiting } from '../accounts.ts'
import { openBareStores } from '../bare.ts'
import { type Bench, CLIENTS, type Poterne } from '../bench.ts'
import { compare } from '../compare.ts'
import { untilAtRest } from '../server.ts'
import { codeRequests, post, type Traffic } from '../traffic.ts'
import { countTrips } from '../trips.ts'

/** The number for a round; a faster machine has shorter rounds. */
const PER_ROUND = 12_000

type Prepare = (poterne: Poterne, first: number) => Promise<Traffic>

const againstBareTrips = (operation: string, prepare: Prepare) => async (bench: Bench) => {
  const poterne = await bench.startPoterne()
  const bare = await openBareStores(bench)
  let first = 1
  const send = async () => {
    const traffic = await prepare(poterne, first)
    first += PER_ROUND
    return () => bench.load(poterne.url, traffic, { warmupSeconds: 0.3 })
  }
  for (let warmSeconds = 0; warmSeconds < bench.warmupSeconds; warmSeconds += bench.seconds)
    await (await send())()
  await untilAtRest(poterne)
  const trips = await countTrips(poterne)
  const line = await compare(bench, {
    ...{ what: `${operation}, ${CLIENTS} clients`, rival: 'as many bare round trips', atLeast: 0.5 },
    ours: async () => {
      const { rate } = await trips.during(await send())
      await untilAtRest(poterne)
      return rate
    },
    theirs: () => bare.rate(trips.mean()),
  })
  await bare.close()
  return { ...line, trips: trips.describe() }
}

export const measureVerifyAccount = againstBareTrips('verify-account', async (poterne, first) => {
  const waiting = await addWaiting(poterne, { first, count: PER_ROUND })
  return { requests: waiting.map((one) => post('verify-account', one)), once: true, status: 201 }
})

export const measureRequestOtp = againstBareTrips('2fa/request-otp', async ({ database }, first) => {
  await addAccounts(database.url, { first, count: PER_ROUND })
  return codeRequests(PER_ROUND, first)
})
