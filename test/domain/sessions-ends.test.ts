/**
 * Every way in which a session ends before its time, by 32 callers over two processes. Each living session that ends has
 * one event, with the cause, the actor and the request.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { sql } from 'drizzle-orm'
import { endAdministratorSessions } from '../../src/administration/administrators/store.ts'
import { type SessionEnd, sessionEnds } from '../../src/domain/foundation/events/event-data-schema.ts'
import { eventOrigin } from '../../src/domain/foundation/events/event-sql.ts'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { registeredStatements } from '../../src/platform/postgres/statement.ts'
import { addAdministrator, asOperator, createPage, listening } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, type Person, type SignedIn } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { multiplySessions } from '../helpers/database.ts'
import {
  authorizeAddress,
  basic,
  codeFor,
  entry,
  newCode,
  newVerifier,
  REDIRECT,
  redeem,
  redeemBySecret,
} from '../helpers/hand-over.ts'
import { openBrowser, type PageBrowser, pageSettings } from '../helpers/page-browser.ts'
import { race } from '../helpers/race.ts'
import { mergeSettings, type Shape, type TestService } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { useReplica, useService } from '../helpers/use-service.ts'

const root = join(import.meta.dir, '../..')
for (const pattern of ['src/**/*store*.ts', 'src/**/*-sql.ts'])
  for (const file of new Glob(pattern).scanSync({ cwd: root })) await import(join(root, file))

const settings = mergeSettings(listening, {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: {
    enabled: true,
    applications: [
      { id: 'web', name: 'Example', redirect_uris: [REDIRECT] },
      entry('grafana', { groups: ['staff'] }),
    ],
  },
})
const withClaim = mergeSettings(settings, {
  tokens: { claims: { login: { from: 'username', required: true } } },
})
const NEW_PASSWORD = 'an entirely new phrase'
const chosen = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }

/** Somebody with a session of a client, and a browser with two sessions of an application. */
interface Scene extends SignedIn {
  browser: PageBrowser
  browserId: string
  phone: string
}
type Call = (service: TestService, caller: number) => Promise<unknown>
interface Way {
  /** The statement that ends them, if that is not the name of the way. */
  by?: string
  cause: SessionEnd
  /** The number of sessions that end by it, those below a browser's session left out. */
  ends: number
  /** The number of those that end below a browser's session. */
  below: number
  /** Default: the account. */
  actor?: 'administrator' | 'operator'
  /** Prepares what ends the sessions, and returns the call that does it. */
  prepare(scene: Scene): Promise<Call>
}

/** The statements that end sessions and record none, since one event says that they end. */
const unrecorded: Record<string, string> = {
  'restore.end_sessions_again': 'backup.restored',
  'restore.lock_again': 'backup.restored',
  'sessions.end_everybodys': 'key.revoked',
}

interface EndedRow {
  id: string
  cause: string | null
  actor: string | null
  request: string | null
}
const living = statement<{ uuid: string; now: Date }, { id: string }>(sql`
  select sessions.id from sessions join accounts on accounts.id = account_id
   where uuid = ${param('uuid', 'uuid')} and revoked_at is null and expires_at > ${param('now', 'timestamptz')}`)
const endedSessions = statement<{ uuid: string }, { id: string }>(sql`
  select sessions.id from sessions join accounts on accounts.id = account_id
   where uuid = ${param('uuid', 'uuid')} and revoked_at is not null order by 1`)
const endEvents = statement<{ uuid: string }, EndedRow>(sql`
  select session_id as id, data ->> 'cause' as cause, actor_type as actor, request_id as request
    from events where type = 'session.ended' and account = ${param('uuid', 'uuid')} order by 1`)

const endingStatements = () =>
  registeredStatements()
    .filter(({ name }) => !name.startsWith('test.'))
    .filter(({ text }) => /update "sessions" set revoked_at/.test(text))

describe.each(reduced<Shape[]>(['postgres'], ['embedded', 'postgres']))('a session ends on %s', (shape) => {
  const service = useService({ shape, settings })
  const replica = useReplica(service, { shape, settings })
  /** The same stores, where who has no username gets no token. */
  const strict = useReplica(service, { shape, settings: withClaim })

  const operator = (method: string, path: string, body?: unknown) => asOperator(service, method, path, body)
  const remove = (at: TestService, path: string, bearer: string) =>
    at.call('DELETE', `/api/v1/auth/${path}`, {}, { bearer })

  async function enter(person: Person): Promise<PageBrowser> {
    const browser = await openBrowser(service.url).open('/sign-in')
    return browser.press('Sign in', { ...person })
  }

  /** The access token of an application of somebody else. */
  async function openOther({ browser, uuid }: Scene): Promise<string> {
    await operator('PATCH', `accounts/${uuid}`, { groups: ['staff'] })
    const code = await codeFor(browser, 'grafana')
    return (await redeemBySecret(service, 'grafana', code)).body.access_token
  }

  async function begin(): Promise<Scene> {
    const phone = newPhone()
    const signedIn = await service.signedIn()
    const { bearer, person } = signedIn
    await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
    await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, { bearer })
    const browser = await enter(person)
    const { sessions } = (await service.get('sessions', { bearer })).body
    const browserId = sessions.find(({ current }: { current: boolean }) => !current).id
    for (let count = 0; count < 2; count++) {
      const { code, verifier } = await newCode(browser)
      expect((await redeem(service, code, verifier)).status).toBe(200)
    }
    return { ...signedIn, browser, browserId, phone }
  }

  async function resetBy(identifier: string): Promise<Call> {
    const otp = await service.askCode('password/forgot', identifier)
    return (at) => at.post('password/reset', { identifier, otp, ...chosen })
  }

  async function undoOf(contact: string): Promise<Call> {
    await service.delivered()
    const t = /\/undo\?t=([\w-]{22})/.exec(service.inbox.textsTo(contact).at(-1) ?? '')?.[1] ?? ''
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return (at) => fetch(`${at.url}/undo`, { method: 'POST', headers, body: `t=${t}` })
  }

  const signingInAgain =
    (person: Person): Way['prepare'] =>
    async ({ browser }) => {
      await browser.open(authorizeAddress(newVerifier(), { prompt: 'login' }))
      return (_, caller) =>
        caller === 0 ? browser.press('Sign in', { ...person }) : Promise.resolve(undefined)
    }

  const ways: Record<string, Way> = {
    'sessions.end': {
      ...{ cause: 'sign_out', ends: 1, below: 2 },
      prepare:
        async ({ bearer, browserId }) =>
        (at) =>
          remove(at, `sessions/${browserId}`, bearer),
    },
    'sessions.end_all': {
      ...{ cause: 'sign_out_all', ends: 4, below: 0 },
      prepare:
        async ({ bearer }) =>
        (at) =>
          at.post('logout-all', {}, { bearer }),
    },
    'sessions.end_family': {
      ...{ cause: 'sign_out', ends: 1, below: 0 },
      prepare:
        async ({ refresh_token }) =>
        (at) =>
          at.post('logout', { refresh_token }),
    },
    'sessions.end_reused': {
      ...{ cause: 'reuse', ends: 1, below: 0 },
      async prepare({ refresh_token }) {
        await service.post('refresh', { refresh_token })
        service.clock.advance(31_000)
        return (at) => at.post('refresh', { refresh_token })
      },
    },
    'sessions.end_oldest': {
      ...{ cause: 'too_many', ends: 2, below: 2 },
      async prepare({ person }) {
        service.clock.advance(1000)
        await service.logIn(person)
        // Those that were there before, and are the oldest, are the client's and the browser's.
        await multiplySessions(service, 98)
        return (at, caller) => (caller === 0 ? at.logIn(person) : Promise.resolve(undefined))
      },
    },
    'sessions.end_at_application': {
      ...{ cause: 'application', ends: 1, below: 0 },
      async prepare({ browser }) {
        const { code, verifier } = await newCode(browser)
        return () => redeem(strict, code, verifier)
      },
    },
    'browser_sessions.end': {
      ...{ cause: 'sign_out', ends: 1, below: 2 },
      prepare:
        async ({ browser }) =>
        () =>
          browser.post('/sign-out', {}),
    },
    'applications.redeem_code': {
      ...{ cause: 'too_many', ends: 1, below: 0 },
      async prepare({ browser }) {
        const again = async () => {
          const { code, verifier } = await newCode(browser)
          return redeem(service, code, verifier)
        }
        for (let count = 0; count < 3; count++) await again()
        return (_, caller) => (caller === 0 ? again() : Promise.resolve(undefined))
      },
    },
    'applications.end_reused': {
      ...{ cause: 'reuse', ends: 1, below: 0 },
      async prepare({ browser }) {
        const { code, verifier } = await newCode(browser)
        await redeem(service, code, verifier)
        service.clock.advance(11_000)
        return (at) => redeem(at, code, verifier)
      },
    },
    'applications.revoke': {
      ...{ cause: 'sign_out', ends: 1, below: 0 },
      async prepare(scene) {
        const body = new URLSearchParams({ token: await openOther(scene) })
        return (at) => fetch(`${at.url}/oauth2/revoke`, { method: 'POST', headers: basic('grafana'), body })
      },
    },
    'administration_accounts.end_closed': {
      ...{ cause: 'application', ends: 1, below: 0, actor: 'operator' },
      async prepare(scene) {
        await openOther(scene)
        return (at) => asOperator(at, 'PATCH', `accounts/${scene.uuid}`, { groups: [] })
      },
    },
    'two factors with codes': {
      ...{ by: 'sessions.end_by_two_factor', cause: 'two_factor', ends: 3, below: 0 },
      async prepare({ bearer, person }) {
        await service.post('2fa/enable', { password: PASSWORD }, { bearer })
        const otp = await service.inbox.nextCode(person.identifier)
        return (at) => at.post('2fa/enable/confirm', { otp }, { bearer })
      },
    },
    'an app': {
      ...{ by: 'sessions.end_by_two_factor', cause: 'two_factor', ends: 3, below: 0 },
      async prepare({ bearer }) {
        const { secret } = (await service.post('2fa/totp', { password: PASSWORD }, { bearer })).body
        const otp = appCode(secret, service.clock.now())
        return (at) => at.post('2fa/totp/confirm', { otp }, { bearer })
      },
    },
    'locking by administration': {
      ...{ by: 'sessions.end_by_lock', cause: 'lock', ends: 4, below: 0, actor: 'operator' },
      prepare:
        async ({ uuid }) =>
        (at) =>
          asOperator(at, 'PATCH', `accounts/${uuid}`, { locked: true }),
    },
    'a new password': {
      ...{ by: 'sessions.end_by_password', cause: 'password', ends: 3, below: 0 },
      prepare:
        async ({ bearer }) =>
        (at) =>
          at.post('password/change', { current_password: PASSWORD, ...chosen }, { bearer }),
    },
    'a reset by e-mail': {
      ...{ by: 'sessions.end_by_password', cause: 'password', ends: 4, below: 0 },
      prepare: ({ person }) => resetBy(person.identifier),
    },
    'a reset by phone': {
      ...{ by: 'sessions.end_by_password', cause: 'password', ends: 4, below: 0 },
      prepare: ({ phone }) => resetBy(phone),
    },
    'a reset by an access code': {
      ...{ by: 'sessions.end_by_password', cause: 'password', ends: 4, below: 0 },
      async prepare({ uuid }) {
        const { code } = (await operator('POST', `accounts/${uuid}/access-code`, {})).body
        return (at) => at.post('password/reset', { identifier: uuid, otp: code, ...chosen })
      },
    },
    'an undo link to an address': {
      ...{ by: 'sessions.end_by_undo', cause: 'undo', ends: 4, below: 0 },
      async prepare({ bearer, person }) {
        const email = newEmail()
        await service.post('email/change', { email, password: PASSWORD }, { bearer })
        await service.post('email/confirm', { otp: await service.inbox.nextCode(email) }, { bearer })
        return undoOf(person.identifier)
      },
    },
    'an undo link to a phone': {
      ...{ by: 'sessions.end_by_undo', cause: 'undo', ends: 4, below: 0 },
      async prepare({ bearer, phone: before }) {
        const phone = newPhone()
        await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
        await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, { bearer })
        return undoOf(before)
      },
    },
    'browser_sessions.replace': {
      ...{ cause: 'browser', ends: 1, below: 0 },
      prepare: (scene) => signingInAgain(scene.person)(scene),
    },
  }

  async function expectEnds(
    uuid: string,
    before: string[],
    { cause, ends, below, actor }: Omit<Way, 'prepare'>,
  ) {
    const { database } = service.inside
    const ended = (await database.all(endedSessions, { uuid })).map(({ id }) => id)
    const events = await database.all(endEvents, { uuid })
    expect(events.map(({ id }) => id)).toEqual(ended)
    expect(ended.every((id) => before.includes(id))).toBeTrue()
    expect(events.map((event) => event.cause).sort()).toEqual(
      [...Array(ends).fill(cause), ...Array(below).fill('browser')].sort(),
    )
    for (const event of events) {
      expect(event.actor).toBe(actor ?? 'account')
      expect(event.request).toMatch(/^[\da-f-]{36}$/)
    }
  }

  const livingOf = async (uuid: string) =>
    (await service.inside.database.all(living, { uuid, now: service.clock.now() })).map(({ id }) => id)

  test.each(Object.entries(ways))('by %s', async (_, { prepare, ...way }) => {
    const scene = await begin()
    const call = await prepare(scene)
    const before = await livingOf(scene.uuid)
    await race([service, replica], call)
    // The session that a code opens and that ends at once was not there before.
    const isNew = way.cause === 'application'
    const now = isNew ? (await service.inside.database.all(endedSessions, scene)).map(({ id }) => id) : []
    await expectEnds(scene.uuid, [...before, ...now], way)
  })

  test('below a browser where somebody else signs in', async () => {
    const scene = await begin()
    const other = await service.signUp(newEmail())
    const before = await livingOf(scene.uuid)
    const call = await signingInAgain(other)(scene)
    await call(service, 0)
    await expectEnds(scene.uuid, before, { cause: 'browser', ends: 1, below: 2 })
  })

  test('by administrators.remove, on the page alone', async () => {
    const { person, uuid } = await addAdministrator(service, 'support')
    await service.logIn(person)
    const page = createPage(service)
    await page.call('POST', 'session', person)
    const { secret } = (await page.call('POST', 'session/app')).body
    // Two factors that were turned on end what one factor had opened.
    await page.call('POST', 'session/verify', { otp: appCode(secret, service.clock.now()) })
    const { database } = service.inside
    const earlier = (await database.all(endEvents, { uuid })).map(({ id }) => id)
    // Of somebody who is an administrator still, the statement ends nothing.
    await database.run(endAdministratorSessions, {
      uuid,
      now: service.clock.now(),
      ...eventOrigin(),
    })
    expect(await livingOf(uuid)).toHaveLength(1)
    await race([service, replica], (at) => asOperator(at, 'DELETE', `administrators/${uuid}`))
    const events = (await database.all(endEvents, { uuid })).filter(({ id }) => !earlier.includes(id))
    expect(events).toEqual([
      { id: expect.any(String), cause: 'role', actor: 'operator', request: expect.any(String) },
    ])
    const ended = (await database.all(endedSessions, { uuid })).map(({ id }) => id)
    expect([...earlier, ...events.map(({ id }) => id)].sort()).toEqual(ended)
  })

  test('and one that was over already is no news', async () => {
    const { uuid, bearer } = await begin()
    const before = await livingOf(uuid)
    service.clock.advance(400 * 86_400_000)
    await operator('PATCH', `accounts/${uuid}`, { locked: true })
    expect(before).toHaveLength(4)
    expect(await service.inside.database.all(endEvents, { uuid })).toEqual([])
    expect((await service.get('me', { bearer })).status).toBe(401)
  })

  test('by a statement that is listed here with its cause, or says why it records nothing', () => {
    const causes = Object.fromEntries(
      endingStatements().map(({ name, text }) => [name, /\{"cause": "(\w+)"\}/.exec(text)?.[1] ?? null]),
    )
    const listed = Object.entries(ways).map(([name, { by = name, cause }]) => [by, cause])
    const silent = Object.keys(unrecorded).map((name) => [name, null])
    expect(causes).toEqual(
      Object.fromEntries([...listed, ...silent, ['administrators.end_sessions', 'role']]),
    )
    expect([...new Set(Object.values(causes))].filter((cause) => cause !== null).sort()).toEqual(
      [...sessionEnds].sort(),
    )
  })
})
