/** Logins by passkey a second, against logins by password of the same process, and requests for options. */
import { generateKeyPairSync } from 'node:crypto'
import { createChallenges } from '../../../src/domain/sign-in/passkeys/challenge.ts'
import { createServerSecret } from '../../../src/platform/secret.ts'
import { coseKeyOf, signWithPasskey } from '../../../test/helpers/passkey-authenticator.ts'
import { onDatabase } from '../accounts.ts'
import { type Bench, CLIENTS, SERVER_SECRET } from '../bench.ts'
import { compare } from '../compare.ts'
import { logins, post, type Traffic } from '../traffic.ts'
import { countTrips } from '../trips.ts'

const RP_ID = 'bench.example'
const ACCOUNTS = 1000
/** Enough to keep every processor hashing; beyond 48 waiting hashes the service refuses strangers. */
const PASSWORD_CLIENTS = 32
/** The number for a second; a faster machine has shorter rounds. */
const PER_SECOND = 3000

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** The ends of the names are four digits, so that SQL writes the same in base64. */
const passkeyOf = (number: number) => ({
  id: Buffer.from(`passkey-${String(number).padStart(4, '0')}`).toString('base64url'),
  userHandle: Buffer.from(`user-${number}`.padEnd(32, '.')).toString('base64url'),
  privateKey: keys.privateKey,
  counter: 0,
})

/** One for each account; they share a key pair. */
const addPasskeys = (databaseUrl: string) =>
  onDatabase(databaseUrl, async (sql) => {
    await sql`
      insert into passkeys (id, account_id, credential_id, public_key, user_handle, counter, name, created_at,
                            backup_eligible, backed_up, transports, aaguid, rp_id)
      select gen_random_uuid(), id, encode(('passkey-' || lpad(n::text, 4, '0'))::bytea, 'base64'),
             ${coseKeyOf(keys.publicKey)}, rpad('user-' || n, 32, '.')::bytea, 0, 'Passkey', now(), true, true,
             '["internal"]', '00000000-0000-0000-0000-000000000000', ${RP_ID}
        from generate_series(1, ${ACCOUNTS}::int) n join accounts on email = 'person-' || n || '@bench.example'`
    await sql`analyze`
  })

/** Logins by each passkey in turn; every challenge serves once, within five minutes. */
function passkeyLogins(count: number): Traffic {
  const secret = createServerSecret(Buffer.from(SERVER_SECRET, 'hex'))
  const challenges = createChallenges({ secret, clock: { now: () => new Date() } })
  const requests = Array.from({ length: count }, (_, index) => {
    const challenge = Buffer.from(challenges.create({ kind: 'login' })).toString('base64url')
    const passkey = passkeyOf(1 + (index % ACCOUNTS))
    const credential = signWithPasskey(passkey, { challenge, rpId: RP_ID }, `https://${RP_ID}`)
    return post('passkeys/login', { credential })
  })
  return { requests, once: true }
}

export async function measurePasskeys(bench: Bench) {
  const settings = { passkeys: { rp_id: RP_ID } }
  const { url, ...poterne } = await bench.startPoterne({ accounts: ACCOUNTS, settings })
  await addPasskeys(poterne.database.url)
  const load = (traffic: Traffic, seconds: number, connections = CLIENTS) =>
    bench.load(url, traffic, { seconds, connections, warmupSeconds: 0.3 })
  const byPasskey = (seconds = bench.seconds) => load(passkeyLogins(Math.ceil(seconds * PER_SECOND)), seconds)
  const byPassword = (seconds = bench.seconds + 1) => load(logins(ACCOUNTS), seconds, PASSWORD_CLIENTS)
  const asked = { requests: [post('passkeys/login/options', {})] }
  const options = (seconds = bench.seconds) => load(asked, seconds)
  const [trips, optionTrips] = [await countTrips(poterne), await countTrips(poterne)]
  await byPasskey(bench.warmupSeconds)
  await options(1)
  await trips.during(() => byPasskey())
  await optionTrips.during(() => options())
  await byPassword(2)
  return [
    await compare(bench, {
      ...{ what: `logins by passkey, ${CLIENTS} clients`, rival: 'logins by password', atLeast: 10 },
      ours: async () => (await byPasskey()).rate,
      theirs: async () => (await byPassword()).rate,
      trips: trips.describe(),
    }),
    await compare(bench, {
      ...{ what: `requests for passkey options, ${CLIENTS} clients`, rival: 'logins by passkey' },
      rounds: bench.rounds / 2,
      ours: async () => (await options()).rate,
      theirs: async () => (await byPasskey()).rate,
      trips: optionTrips.describe(),
    }),
  ]
}
