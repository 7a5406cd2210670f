/** Authenticated `GET me` a second, against an Elysia route that verifies the same token and does one select. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import { startRivalExecutable } from '../rivals.ts'
import { compareInRounds, type Row } from '../row.ts'
import { openSessions, ownAccount, reads } from '../traffic.ts'
import { countTrips, describeTrips } from '../trips.ts'

/** Enough for PostgreSQL to use its indexes. */
const ACCOUNTS = 1000

export const meRow: Row = {
  name: 'me',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords: true })
    const jwks = await (await fetch(`${poterne.url}/.well-known/jwks.json`)).text()
    const rival = await startRivalExecutable('elysia-me', {
      DATABASE_URL: poterne.databaseUrl,
      JWKS: jwks,
      ISSUER: String(poterne.settings.server?.base_url),
    })
    const tokens = (await openSessions(poterne.url, CLIENTS)).map(({ access_token }) => access_token)
    const { seconds } = bench
    const load = async (url: string, traffic: Traffic, duration = seconds) =>
      requireStatuses(
        await bench.load({ url, traffic, connections: CLIENTS, seconds: duration }),
        [200],
        'me',
      )
    const ours = ownAccount(tokens)
    const theirs = reads(
      '/me',
      tokens.map((token) => ({ authorization: `Bearer ${token}` })),
    )
    const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
    const trips = await counter.take((await load(poterne.url, ours, bench.warmupSeconds)).answered)
    await load(rival.url, theirs, bench.warmupSeconds)
    const line = await compareInRounds(bench, {
      row: 'me',
      what: `GET me, ${CLIENTS} clients`,
      rival: 'Elysia + jose + one select',
      ours: async () => (await load(poterne.url, ours)).rate,
      theirs: async () => (await load(rival.url, theirs)).rate,
      goal: { atLeast: 0.8 },
      trips: describeTrips(trips),
    })
    await Promise.all([poterne.stop(), rival.end()])
    return [line]
  },
}
