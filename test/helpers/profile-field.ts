/** The flow of test/domain/profile-field.test.ts, in a process of its own: it changes a list that modules read once. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { profileFields } from '../../src/platform/postgres/schema.ts'

setDefaultTimeout(60_000)

// Everything below is loaded after this, and makes its schemas of the longer list.
Object.assign(profileFields, { nickname: { description: 'A short name', autocomplete: 'nickname' } })
const { listening, operatorOf } = await import('./administration.ts')
const { newEmail, registration } = await import('./api-client.ts')
const { startService } = await import('./service.ts')
const { createConfigDirectory } = await import('./config.ts')
const { codeFor, entry, redeemBySecret, userinfo } = await import('./hand-over.ts')
const { openBrowser, pageSettings } = await import('./page-browser.ts')

const settings = {
  ...pageSettings,
  ...listening,
  pages: { enabled: true, applications: [entry('grafana')] },
}

test('it is in every body, answer, export, page and claim', async () => {
  const service = await startService({ shape: 'postgres', settings })
  try {
    const call = operatorOf(service)
    const identifier = newEmail()
    const registered = registration(identifier)
    await service.post('register', { ...registered, profile: { nickname: 'first' } })
    const otp = await service.inbox.nextCode(identifier)
    expect((await service.post('verify-account', { identifier, otp })).status).toBe(201)
    const { access_token: bearer, account } = await service.logIn({ ...registered, identifier })
    const shown = async () => (await service.get('me', { bearer })).body.profile.nickname
    expect(await shown()).toBe('first')

    const changed = await service.call(
      'PATCH',
      '/api/v1/auth/me',
      { profile: { nickname: 'second' } },
      { bearer },
    )
    expect(changed.body.profile).toEqual({ nickname: 'second' })
    const path = `accounts/${account.uuid}`
    expect((await call('PATCH', path, { profile: { nickname: 'third' } })).status).toBe(200)
    const answers = [await call('GET', path), await call('GET', `accounts?query=${identifier}`)]
    expect([answers[0]!.body.account, answers[1]!.body.items[0]].map(({ profile }) => profile)).toEqual(
      Array(2).fill({ nickname: 'third' }),
    )
    expect((await call('GET', `${path}/export`)).body.profile).toEqual({ nickname: 'third' })

    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password: registered.password })
    await browser.open('/account/profile')
    expect(browser.html).toContain('autocomplete="nickname"')
    expect(browser.html).toContain('value="third"')
    await browser.press('Enregistrer', { nickname: 'fourth' })
    expect(await shown()).toBe('fourth')
    const issuer = await (await fetch(`${service.url}/oauth2/.well-known/openid-configuration`)).json()
    expect(issuer).toMatchObject({ claims_supported: expect.arrayContaining(['nickname']) })
    const code = await codeFor(browser, 'grafana', { scope: 'openid profile' })
    const { body: tokens } = await redeemBySecret(service, 'grafana', code)
    expect(decodeJwt(tokens.id_token).nickname).toBe('fourth')
    expect((await userinfo(service, tokens.access_token)).body.nickname).toBe('fourth')
    const directory = createConfigDirectory()
    const wrong = '[[pages.applications]]\nid = "app"\nclaims.nickname.value = "x"\n'
    directory.write('config.toml', wrong)
    expect(directory.problemsOf().join()).toContain('nickname: this name is reserved')
    directory.remove()

    const [imported] = (
      await call('POST', 'accounts/import', {
        records: [{ email: newEmail(), profile: { nickname: 'fifth' } }],
      })
    ).body.results
    expect((await call('GET', `accounts/${imported.uuid}`)).body.account.profile).toEqual({
      nickname: 'fifth',
    })
    const described = await (await fetch(`${service.url}/swagger/json`)).text()
    expect(described.match(/"nickname"/g)!.length).toBeGreaterThan(1)
  } finally {
    await service.close()
  }
})
