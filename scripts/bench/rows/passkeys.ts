/** Logins by passkey a second, against logins by password of the same process, and requests for options. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import { addPasskeys, passkeyLogins, RP_ID } from '../passkeys.ts'
import { compareInRounds, type Row } from '../row.ts'
import { logins, post, strangersLogin } from '../traffic.ts'
import { countTrips, describeTrips } from '../trips.ts'

const ACCOUNTS = 1000

/** Enough to keep every processor hashing; beyond 48 waiting hashes the service refuses strangers. */
const PASSWORD_CLIENTS = 32

/** The number for a second; a faster machine has shorter rounds. */
const PER_SECOND = 3000

export const passkeysRow: Row = {
  name: 'passkeys',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: ACCOUNTS, settings: { passkeys: { rp_id: RP_ID } } })
    await addPasskeys(poterne.databaseUrl, ACCOUNTS)
    const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
    const load = async (what: string, traffic: Traffic, seconds: number, isPassword = false) =>
      requireStatuses(
        await bench.load({
          url: poterne.url,
          traffic,
          connections: isPassword ? PASSWORD_CLIENTS : CLIENTS,
          seconds,
          warmupSeconds: 0.3,
          ...(isPassword && { lastly: strangersLogin }),
        }),
        [200],
        what,
      )
    const byPasskey = (seconds: number) =>
      load(
        'passkeys/login',
        {
          kind: 'requests',
          requests: passkeyLogins(ACCOUNTS, Math.ceil(seconds * PER_SECOND)),
          cyclic: false,
        },
        seconds,
      )
    const byPassword = (seconds: number) => load('login', logins(ACCOUNTS), seconds + 1, true)
    const options = (seconds: number) =>
      load(
        'passkeys/login/options',
        { kind: 'requests', requests: [post('passkeys/login/options', {})], cyclic: true },
        seconds,
      )
    const { seconds } = bench
    await byPasskey(bench.warmupSeconds)
    await options(1)
    await counter.take(1)
    const trips = await counter.take((await byPasskey(seconds)).answered)
    const optionTrips = await counter.take((await options(seconds)).answered)
    await byPassword(1)
    const lines = [
      await compareInRounds(bench, {
        row: 'passkeys',
        what: `logins by passkey, ${CLIENTS} clients`,
        rival: 'logins by password',
        ours: async () => (await byPasskey(seconds)).rate,
        theirs: async () => (await byPassword(seconds)).rate,
        goal: { atLeast: 10 },
        trips: describeTrips(trips),
      }),
      await compareInRounds(bench, {
        row: 'passkeys',
        what: `requests for passkey options, ${CLIENTS} clients`,
        rival: 'logins by passkey',
        rounds: Math.ceil(bench.rounds / 2),
        ours: async () => (await options(seconds)).rate,
        theirs: async () => (await byPasskey(seconds)).rate,
        trips: describeTrips(optionTrips),
      }),
    ]
    await poterne.stop()
    return lines
  },
}
