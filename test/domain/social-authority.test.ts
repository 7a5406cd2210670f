/** Providers of the operator's own: for which addresses their word opens, or makes, an account. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, testsOn } from '../helpers/service.ts'
import { createSocialBrowser, socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'

setDefaultTimeout(30_000)

const at = (domain: string) => newEmail().replace(/@.*/, `@${domain}`)

/** The provider p1 answers for example.com, p2 for nobody. */
function settingsFor(providers: PretendProvider[], social: object = {}) {
  const settings = socialSettings(...providers.map(({ issuer }) => issuer))
  const [own, other] = settings.social!.providers as Record<string, unknown>[]
  own!.authoritative_for = ['example.com', 'example.net']
  if (other) delete other.authoritative_for
  return { social: { ...settings.social, ...social } }
}

describe.each(racingShapes)('sign-in by a provider of the operator on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const [own, other] = [use(startPretendProvider), use(startPretendProvider)]
  const service = use(() => startService({ shape, settings: settingsFor([own, other]) }), own)
  const browser = createSocialBrowser(service)

  const signIn = (provider: 'p1' | 'p2', email: string) => {
    const people = { p1: own, p2: other }
    people[provider].present(newPerson({ email, email_verified: true }))
    return browser.signIn(provider)
  }

  test('opens the account that verified an address of its domains, and no other domain’s', async () => {
    const [inside, outside] = [
      await service.signUp(at('example.net')),
      await service.signUp(at('sub.example.net')),
    ]
    const { account } = await service.logIn(inside)
    expect((await signIn('p1', inside.identifier)).body.account.id).toBe(account.id)
    for (const [provider, person] of [
      ['p1', outside],
      ['p2', outside],
      ['p2', inside],
    ] as const) {
      const { status, body } = await signIn(provider, person.identifier)
      expect([status, body.code]).toEqual([409, 'account_exists'])
    }
  })

  raced(
    '32 first sign-ins at once to an account that it may not open are refused, and change nothing',
    async () => {
      const owner = await service.signUp(at('example.com'))
      other.present(newPerson({ email: owner.identifier, email_verified: true }))
      const codes = await Promise.all(Array.from({ length: 32 }, () => browser.obtainCode('p2')))
      const answers = await Promise.all(codes.map((code) => service.post('social/exchange', code)))
      expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['account_exists']))
      const { access_token } = await service.logIn(owner)
      expect((await service.get('identities', { bearer: access_token })).body.identities).toEqual([])
    },
  )

  rule(
    'a new account keeps another address as an unverified contact, which its owner registers all the same',
    async () => {
      const email = at('example.org')
      const { account } = (await signIn('p2', email)).body
      expect(account).toMatchObject({ email, account_confirmed: true, provider: 'p2', password_digest: '' })
      await service.post('password/forgot', { identifier: email })
      await service.delivered()
      expect(service.inbox.textsTo(email)).toEqual([])

      await service.post('register', registration(email))
      const otp = await service.inbox.nextCode(email)
      expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
      const owner = await service.logIn({ identifier: email, password: PASSWORD })
      expect(owner.account.id).not.toBe(account.id)
    },
  )

  rule(
    'a registration that waits is taken over only by a provider that answers for the address',
    async () => {
      const email = at('example.com')
      await service.post('register', registration(email))
      const otp = await service.inbox.nextCode(email)
      const claimed = (await signIn('p2', email)).body.account
      expect(claimed).toMatchObject({ email, provider: 'p2' })
      const taken = (await signIn('p1', email)).body.account
      expect(taken).toMatchObject({ email, provider: 'p1', password_digest: '' })
      expect(taken.id).not.toBe(claimed.id)
      expectRefusal(await service.post('verify-account', { identifier: email, otp }), 'invalid_code')
    },
  )
})

test('with social.link_by_email = "never" no provider opens an account by its e-mail; new ones are as they were', async () => {
  await using provider = await startPretendProvider()
  await using service = await startService({ settings: settingsFor([provider], { link_by_email: 'never' }) })
  const browser = createSocialBrowser(service)
  const owner = await service.signUp(at('example.com'))
  provider.present(newPerson({ email: owner.identifier, email_verified: true }))
  expectRefusal(await browser.signIn(), 'account_exists')
  const id_token = await provider.idToken('n')
  expectRefusal(await service.post('social/p1/token', { id_token, nonce: 'n' }), 'account_exists')

  const email = at('example.com')
  provider.present(newPerson({ email, email_verified: true }))
  expect((await browser.signIn()).body.account.email).toBe(email)
  await service.post('password/forgot', { identifier: email })
  expect(await service.inbox.nextCode(email)).toMatch(/^\d{6}$/)
})
