/**
 * Nothing but the password and then an app or a passkey opens the page of administration: every way in of the public
 * interface and of the pages is tried by an administrator, with limits on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import document from '../../docs/openapi.json'
import { ADMIN_ORIGIN, asOperator, createPage, listening } from '../helpers/administration.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp } from '../helpers/authenticator.ts'
import { openBrowser, PAGE_HOST, pageSettings } from '../helpers/page-browser.ts'
import { createPasskey, type SoftPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { mergeSettings, startService, type TestService } from '../helpers/service.ts'
import { createSocialBrowser, socialSettings } from '../helpers/social.ts'

let service: TestService
let provider: PretendProvider
beforeAll(async () => {
  provider = await startPretendProvider()
  service = await startService({
    settings: mergeSettings(listening, socialSettings(provider.issuer), pageSettings, {
      passkeys: { rp_id: 'example.com', origins: [`https://${PAGE_HOST}`] },
      two_factor: { trust_device: '30d' },
    }),
  })
}, 60_000)
afterAll(async () => {
  await service?.close()
  await provider?.stop()
})

const origin = `https://${PAGE_HOST}`

/** An owner of everything with an app, a passkey that is no news, and a provider. */
async function everything() {
  const email = newEmail()
  const { person, bearer, secret, recoveryCodes } = await protectByApp(service, email)
  const code = async () => {
    service.clock.advance(PERIOD_MS)
    return appCode(secret, service.clock.now())
  }
  const proof = { password: PASSWORD, otp: await code() }
  const creation = await service.post('passkeys/registration/options', proof, { bearer })
  const { passkey, credential } = createPasskey(creation.body.options, origin)
  expect((await service.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
  provider.present(newPerson({ email, email_verified: true }))
  expect((await createSocialBrowser(service).signIn('p1')).status).toBe(202)
  const { body } = await asOperator(service, 'POST', 'administrators', { account: email, role: 'owner' })
  return { person, uuid: body.administrator.uuid as string, code, passkey, recoveryCodes, bearer }
}
type Owner = Awaited<ReturnType<typeof everything>>

const signedFor = async (passkey: SoftPasskey, path: string, more: object = {}) =>
  signWithPasskey(passkey, (await service.post(path, {}, more)).body.options, origin)

/** Everything opaque that an answer holds. */
const secretsIn = (body: object): string[] =>
  Object.values(body)
    .flatMap((value) =>
      typeof value === 'string' ? [value] : value && typeof value === 'object' ? secretsIn(value) : [],
    )
    .filter((text) => /^[\w.-]{22,}$/.test(text))

const device = { device_fingerprint: 'laptop' }

/** By the operation that gives tokens, or asks for the second factor: what each gives to its owner. */
const waysIn: Record<string, (owner: Owner) => Promise<string[]>> = {
  logIn: async ({ person }) => secretsIn((await service.post('login', person)).body),
  signInWithCode: async ({ person, code }) =>
    secretsIn(
      (await service.post('2fa/verify', { ...person, ...device, otp: await code(), trust_device: true }))
        .body,
    ),
  refresh: async ({ person, code }) => {
    const { body } = await service.post('2fa/verify', { ...person, otp: await code() })
    return secretsIn((await service.post('refresh', { refresh_token: body.refresh_token })).body)
  },
  logInWithPasskey: async ({ passkey }) =>
    secretsIn(
      (
        await service.post('passkeys/login', {
          credential: await signedFor(passkey, 'passkeys/login/options'),
        })
      ).body,
    ),
  exchangeSocialCode: async () => secretsIn((await createSocialBrowser(service).signIn('p1')).body),
  signInNatively: async () =>
    secretsIn(
      (await service.post('social/p1/token', { id_token: await provider.idToken('n'), nonce: 'n' })).body,
    ),
  'the pages': async ({ person, code }) => {
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: PASSWORD })
    await browser.press('Sign in', { otp: await code(), trust: 'yes' })
    expect([...browser.cookies.keys()]).toContain('__Host-poterne')
    return [...browser.cookies.values()]
  },
}

/** Every spelling in which the page might take it for its own. */
const spellings = (text: string) => [
  text,
  ...(/^[0-9a-f]{64}$/.test(text) ? [Buffer.from(text, 'hex').toString('base64url')] : []),
]

describe('the page of administration', () => {
  test('is tried by every operation that signs somebody in', () => {
    const signing = Object.values(document.paths as Record<string, Record<string, Described>>)
      .flatMap((methods) => Object.values(methods))
      .filter(({ responses = {} }) =>
        /SignedIn|access_token/.test(JSON.stringify([responses['200'], responses['202']])),
      )
      .map(({ operationId }) => operationId)
    expect([...signing, 'the pages'].sort()).toEqual(Object.keys(waysIn).sort())
  })

  test.each(Object.entries(waysIn))('takes nothing that %s gives', async (_, give) => {
    const owner = await everything()
    const given = await give(owner)
    expect(given.length).toBeGreaterThan(0)
    for (const secret of given.flatMap(spellings)) {
      const page = createPage(service)
      page.cookie = `__Host-poterne_admin=${secret}`
      expectRefusal(await page.call('GET', 'session'), 'invalid_token')
      expectRefusal(await page.call('POST', 'session/app'), 'invalid_token')
      expectRefusal(await page.call('POST', 'session/passkey'), 'invalid_token')
      // A right code is not used up by it either.
      const otp = await owner.code()
      expectRefusal(await page.call('POST', 'session/verify', { otp }), 'invalid_token')
      const own = createPage(service)
      await own.call('POST', 'session', owner.person)
      expect((await own.call('POST', 'session/verify', { otp })).status).toBe(200)
    }
  })

  test('takes no second factor behind the password but those two, made for it', async () => {
    const owner = await everything()
    const page = createPage(service)
    expect((await page.call('POST', 'session', owner.person)).body.methods).toEqual(['passkey', 'totp'])
    const [otp] = owner.recoveryCodes
    expectRefusal(await page.call('POST', 'session/verify', { otp }), 'invalid_code')
    const step = await signedFor(owner.passkey, 'passkeys/step-up/options', { bearer: owner.bearer })
    const login = await signedFor(owner.passkey, 'passkeys/login/options')
    for (const credential of [step, login])
      expectRefusal(await page.call('POST', 'session/verify', { credential }), 'invalid_passkey')
    const { options } = (await page.call('POST', 'session/passkey')).body
    const ofPages = signWithPasskey(owner.passkey, options, origin)
    expectRefusal(await page.call('POST', 'session/verify', { credential: ofPages }), 'invalid_passkey')
    const credential = signWithPasskey(owner.passkey, options, ADMIN_ORIGIN)
    // It was made for this sign-in, and not for another one of the same person.
    const other = createPage(service)
    await other.call('POST', 'session', owner.person)
    expectRefusal(await other.call('POST', 'session/verify', { credential }), 'invalid_passkey')
    expect((await page.call('POST', 'session/verify', { credential })).status).toBe(200)
  })

  test('gives nothing that opens the public interface or a page', async () => {
    const { person, code } = await everything()
    const page = createPage(service)
    await page.call('POST', 'session', person)
    const token = page.cookie!.split('=')[1]!
    expectRefusal(
      await service.post('2fa/verify', { ...person, password: null, otp: await code(), login_token: token }),
      'login_expired',
    )
    expect((await page.call('POST', 'session/verify', { otp: await code() })).status).toBe(200)
    const cookie = page.cookie!.split('=')[1]!
    for (const secret of [cookie, Buffer.from(cookie, 'base64url').toString('hex')]) {
      expectRefusal(await service.post('refresh', { refresh_token: secret }), 'invalid_token')
      expectRefusal(await service.get('me', { bearer: secret }), 'invalid_token')
      const browser = openBrowser(service.url)
      browser.cookies.set('__Host-poterne', secret)
      expect((await browser.open('/account')).path).toBe('/sign-in')
    }
    expect((await page.call('GET', 'session')).status).toBe(200)
  })
})

interface Described {
  operationId: string
  responses?: Record<string, unknown>
}
