/** The server secret changes, and nobody notices: sessions, apps, codes and sign-ins under way go on, limits count on. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { createSecretStore } from '../../src/domain/credentials/secrets/store.ts'
import { createRefreshTokens } from '../../src/domain/sessions/tokens/refresh-token.ts'
import { createChallenges } from '../../src/domain/sign-in/passkeys/challenge.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { previousFileIn, rotateSecretFile } from '../../src/platform/secret-file.ts'
import { createApiClient, newEmail } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { createFrozenClock, from, newClient, startLimited } from '../helpers/limited-service.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import {
  createStorage,
  deliverySettings,
  differingShapes,
  mergeSettings,
  type Settings,
  type Shape,
  type TestClock,
  type TestService,
} from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'

setDefaultTimeout(60_000)

const [ONE, OTHER] = ['ab'.repeat(32), 'cd'.repeat(32)] as [string, string]
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]
const DEVICE = { device_fingerprint: 'the-own-device' }
const CROWDED = from('198.51.100.7')

const rules: Settings = {
  codes: { attempts_per_day: 4 },
  limits: { login_failures: 3 },
}

/** The provider goes by the true time; the budgets of the day must not begin anew meanwhile. */
function today(): TestClock {
  const clock = createFrozenClock()
  const toMidnightMs = DAY_MS - (clock.now().getTime() % DAY_MS)
  if (toMidnightMs < 10 * MINUTE_MS) clock.advance(toMidnightMs)
  return clock
}

interface Setting {
  shape: Shape
  storage: Settings
  clock: TestClock
  provider: PretendProvider
}

function start({ shape, storage, clock, provider }: Setting, secrets: string[], settings?: Settings) {
  const [secret, ...previous_secrets] = secrets
  const server = shape === 'embedded' ? {} : { server: { secret, previous_secrets } }
  const all = mergeSettings(rules, socialSettings(provider.issuer), server, settings)
  return startLimited({ shape, storage, clock, settings: all })
}

/** A wrong code for that name, from a client that nobody knows. */
async function guess(service: TestService, identifier: string): Promise<string> {
  const form = { password: 'another long password', password_confirmation: 'another long password' }
  const body = { identifier, otp: '000000', ...form }
  return (await service.post('password/reset', body, newClient())).body.code
}

/** People who are in the middle of something. */
async function begin(service: TestService, { clock, provider }: Setting) {
  const guarded = await protectByApp(service)
  clock.advance(MINUTE_MS)
  const begun = await service.post('login', guarded.person)
  const owner = await service.signUp(newEmail())
  const session = await service.logIn(owner, DEVICE)
  // Their address is closed by a neighbour; only their own device still gets in from there.
  for (let count = 0; count < 3; count++) {
    await service.post('login', { ...owner, password: 'wrong' }, CROWDED)
  }
  const forgetful = await service.signUp(newEmail())
  const otp = await service.askCode('password/forgot', forgetful.identifier)
  const names = [(await service.signUp(newEmail())).identifier, newEmail()]
  for (const name of names) await guess(service, name)
  const browser = createSocialBrowser(service)
  const { challenge, verifier } = newPkce()
  provider.present(newPerson({ email: newEmail(), email_verified: true }))
  const { location, cookie } = await browser.begin('p1', { challenge, verifier })
  const social = { callback: await browser.visit(location), cookie, verifier }
  return {
    guarded,
    login_token: begun.body.two_factor.login_token,
    owner,
    session,
    forgetful,
    otp,
    names,
    social,
  }
}

async function goOn(service: TestService, state: Awaited<ReturnType<typeof begin>>, { clock }: Setting) {
  const { guarded, login_token, owner, session, forgetful, otp, names, social } = state
  const { identifier } = guarded.person
  const refreshed = await service.post('refresh', { refresh_token: session.refresh_token })
  expect(refreshed.status).toBe(200)
  expect((await service.get('me', { bearer: session.access_token })).status).toBe(200)
  const code = appCode(guarded.secret, clock.now())
  // The call comes from elsewhere, so that nothing but the token shows that the password was right.
  const verify = { identifier, otp: code, login_token }
  expect((await service.post('2fa/verify', verify, newClient())).status).toBe(200)
  const recovery = { ...guarded.person, otp: guarded.recoveryCodes[0] }
  expect((await service.post('2fa/verify', recovery)).status).toBe(200)
  expect((await service.post('login', owner, CROWDED)).body.code).toBe('too_many_requests')
  expect((await service.post('login', { ...owner, ...DEVICE }, CROWDED)).status).toBe(200)
  const chosen = { password: 'another long password', password_confirmation: 'another long password' }
  const reset = await service.post('password/reset', { identifier: forgetful.identifier, otp, ...chosen })
  expect(reset.status).toBe(200)
  for (const name of names) {
    const answers = []
    for (let count = 0; count < 4; count++) answers.push(await guess(service, name))
    expect(answers).toEqual(['invalid_code', 'invalid_code', 'invalid_code', 'too_many_attempts'])
  }
  const browser = createSocialBrowser(service)
  const back = await browser.comeBack(social.callback, social.cookie)
  const grant = back.location?.searchParams.get('code')
  expect((await browser.exchange(grant!, social.verifier)).status).toBe(200)
  return refreshed.body.refresh_token as string
}

const previousOf = async (service: TestService) => (await service.inside.services.secrets.status()).previous

/** The others in a soak: what is sealed lies in the same tables. */
const changed = reduced<Shape[]>(['redis'], differingShapes)
const changing = reduced<Shape[]>(['redis'], ['postgres', 'redis'])

describe.each(changed)('on %s', (shape) => {
  test('a session, an app, a code and a sign-in under way survive a change of the secret, and so does what is counted', async () => {
    const stores = await createStorage(shape)
    const clock = today()
    const provider = await startPretendProvider()
    const setting = { shape, storage: stores.settings, clock, provider }
    const dataDir = stores.settings.storage?.data_dir as string
    const before = await start(setting, [ONE])
    const state = await begin(before, setting)
    await before.close()
    if (shape === 'embedded') rotateSecretFile(dataDir)

    const changed = await start(setting, [OTHER, ONE])
    let token = await goOn(changed, state, setting)
    // It is sure then that no other replica uses the former secret.
    clock.advance(3 * MINUTE_MS)
    await changed.inside.services.secrets.run()
    const [former] = await previousOf(changed)
    expect(former!.rows).toEqual({ signing_keys: 0, authenticator_apps: 0, lasting_keys: 0 })
    expect(former!.sessions).toBeGreaterThan(0)
    expect(former!.removableAt!.getTime()).toBeGreaterThan(clock.now().getTime())
    clock.advance(MINUTE_MS)
    token = (await changed.post('refresh', { refresh_token: token })).body.refresh_token
    await changed.close()
    if (shape === 'embedded') rmSync(previousFileIn(dataDir))

    const after = await start(setting, [OTHER])
    expect((await after.post('refresh', { refresh_token: token })).status).toBe(200)
    const code = appCode(state.guarded.secret, clock.now())
    expect((await after.post('2fa/verify', { ...state.guarded.person, otp: code })).status).toBe(200)
    expect(await after.inside.services.authenticators.countLost()).toBe(0)
    for (const name of state.names) expect(await guess(after, name)).toBe('too_many_attempts')
    await after.close()
    await provider.stop()
    await stores.drop()
  })
})

describe.each(changing)('on %s, in the middle of a change', (shape) => {
  test('two replicas with different secrets of their own take what the other one gave', async () => {
    const stores = await createStorage(shape)
    const clock = today()
    const provider = await startPretendProvider()
    const setting = { shape, storage: stores.settings, clock, provider }
    const waiting = await start(setting, [ONE, OTHER])
    const changed = await start(setting, [OTHER, ONE], deliverySettings(waiting.smtp, waiting.gateway))
    const nextCode = waiting.inbox.nextCode
    for (const [giver, taker] of [
      [waiting, changed],
      [changed, waiting],
    ] as const) {
      const at = { ...giver, ...createApiClient(giver.url, waiting.inbox) }
      const guarded = await protectByApp(at)
      clock.advance(MINUTE_MS)
      const { login_token } = (await giver.post('login', guarded.person)).body.two_factor
      const otp = appCode(guarded.secret, clock.now())
      const verify = { identifier: guarded.person.identifier, otp, login_token }
      expect((await taker.post('2fa/verify', verify, newClient())).status).toBe(200)
      const person = await at.signedIn()
      const session = await giver.logIn(person.person)
      const refreshed = await taker.post('refresh', { refresh_token: session.refresh_token })
      const again = await giver.post('refresh', { refresh_token: refreshed.body.refresh_token })
      expect([refreshed.status, again.status]).toEqual([200, 200])
      const { identifier } = person.person
      await giver.post('password/forgot', { identifier })
      const chosen = { password: 'another long password', password_confirmation: 'another long password' }
      const reset = { identifier, otp: await nextCode(identifier), ...chosen }
      expect((await taker.post('password/reset', reset)).status).toBe(200)
      for (const name of [identifier, newEmail()]) {
        const answers = []
        for (const asked of [giver, taker, giver, taker, giver]) answers.push(await guess(asked, name))
        expect(answers.slice(3)).toEqual(['invalid_code', 'too_many_attempts'])
      }
    }
    await waiting.inside.services.secrets.run()
    await changed.inside.services.secrets.run()
    const [atChanged] = await previousOf(changed)
    expect([atChanged!.isCurrentElsewhere, atChanged!.removableAt]).toEqual([true, null])
    expect(atChanged!.rows.authenticator_apps).toBe(1)
    await waiting.close()
    await changed.close()
    await provider.stop()
    await stores.drop()
  })
})

test('one replica at a time seals anew, another goes on where it was killed, and a code of an app is taken meanwhile', async () => {
  const stores = await createStorage('postgres')
  const clock = today()
  const provider = await startPretendProvider()
  const setting: Setting = { shape: 'postgres', storage: stores.settings, clock, provider }
  const before = await start(setting, [ONE])
  const guarded = await protectByApp(before)
  await before.close()
  const changed = await start(setting, [OTHER, ONE])
  const { authenticators, secrets } = changed.inside.services
  // The round of the start, which still finds the former secret in use.
  await secrets.run()
  clock.advance(3 * MINUTE_MS)
  const account = (await changed.inside.database.first(
    statement<object, { id: number; uuid: string }>(
      sql`select id, uuid from accounts where two_factor_enabled`,
    ),
    {},
  ))!
  const held = await authenticators.find({ ...account, twoFactorEnabled: true } as never)
  // The turn of a replica that was killed in the middle of it.
  const store = createSecretStore(changed.inside.database)
  const { current } = await secrets.status()
  const turnEnds = new Date(clock.now().getTime() + MINUTE_MS)
  const turns = await Promise.all(
    Array.from({ length: 32 }, () => store.claimRound(current, turnEnds, clock.now())),
  )
  expect(turns.filter(Boolean)).toHaveLength(1)
  await secrets.run()
  expect((await previousOf(changed))[0]!.rows.authenticator_apps).toBe(1)
  clock.advance(MINUTE_MS)
  await secrets.run()
  expect((await previousOf(changed))[0]!.rows.authenticator_apps).toBe(0)
  const code = appCode(guarded.secret, clock.now())
  expect(await authenticators.useAppCode(held, code)).toBe('right')
  expect(await authenticators.useAppCode(held, code)).toBe('spent')
  await changed.close()
  await provider.stop()
  await stores.drop()
})

test('a replica that does not accept the next secret yet is named, so that nobody makes it the current one', async () => {
  const stores = await createStorage('postgres')
  const clock = today()
  const provider = await startPretendProvider()
  const setting: Setting = { shape: 'postgres', storage: stores.settings, clock, provider }
  const late = await start(setting, [ONE])
  const ready = await start(setting, [ONE, OTHER])
  // The late one says every minute what it accepts: it has not since the ready one started.
  expect((await previousOf(ready))[0]).toMatchObject({ acceptedEverywhere: false, wasCurrent: false })
  clock.advance(3 * MINUTE_MS)
  await late.inside.services.secrets.run()
  expect((await previousOf(ready))[0]!.acceptedEverywhere).toBe(false)
  await late.close()
  clock.advance(3 * MINUTE_MS)
  expect((await previousOf(ready))[0]).toMatchObject({ acceptedEverywhere: true, wasCurrent: false })
  await ready.close()
  await provider.stop()
  await stores.drop()
})

test('a replica says in its log that another one does not accept its secret, once', async () => {
  const stores = await createStorage('postgres')
  const clock = today()
  const provider = await startPretendProvider()
  const setting: Setting = { shape: 'postgres', storage: stores.settings, clock, provider }
  const late = await start(setting, [ONE])
  const early = await start(setting, [OTHER, ONE])
  const warnings = () => early.log.filter((line) => line.includes('does not accept server.secret'))
  await early.inside.services.secrets.run()
  expect(warnings()).toEqual([])
  await late.inside.services.secrets.run()
  for (let i = 0; i < 2; i++) await early.inside.services.secrets.run()
  expect(warnings()).toHaveLength(1)
  expect(JSON.parse(warnings()[0]!)).toMatchObject({ level: 'warn' })
  await late.close()
  await early.close()
  await provider.stop()
  await stores.drop()
})

describe('what another accepted secret made', () => {
  const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const clock = { now: () => new Date(1_800_000_000_000) }

  test('opens, whether its box names the secret or is of a version that knew no names', () => {
    const boxes = [createServerSecret(one), createServerSecret(one, [other])].map((each) =>
      each.seal('x', 'text'),
    )
    expect(boxes.map((box) => createServerSecret(other, [one]).open('x', box))).toEqual(['text', 'text'])
    expect(createServerSecret(one).open('x', boxes[1]!)).toBe('text')
    for (const box of boxes) {
      expect(() => createServerSecret(other).open('x', box)).toThrow('opens under no accepted server secret')
      expect(() => createServerSecret(other, [one]).open('y', box)).toThrow()
    }
  })

  test('is read as a refresh token and as a challenge, and is written anew under the current one', () => {
    const made = createRefreshTokens(createServerSecret(one))
    const both = createRefreshTokens(createServerSecret(other, [one]))
    const token = made.create()
    expect(both.read(made.write(token))).toEqual(token)
    expect(made.read(both.write(token))).toBeNull()
    const challenge = createChallenges({ secret: createServerSecret(one), clock }).create({ kind: 'login' })
    const challenges = createChallenges({ secret: createServerSecret(other, [one]), clock })
    expect(challenges.open(challenge, { kind: 'login' })).not.toBeNull()
  })
})
