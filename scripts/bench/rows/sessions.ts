/** What people do in their sessions: refreshes and `GET me` a second, and the time of a refresh beside logins. */
import { openBareStores } from '../bare.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { compare } from '../compare.ts'
import { betterAuthSessionReads, startBetterAuth, startCompiled } from '../rivals.ts'
import { logins, ownAccount, refreshes } from '../traffic.ts'
import { countTrips } from '../trips.ts'

/** Enough for PostgreSQL to use its indexes. */
const ACCOUNTS = 1000

/** Rotated refreshes a second, against Better Auth's session read and against bare single-row updates and inserts. */
export async function measureRefresh(bench: Bench) {
  const { url, ...poterne } = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords: true })
  const better = await startBetterAuth(bench, 'default', ACCOUNTS)
  const bare = await openBareStores(bench)
  const warmUp = { seconds: bench.warmupSeconds }
  const first = await refreshes(url, CLIENTS)
  const trips = await countTrips(poterne)
  await trips.during(() => bench.load(url, first, warmUp))
  const sessionReads = await betterAuthSessionReads(better.url, CLIENTS)
  await bench.load(better.url, sessionReads, warmUp)
  const refreshed = {
    what: `rotated refreshes, ${CLIENTS} clients`,
    ours: async () => bench.rate(url, await refreshes(url, CLIENTS)),
    trips: trips.describe(),
  }
  const lines = [
    await compare(bench, {
      ...{ ...refreshed, rival: "Better Auth's session read", atLeast: 2 },
      theirs: () => bench.rate(better.url, sessionReads),
    }),
    await compare(bench, {
      ...{ ...refreshed, rival: 'single-row updates by postgres.js', atLeast: 0.5 },
      theirs: () => bare.rate({ writes: 1 }),
    }),
    await compare(bench, {
      ...{ ...refreshed, rival: 'single-row inserts by postgres.js', rounds: bench.rounds / 2 },
      theirs: () => bare.rate({ inserts: 1 }),
    }),
  ]
  await bare.close()
  return lines
}

/** Authenticated `GET me` a second, against an Elysia route that verifies the same token and does one select. */
export async function measureMe(bench: Bench) {
  const { url, ...poterne } = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords: true })
  const rival = await startCompiled('elysia-me', {
    DATABASE_URL: poterne.database.url,
    JWKS: await (await fetch(`${url}/.well-known/jwks.json`)).text(),
    ISSUER: 'https://auth.bench',
  })
  const ours = await ownAccount(url, CLIENTS)
  const theirs = { ...ours, requests: ours.requests.map((request) => ({ ...request, path: '/me' })) }
  const trips = await countTrips(poterne)
  await trips.during(() => bench.load(url, ours, { seconds: bench.warmupSeconds }))
  await bench.load(rival.url, theirs, { seconds: bench.warmupSeconds })
  return compare(bench, {
    ...{ what: `GET me, ${CLIENTS} clients`, rival: 'Elysia + jose + one select', atLeast: 0.8 },
    ours: () => bench.rate(url, ours),
    theirs: () => bench.rate(rival.url, theirs),
    trips: trips.describe(),
  })
}

/** The p99 of refresh while logins keep every processor at hashing, against its p99 when nothing else happens. */
export async function measureRefreshLatency(bench: Bench) {
  const { url } = await bench.startPoterne({ accounts: ACCOUNTS })
  const seconds = bench.seconds * 2
  // People who come by, not a load of their own.
  const connections = 10
  const refresh = async () => {
    const traffic = await refreshes(url, connections)
    return async () =>
      (await bench.load(url, traffic, { connections, seconds, rate: 100 })).byStatus['200']!.p99Ms
  }
  return compare(bench, {
    ...{ what: `p99 of refresh while ${CLIENTS} clients sign in`, rival: 'idle', atMost: 5, unit: 'ms' },
    async ours() {
      const measure = await refresh()
      const loading = bench.load(url, logins(ACCOUNTS), { seconds: seconds + 2 })
      await Bun.sleep(1000)
      const [p99Ms] = await Promise.all([measure(), loading])
      return p99Ms
    },
    theirs: async () => (await refresh())(),
  })
}
