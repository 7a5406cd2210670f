/**
 * Checks which devices stay known when what opens an account changes: a former intruder's device pays like everybody's.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { registeredStatements } from '../../src/platform/postgres/statement.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { useLimited } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const root = join(import.meta.dir, '../../src')
for (const pattern of ['**/*store*.ts', '**/*-sql.ts'])
  for (const file of new Glob(pattern).scanSync({ cwd: root })) await import(join(root, file))

const [MINUTE, DAY] = [60_000, 86_400_000]
const NEW_PASSWORD = 'another good one'
const on = (device_fingerprint: string) => ({ device_fingerprint })

describe('known devices', () => {
  const service = useLimited()

  /** An owner at home and an intruder who signed in with the password, each on a device; and a session of the owner. */
  async function twoDevices(fields: object = on('of the owner')) {
    const { identifier } = await service.signUp(newEmail())
    const signIn = async (device: object, client = newClient()) =>
      (await service.post('login', { identifier, password: PASSWORD, ...device }, client)).body.access_token
    await signIn(on('of the intruder'), from('203.0.113.66'))
    await signIn(on('of the owner too'))
    const bearer = await signIn(fields, from('198.51.100.7'))
    service.clock.advance(DAY)
    return { identifier, bearer: (await signIn(fields, from('198.51.100.7'))) ?? bearer }
  }

  /** Tells whether this client passes where its address asked for too many codes, as the owner's devices do. */
  async function isKnown(identifier: string, device: string): Promise<boolean> {
    const shared = newClient()
    const ask = (body: object) => service.post('password/forgot', body, shared)
    while ((await ask({ identifier: newEmail() })).status !== 429);
    service.clock.advance(MINUTE)
    const refused = await ask({ identifier: newEmail() })
    // A minute refills two.
    if (refused.status !== 429) while ((await ask({ identifier: newEmail() })).status !== 429);
    return (await ask({ identifier, ...on(device) })).status === 201
  }

  async function knownAfter(identifier: string) {
    const known = []
    for (const device of ['of the owner', 'of the owner too', 'of the intruder'])
      if (await isKnown(identifier, device)) known.push(device)
    return known
  }

  const ways = {
    'a change of the password': (bearer: string) => {
      const body = { current_password: PASSWORD, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }
      return service.post('password/change', body, { ...newClient(), bearer })
    },
    'two factors by sent codes': async (bearer: string, identifier: string) => {
      await service.post('2fa/enable', { password: PASSWORD }, { ...newClient(), bearer })
      const otp = await service.newestCode(identifier)
      return service.post('2fa/enable/confirm', { otp }, { ...newClient(), bearer })
    },
    'two factors by an app': async (bearer: string) => {
      const { body } = await service.post('2fa/totp', { password: PASSWORD }, { ...newClient(), bearer })
      const otp = appCode(body.secret, service.clock.now())
      return service.post('2fa/totp/confirm', { otp }, { ...newClient(), bearer })
    },
  }

  test.each(Object.entries(ways))('%s: only the device of that session stays known', async (_, change) => {
    const { identifier, bearer } = await twoDevices()
    expect(await knownAfter(identifier)).toEqual(['of the owner', 'of the owner too', 'of the intruder'])
    expect((await change(bearer, identifier)).status).toBe(200)
    expect(await knownAfter(identifier)).toEqual(['of the owner'])
  })

  test('of a session that named no device, the address of its sign-in stays known at login', async () => {
    const { identifier, bearer } = await twoDevices({})
    expect((await ways['a change of the password'](bearer)).status).toBe(200)
    const wrong = { identifier, password: 'not this one' }
    while ((await service.post('login', wrong, newClient())).status !== 429);
    const right = { identifier, password: NEW_PASSWORD }
    const signsIn = async (address: string, device = {}) =>
      (await service.post('login', { ...right, ...device }, from(address))).status
    expect(await signsIn('203.0.113.66', on('of the intruder'))).toBe(429)
    expect(await signsIn('198.51.100.7')).toBe(200)
  })
})

/** Statements that set one of them and leave the devices as they are. */
const DEVICES_STAY = {
  'the same password, hashed anew at a sign-in': ['accounts.renew_digest'],
  'recipes run them, see below': ['accounts.set_password', 'accounts.set_two_factors'],
  'it takes the password away, and whoever chooses one forgets them': ['imports.forget_hashes'],
  'the account was not confirmed, so nobody signed in': [
    'identities.open',
    'registration.confirm_by_email',
    'registration.confirm_by_phone',
    'registration.register_by_email',
    'registration.register_by_phone',
  ],
}

test('every statement that sets a password or turns two factors on forgets the other devices, or is listed', () => {
  const sets =
    /\bset\b[^;]*?\b(password_digest = |two_factor_enabled = (true|link|\$\d+::boolean, trust_epoch))/i
  const forgets = /delete from "known_devices" using/i
  const found = registeredStatements().filter(({ text }) => sets.test(text))
  const staying = found.filter(({ text }) => !forgets.test(text)).map(({ name }) => name)
  expect(staying.sort()).toEqual(Object.values(DEVICES_STAY).flat().sort())
})

test('every recipe that does one of them forgets the other devices', async () => {
  const found: Record<string, boolean> = {}
  for (const file of new Glob('**/*.ts').scanSync({ cwd: root })) {
    const text = await Bun.file(join(root, file)).text()
    if (/run\((setPassword|setTwoFactors), \{(?![^}]*isOn: false)/.test(text))
      found[file] = /run\(forgetDevices,|endOld\(/.test(text)
  }
  expect(found).toEqual({
    'domain/credentials/authenticators/enrolment-store.ts': true,
    'domain/sign-in/passwords/store.ts': true,
    'domain/sign-in/undo/store.ts': true,
  })
})
