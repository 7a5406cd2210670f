/**
 * Access tokens are made to be sent to other services. So one of these may try what it can do with a token that it was
 * sent a moment after the sign-in. Whatever relies on a recent sign-in needs the session's refresh token as well.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import openapi from '../../docs/openapi.json'
import { type Answer, newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import { resolveReference } from '../helpers/openapi.ts'
import {
  type AuthenticatorQuirks,
  createPasskey,
  type SoftPasskey,
  signWithPasskey,
} from '../helpers/passkey-authenticator.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal, outcomeOf, refusedBy } from '../helpers/refusals.ts'
import { socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const ORIGIN = 'https://app.example.com'
const HOUR = 3_600_000

/** The body that each of these operations needs besides a proof. */
const bodies: Record<string, () => object> = {
  'email/change': () => ({ email: newEmail() }),
  'phone/change': () => ({ phone: newPhone() }),
  'password/change': () => ({ password: 'a new password', password_confirmation: 'a new password' }),
  'identities/p1': () => ({ id_token: 'none', nonce: 'none' }),
}

interface Operation {
  method: string
  path: string
}

const erases = ({ path }: Operation) => /^me(\/remove)?$/.test(path)

/** The operations that may ask for a recent sign-in, as the document lists them; the last ones erase the account. */
const operations: Operation[] = Object.entries(openapi.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const refused = resolveReference(openapi, operation.responses?.['403'])
      const short = path.replace('{id}', crypto.randomUUID()).replace('{provider}', 'p1')
      const named = JSON.stringify(refused ?? null).includes('"reauthentication_required"')
      return named ? [{ method: method.toUpperCase(), path: short.replace('/api/v1/auth/', '') }] : []
    }),
  )
  .sort((one, other) => Number(erases(one)) - Number(erases(other)))

test('a recent sign-in is read in one place', async () => {
  const reading: string[] = []
  for await (const file of new Bun.Glob('src/domain/**/*.ts').scan())
    if (/claims\.authTime|RECENT_SIGN_IN_MS/.test(await Bun.file(file).text())) reading.push(file)
  expect(reading).toEqual(['src/domain/sessions/core/recent-sign-in.ts'])
  expect(operations.length).toBeGreaterThan(13)
})

let provider: PretendProvider
afterAll(() => provider?.stop())

describe('with limits on', () => {
  const service = use(async () => {
    provider ??= await startPretendProvider()
    const passkeys = { rp_id: 'example.com', origins: [ORIGIN] }
    const settings = { passkeys, ...socialSettings(provider.issuer) }
    const started = await startLimited({ settings })
    provider.keepTime(started.clock)
    return started
  })

  /** Where the account came by a provider, it has no password. */
  async function signInByProvider(person = newPerson({ email: newEmail(), email_verified: true })) {
    provider.present(person)
    const nonce = crypto.randomUUID()
    const id_token = await provider.idToken(nonce)
    const { body } = await service.post('social/p1/token', { id_token, nonce }, newClient())
    return { bearer: body.access_token as string, refresh_token: body.refresh_token as string }
  }

  async function signIn() {
    const { person, bearer, refresh_token } = await service.signedIn()
    return { person, bearer, refresh_token }
  }

  function attempt({ method, path }: Operation, bearer: string, refresh_token?: string): Promise<Answer> {
    const shown = refresh_token === undefined ? {} : { refresh_token }
    const header = refresh_token === undefined ? {} : { 'x-refresh-token': refresh_token }
    const client = newClient()
    const options = { bearer, headers: { ...client.headers, ...header } }
    const body = method === 'GET' ? undefined : { ...bodies[path]?.(), ...shown }
    return service.call(method, `/api/v1/auth/${path}`, body, options)
  }

  test.each(operations)('$method $path takes no access token for a recent sign-in', async (operation) => {
    const [own, another] = [await signInByProvider(), await signInByProvider()]
    const older = own.refresh_token
    const { body } = await service.post('refresh', { refresh_token: older }, newClient())
    const present = body.refresh_token as string
    for (const token of [undefined, another.refresh_token, older, present.replace(/^./, 'g'), own.bearer, ''])
      expectRefusal(await attempt(operation, own.bearer, token), 'reauthentication_required')
    const shown = await attempt(operation, own.bearer, present)
    expect(outcomeOf(shown)).not.toBe(refusedBy('reauthentication_required'))
    if (erases(operation)) return
    // From now on the account has a password.
    if (operation.path === 'password/change') return
    // Neither the right token nor the wrong ones rotated anything or ended the session.
    const next = await service.post('refresh', { refresh_token: present }, newClient())
    expect(next.status).toBe(200)
    service.clock.advance(5 * 60_000 + 1)
    expectRefusal(await attempt(operation, own.bearer, next.body.refresh_token), 'reauthentication_required')
  })

  const ask = (operation: string, body: object, bearer?: string) =>
    service.post(`passkeys/${operation}`, body, { ...newClient(), ...(bearer && { bearer }) })

  async function addPasskey(bearer: string, proof: object) {
    const { passkey, credential } = createPasskey(
      (await ask('registration/options', proof, bearer)).body.options,
      ORIGIN,
    )
    const { body } = await ask('registration', { credential }, bearer)
    return { passkey, id: body.passkey.id as string }
  }

  async function stepUp(bearer: string, passkey: SoftPasskey, quirks: AuthenticatorQuirks = {}) {
    const { options } = (await ask('step-up/options', {}, bearer)).body
    return { credential: signWithPasskey(passkey, options, ORIGIN, quirks) }
  }

  test('an account without a password, opened by a young passkey, shows no recent sign-in', async () => {
    const person = newPerson({ email: newEmail(), email_verified: true })
    const { bearer, refresh_token } = await signInByProvider(person)
    const { passkey } = await addPasskey(bearer, { refresh_token })
    const login = await ask('login/options', {})
    const credential = signWithPasskey(passkey, login.body.options, ORIGIN)
    const opened = (await ask('login', { credential })).body
    const change = (by: { bearer: string; refresh_token: string }) => {
      const body = { email: newEmail(), refresh_token: by.refresh_token }
      return service.post('email/change', body, { ...newClient(), bearer: by.bearer })
    }
    const byPasskey = { bearer: opened.access_token, refresh_token: opened.refresh_token }
    expectRefusal(await change(byPasskey), 'reauthentication_required')
    expect((await change(await signInByProvider(person))).status).toBe(201)
  })

  test('adds no passkey to an account with a password, and removes none', async () => {
    const { bearer, refresh_token } = await signIn()
    const { id } = await addPasskey(bearer, { refresh_token })
    const remove = (body: object) =>
      service.call('DELETE', `/api/v1/auth/passkeys/${id}`, body, { ...newClient(), bearer })
    expectRefusal(await ask('registration/options', {}, bearer), 'validation_failed')
    expectRefusal(await ask('registration/options', { refresh_token: 'x' }, bearer), 'validation_failed')
    expectRefusal(await remove({}), 'validation_failed')
    const answers = await race([service], () => ask('registration/options', { refresh_token }, bearer))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await remove({ refresh_token })).status).toBe(200)
    expect((await service.post('refresh', { refresh_token }, newClient())).status).toBe(200)
  })

  test('by a passkey that was added without the password nothing changes for a day', async () => {
    const { bearer, refresh_token } = await signIn()
    const { passkey, id } = await addPasskey(bearer, { refresh_token })
    const proving = operations.filter(({ path }) => !/disable|recovery-codes|export|^me$/.test(path))
    const tryAll = async () => {
      const answers: string[] = []
      for (const { method, path } of proving) {
        const body = { ...bodies[path]?.(), ...(await stepUp(bearer, passkey)) }
        const options = { ...newClient(), bearer }
        answers.push(outcomeOf(await service.call(method, `/api/v1/auth/${path}`, body, options)))
      }
      return new Set(answers)
    }
    // A call that answers 404 or 409 in any case is refused before the signature is looked at.
    const early = [...(await tryAll())].filter((outcome) => !/^40[49]/.test(outcome))
    expect(early).toEqual([refusedBy('passkey_too_new')])
    const login = await ask('login/options', {})
    const credential = signWithPasskey(passkey, login.body.options, ORIGIN)
    const opened = (await ask('login', { credential })).body
    const asked = { refresh_token: opened.refresh_token }
    expectRefusal(await ask('registration/options', asked, opened.access_token), 'validation_failed')
    const remove = await service.call('DELETE', `/api/v1/auth/passkeys/${id}`, asked, {
      ...newClient(),
      bearer: opened.access_token,
    })
    expectRefusal(remove, 'validation_failed')
    service.clock.advance(24 * HOUR)
    const { body } = await service.post('refresh', { refresh_token }, newClient())
    const later = await service.post(
      'email/change',
      { email: newEmail(), ...(await stepUp(body.access_token, passkey)) },
      { ...newClient(), bearer: body.access_token },
    )
    expect(later.status).toBe(201)
  })

  test('one that was added with the password, or by such a one, confirms at once', async () => {
    const { bearer } = await signIn()
    const { passkey } = await addPasskey(bearer, { password: PASSWORD })
    const second = await addPasskey(bearer, await stepUp(bearer, passkey))
    for (const one of [passkey, second.passkey]) {
      const body = { email: newEmail(), ...(await stepUp(bearer, one)) }
      expect((await service.post('email/change', body, { ...newClient(), bearer })).status).toBe(201)
      service.clock.advance(HOUR / 6)
    }
  })
})
