/**
 * Nothing but the password and then an app or a passkey opens the page of administration: every way in of the public
 * interface and of the pages is tried by an administrator.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import document from '../../docs/openapi.json'
import { createRegistrationService } from '../../src/domain/sign-in/registration/service.ts'
import { createSocialService } from '../../src/domain/sign-in/social/service.ts'
import { ADMIN_ORIGIN, asOperator, createPage, listening } from '../helpers/administration.ts'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp } from '../helpers/authenticator.ts'
import { countRows } from '../helpers/database.ts'
import { codeFor, entry, newCode, REDIRECT, redeem, redeemBySecret } from '../helpers/hand-over.ts'
import { openBrowser, PAGE_HOST, pageSettings } from '../helpers/page-browser.ts'
import { createPasskey, type SoftPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { mergeSettings, startService, type TestService } from '../helpers/service.ts'
import { createSocialBrowser, socialSettings } from '../helpers/social.ts'

setDefaultTimeout(60_000)

let service: TestService
let provider: PretendProvider
beforeAll(async () => {
  provider = await startPretendProvider()
  service = await startService({
    settings: mergeSettings(listening, socialSettings(provider.issuer), pageSettings, {
      pages: { applications: [{ id: 'web', name: 'Web', redirect_uris: [REDIRECT] }, entry('board')] },
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

async function signedInOnPages({ person, code }: Owner) {
  const browser = await openBrowser(service.url).open('/sign-in')
  await browser.press('Sign in', { identifier: person.identifier, password: PASSWORD })
  return browser.press('Sign in', { otp: await code(), trust: 'yes' })
}

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
  getApplicationTokens: async (owner) => {
    const browser = await signedInOnPages(owner)
    const { code, verifier } = await newCode(browser)
    const redeemed = await redeem(service, code, verifier)
    const other = await redeemBySecret(service, 'board', await codeFor(browser, 'board', { scope: 'openid' }))
    expect([redeemed.status, other.status]).toEqual([200, 200])
    return secretsIn([code, redeemed.body, other.body])
  },
  'the pages': async (owner) => {
    const browser = await signedInOnPages(owner)
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

/** Everything of the product that opens sessions, made with the policy: a way in that is new is tried by its line here. */
test('no way in opens a session where its services are made with the policy', async () => {
  const [owner, mailed] = [await everything(), await service.signUp(newEmail())]
  await asOperator(service, 'POST', 'administrators', { account: mailed.identifier, role: 'owner' })
  const { services } = service.inside
  const made = { ...services, ...services.strictSignIn }
  const strict = { ...made, social: createSocialService(made), registration: createRegistrationService(made) }
  const client = { address: '192.0.2.1', addressBucket: '192.0.2.1', language: 'en' as const }
  const laptop = { type: null, name: null, os: null, fingerprint: 'laptop' }
  const { person, code, passkey } = owner
  const { body } = await service.post('2fa/verify', {
    ...person,
    ...device,
    otp: await code(),
    trust_device: true,
  })
  const sentCode = async () => {
    await service.post('2fa/request-otp', { identifier: mailed.identifier })
    return service.inbox.nextCode(mailed.identifier)
  }
  const newcomer = newEmail()
  await service.post('register', registration(newcomer))
  const confirmation = {
    identifier: newcomer,
    otp: await service.inbox.nextCode(newcomer),
    password: PASSWORD,
    signsIn: true,
  }
  const { loginByCode, secondStep, social, login } = strict
  /** Somebody who came by a provider proves an app next. */
  const byProvider = async () => {
    const outcome = await social.exchange(await createSocialBrowser(service).obtainCode(), laptop, client)
    if ('signedIn' in outcome) return 'signed in'
    return secondStep.verify(outcome.due.loginToken, { otp: await code() }, laptop, client)
  }
  const { options } = (await service.post('passkeys/login/options', {})).body
  const forLogin = { ...signWithPasskey(passkey, options, ADMIN_ORIGIN), type: 'public-key' as const }
  const ways: [string, () => Promise<unknown>][] = [
    ['invalid_credentials', () => strict.passkeys.logIn(forLogin, laptop, client)],
    ['invalid_credentials', byProvider],
    ['invalid_credentials', () => strict.registration.confirm(confirmation, laptop, client)],
    ['due', () => login.logIn(person, { ...laptop, trust: body.device_token }, client)],
    ['due', () => login.logIn(mailed, laptop, client)],
    [
      'invalid_code',
      async () =>
        loginByCode.verify({ identifier: mailed.identifier, otp: await sentCode() }, laptop, client),
    ],
    [
      'two_factor_required',
      async () => loginByCode.verify({ ...mailed, otp: await sentCode() }, laptop, client),
    ],
    ['invalid_code', () => loginByCode.verify({ ...person, otp: owner.recoveryCodes[0]! }, laptop, client)],
  ]
  const before = await countRows(service, 'sessions')
  const outcomes: string[] = []
  for (const [, way] of ways)
    outcomes.push(
      await way().then(
        (outcome) => Object.keys(outcome as object)[0]!,
        (error: { errorCode?: string }) => error.errorCode ?? String(error),
      ),
    )
  expect(outcomes).toEqual(ways.map(([expected]) => expected))
  expect(await countRows(service, 'sessions')).toBe(before)
})

interface Described {
  operationId: string
  responses?: Record<string, unknown>
}
