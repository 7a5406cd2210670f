/** Passkeys by the thousand, written by SQL, and assertions by them that are ready to be sent. */
import { generateKeyPairSync } from 'node:crypto'
import { createChallenges } from '../../src/domain/sign-in/passkeys/challenge.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { coseKeyOf, signWithPasskey } from '../../test/helpers/passkey-authenticator.ts'
import { onDatabase } from './accounts.ts'
import type { PlainRequest } from './load.ts'
import { SERVER_SECRET } from './poterne.ts'
import { post } from './traffic.ts'

export const RP_ID = 'bench.example'
const ORIGIN = `https://${RP_ID}`

const credentialIdOf = (number: number) => Buffer.from(`passkey-${number}`).toString('base64url')
const userHandleOf = (number: number) => Buffer.from(`user-${number}`.padEnd(32, '.'))

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** One for each of the first accounts; they share a key pair. */
export async function addPasskeys(databaseUrl: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const rows = numbers.map((number) => ({
    email: `person-${number}@bench.example`,
    credential_id: credentialIdOf(number),
    user_handle: userHandleOf(number).toString('hex'),
  }))
  await onDatabase(
    databaseUrl,
    (sql) => sql`
      insert into passkeys (id, account_id, credential_id, public_key, user_handle, counter, name, created_at,
                            backup_eligible, backed_up, transports, aaguid, rp_id)
      select gen_random_uuid(), accounts.id, given.credential_id, ${coseKeyOf(keys.publicKey)},
             decode(given.user_handle, 'hex'), 0, 'Passkey', now(), true, true, '["internal"]',
             '00000000-0000-0000-0000-000000000000', ${RP_ID}
        from jsonb_to_recordset(${sql.json(rows)}) as given (email text, credential_id text, user_handle text)
        join accounts on accounts.email = given.email`,
  )
  await onDatabase(databaseUrl, (sql) => sql`analyze`)
}

/** Logins by the passkeys of the first `accounts` accounts in turn; every challenge serves once, within five minutes. */
export function passkeyLogins(accounts: number, count: number): PlainRequest[] {
  const secret = createServerSecret(Buffer.from(SERVER_SECRET, 'hex'))
  const challenges = createChallenges({ secret, clock: { now: () => new Date() } })
  return Array.from({ length: count }, (_, index) => {
    const number = 1 + (index % accounts)
    const challenge = Buffer.from(challenges.create({ kind: 'login' })).toString('base64url')
    const passkey = {
      id: credentialIdOf(number),
      userHandle: userHandleOf(number).toString('base64url'),
      privateKey: keys.privateKey,
      counter: 0,
    }
    const credential = signWithPasskey(passkey, { challenge, rpId: RP_ID }, ORIGIN)
    return post('passkeys/login', { credential })
  })
}
