/** The audit trail as a whole: every call that changes something writes its event, and nobody who follows misses one. */
import { describe, expect, spyOn, test } from 'bun:test'
import Ajv from 'ajv'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { mountedRoutes } from '../../scripts/mounted-routes.ts'
import { eventTypes } from '../../src/domain/foundation/events/event.ts'
import { toOcsf } from '../../src/domain/foundation/events/ocsf.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { registeredStatements } from '../../src/platform/postgres/statement.ts'
import { type AdminCall, asOperator, operatorOf } from '../helpers/administration.ts'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { mergeSettings, startService, type TestService } from '../helpers/service.ts'
import { createSocialBrowser, socialSettings } from '../helpers/social.ts'
import { use, useReplica, useService } from '../helpers/use-service.ts'

const ORIGIN = 'https://app.example.com'
const NEW_PASSWORD = 'another horse battery'
const chosen = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }

/** Calls that write nothing that an account keeps: codes are asked for, options made, tokens moved on. */
const withoutEvent = new Set([
  'resendVerification',
  'resendConfirmation',
  'sendCode',
  'refresh',
  'enableTwoFactor',
  'requestAuthenticatorApp',
  'changeEmail',
  'changePhone',
  'finishProviderByForm',
  'passkeyLogInOptions',
  'passkeyRegistrationOptions',
  'passkeyStepUpOptions',
  'putReceipt',
  // There is no application here. Its tokens are below a session that has its events.
  'getApplicationTokens',
  'revokeApplicationToken',
])

/** A month of them, in the order of their time but for some minutes. */
const OLD_EVENTS = `
  insert into events (type, outcome, created_at, account, actor_type, data)
  select 'account.updated', 'success', now() - interval '31 days' + number * interval '8 minutes' - random() * interval '5 minutes',
         null, 'system', '{}'
    from generate_series(1, 5000) number`

interface Started {
  provider: PretendProvider
  service: Awaited<ReturnType<typeof startService>>
  close(): Promise<void>
}

describe('every call of the public interface that changes something', () => {
  const started = use<Started>(async () => {
    const provider = await startPretendProvider()
    const more = {
      passkeys: { rp_id: 'example.com', origins: [ORIGIN] },
      two_factor: { trust_device: '30d' },
    }
    const service = await startService({ settings: mergeSettings(socialSettings(provider.issuer), more) })
    return {
      provider,
      service,
      close: async () => {
        await service.close()
        await provider.stop()
      },
    }
  })

  test('writes its event', async () => {
    const { service, provider } = started
    const call: AdminCall = operatorOf(service)
    const browser = createSocialBrowser(service)
    const done = new Set<string>()
    let last = 0

    /** The call succeeds, and among the events since the last one is this. */
    async function step(
      operation: string,
      type: string,
      work: () => Promise<Answer>,
    ): Promise<Answer['body']> {
      const answer = await work()
      expect([operation, answer.status < 300, answer.body]).toEqual([operation, true, answer.body])
      await service.inside.services.events.flush()
      const { items } = (await call('GET', `events?after=${last}&limit=200`)).body
      const found = items.map((item: { type: string }) => item.type)
      expect([operation, found]).toEqual([operation, expect.arrayContaining([type])])
      last = Math.max(last, ...items.map(({ id }: { id: number }) => id))
      done.add(operation)
      return answer.body
    }
    const { post, inbox } = service
    const remove = (path: string, body: object, bearer: string) =>
      service.call('DELETE', `/api/v1/auth/${path}`, body, { bearer })

    const identifier = newEmail()
    await post('register', registration(identifier, 'a stranger came first'))
    await inbox.nextCode(identifier)
    await step('register', 'registration.contested', () => post('register', registration(identifier)))
    const otp = await inbox.nextCode(identifier)
    await step('verifyAccount', 'account.confirmed', () =>
      post('verify-account', { identifier, otp, password: PASSWORD }),
    )
    const person = { identifier, password: PASSWORD }
    await step('logIn', 'session.started', () => post('login', person))
    const { access_token: bearer } = await step('logIn', 'login.succeeded', () => post('login', person))
    await step('changeOwnAccount', 'account.updated', () =>
      service.call('PATCH', '/api/v1/auth/me', { language: 'en' }, { bearer }),
    )

    const email = newEmail()
    await post('email/change', { email, password: PASSWORD }, { bearer })
    const emailCode = await inbox.nextCode(email)
    await step('confirmEmail', 'identifier.changed', () =>
      post('email/confirm', { otp: emailCode }, { bearer }),
    )
    const phone = newPhone()
    await post('phone/change', { phone, password: PASSWORD }, { bearer })
    const phoneCode = await inbox.nextCode(phone)
    await step('confirmPhone', 'identifier.added', () =>
      post('phone/confirm', { otp: phoneCode }, { bearer }),
    )
    await step('removePhone', 'identifier.removed', () => remove('phone', { password: PASSWORD }, bearer))
    await post('phone/change', { phone, password: PASSWORD }, { bearer })
    const again = await inbox.nextCode(phone)
    await post('phone/confirm', { otp: again }, { bearer })
    await step('removeEmail', 'identifier.removed', () => remove('email', { password: PASSWORD }, bearer))

    provider.present(newPerson())
    const code = await browser.obtainCode()
    await step('linkIdentity', 'identity.linked', () =>
      post('identities/p1', { ...code, password: PASSWORD }, { bearer }),
    )
    await step('exchangeSocialCode', 'login.succeeded', () => browser.signIn())
    const id_token = await provider.idToken('n')
    await step('signInNatively', 'login.succeeded', () => post('social/p1/token', { id_token, nonce: 'n' }))
    await step('unlinkIdentity', 'identity.unlinked', () =>
      remove('identities/p1', { password: PASSWORD }, bearer),
    )

    const creation = (await post('passkeys/registration/options', { password: PASSWORD }, { bearer })).body
      .options
    const { passkey, credential } = createPasskey(creation, ORIGIN)
    const added = await step('addPasskey', 'passkey.added', () =>
      post('passkeys/registration', { credential }, { bearer }),
    )
    const { options } = (await post('passkeys/login/options', {})).body
    await step('logInWithPasskey', 'passkey.used', () =>
      post('passkeys/login', { credential: signWithPasskey(passkey, options, ORIGIN) }),
    )
    const path = `passkeys/${added.passkey.id}`
    await step('renamePasskey', 'account.updated', () =>
      service.call('PATCH', `/api/v1/auth/${path}`, { name: 'Blue key' }, { bearer }),
    )
    await step('removePasskey', 'passkey.removed', () => remove(path, { password: PASSWORD }, bearer))

    const named = { identifier: phone }
    await step('changePassword', 'password.changed', () =>
      post('password/change', { current_password: PASSWORD, ...chosen }, { bearer }),
    )
    await step('forgotPassword', 'password.reset_requested', () => post('password/forgot', named))
    const resetCode = await inbox.nextCode(phone)
    await step('resetPassword', 'password.reset', () =>
      post('password/reset', { ...named, otp: resetCode, ...chosen }),
    )
    const changed = { ...named, password: NEW_PASSWORD }
    const second = (await post('login', changed)).body.access_token
    const factor = { password: NEW_PASSWORD }
    const app = (await post('2fa/totp', factor, { bearer: second })).body
    const now = () => appCode(app.secret, service.clock.now())
    const confirmed = await step('confirmAuthenticatorApp', 'two_factor.enabled', () =>
      post('2fa/totp/confirm', { otp: now() }, { bearer: second }),
    )
    await post('login', changed)
    const [recovery, other] = confirmed.recovery_codes as string[]
    const { access_token: third } = await step('signInWithCode', 'recovery_code.used', () =>
      post('2fa/verify', { ...changed, otp: recovery }),
    )
    const renewed = await step('replaceRecoveryCodes', 'recovery_codes.replaced', () =>
      post('2fa/recovery-codes', { ...factor, otp: other }, { bearer: third }),
    )
    await step('disableTwoFactor', 'two_factor.disabled', () =>
      post('2fa/disable', { ...factor, otp: renewed.recovery_codes[0] }, { bearer: third }),
    )
    await post('2fa/enable', factor, { bearer: third })
    const enabling = await inbox.nextCode(phone)
    const { recovery_codes } = await step('confirmTwoFactor', 'two_factor.enabled', () =>
      post('2fa/enable/confirm', { otp: enabling }, { bearer: third }),
    )
    await post('login', changed)
    const trusting = { ...changed, otp: await inbox.nextCode(phone), trust_device: true }
    const trusted = (await post('2fa/verify', { ...trusting, device_fingerprint: 'a laptop' })).body
    const ownSessions = (await service.get('sessions', { bearer: trusted.access_token })).body.sessions
    const { id: trustedSession } = ownSessions.find(({ current }: { current: boolean }) => current)
    await step('forgetTrustedDevice', 'trusted_device.removed', () =>
      remove(`sessions/${trustedSession}/trusted-device`, {}, trusted.access_token),
    )
    await post('login', changed)
    await post('2fa/verify', {
      ...changed,
      otp: await inbox.nextCode(phone),
      trust_device: true,
      device_fingerprint: 'a desk',
    })
    const { trusted_devices: devices } = (await service.get('me/security', { bearer: third })).body
    await step('endTrustedDevice', 'trusted_device.removed', () =>
      remove(`trusted-devices/${devices[0].id}`, {}, third),
    )
    const { code: invitation } = (await call('POST', 'invitations', { groups: ['staff'] })).body
    await step('acceptInvitation', 'invitation.accepted', () =>
      post('invitations/accept', { invitation }, { bearer: third }),
    )
    const otpOf = (index: number) => ({ ...factor, otp: recovery_codes[index] })
    await post('2fa/disable', otpOf(0), { bearer: third })

    const fresh = async () => (await post('login', changed)).body
    const { sessions } = (await service.get('sessions', { bearer: (await fresh()).access_token })).body
    await step('endSession', 'session.ended', () => remove(`sessions/${sessions.at(-1).id}`, {}, third))
    const leaving = await fresh()
    await step('logOut', 'session.ended', () => post('logout', {}, { bearer: leaving.access_token }))
    const everywhere = await fresh()
    await step('logOutEverywhere', 'session.ended', () =>
      post('logout-all', {}, { bearer: everywhere.access_token }),
    )
    const end = await fresh()
    await step('eraseAccount', 'account.erased', () => remove('me', factor, end.access_token))

    const writing = mountedRoutes()
      .filter(({ method, operation }) => method !== 'GET' && !operation.endsWith('ByPost'))
      .map(({ operation }) => operation)
    const missing = writing.filter((operation) => !done.has(operation) && !withoutEvent.has(operation))
    expect(missing).toEqual([])
  })
})

describe('whoever follows the events', () => {
  const service = useService({ shape: 'postgres' })
  const replica = useReplica(service, { shape: 'postgres' })
  const call = operatorOf(service)
  const newest = async (): Promise<number> => (await call('GET', 'events?limit=1')).body.items[0].id
  const after = async (id: number, query = ''): Promise<{ id: number; type: string }[]> =>
    (await call('GET', `events?after=${id}${query}`)).body.items

  test('gets them oldest first, and continues after the last one', async () => {
    const person = await service.signUp(newEmail())
    const from = await newest()
    for (let count = 0; count < 3; count++) await service.logIn(person)
    const all = await after(from)
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort((a, b) => a - b))
    const [first, ...rest] = all
    expect(await after(first?.id ?? 0, '&limit=100')).toEqual(rest)
    expect(await after(from, '&type=session.started')).toHaveLength(3)
    for (const query of ['type=account.lock', 'after=x', 'after=-1', 'after=0&wait=26', 'after=0&wait=x'])
      expectRefusal(await call('GET', `events?${query}`), 'validation_failed')
  })

  test('names up to twenty types, and kinds of them', async () => {
    const from = await newest()
    const { bearer } = await service.signedIn()
    await service.post('logout', {}, { bearer })
    const typesOf = async (type: string) => (await after(from, `&type=${type}`)).map((event) => event.type)
    expect(await typesOf('session.ended,account.registered')).toEqual(['account.registered', 'session.ended'])
    expect(await typesOf('session.*')).toEqual(['session.started', 'session.ended'])
    expect(await typesOf('session.*,login.succeeded,session.ended')).toEqual([
      'session.started',
      'login.succeeded',
      'session.ended',
    ])
    const waiting = after(await newest(), '&wait=20&type=session.*')
    await service.signedIn()
    expect((await waiting).map(({ type }) => type)).toEqual(['session.started'])
    const twenty = eventTypes.slice(0, 20).join()
    expect((await call('GET', `events?type=${twenty}`)).status).toBe(200)
    for (const type of [
      `${twenty},session.ended`,
      'session.*,',
      ',',
      '*',
      '.*',
      'sess.*',
      'session',
      'session.ended,x',
    ])
      expectRefusal(await call('GET', `events?type=${type}`), 'validation_failed')
  })

  test('reads nothing that is older than since, in a list neither', async () => {
    const client = postgres((service.storage.database as { url: string }).url, { max: 1 })
    await client.unsafe(OLD_EVENTS)
    // Without statistics the planner takes the table for one of a few rows, and reads it whole.
    await client.unsafe('analyze events')
    const { uuid, bearer } = await service.signedIn()
    const since = new Date(Date.now() - 16 * 60_000)
    const found = await call('GET', `events?since=${since.toISOString()}&account=${uuid}`)
    expect((await after(0, `&since=${since.toISOString()}&account=${uuid}`)).reverse()).toEqual(
      found.body.items,
    )
    expect(found.body.items).toHaveLength(4)
    await service.post('logout', {}, { bearer })
    const none = { type: null, types: null, actors: null, actorType: null, until: null, account: uuid }
    for (const [name, values] of Object.entries({
      'events.list_all': { before: null },
      'events.list_of_account': { before: null },
      'events.follow': { after: 0, upTo: Number.MAX_SAFE_INTEGER },
    })) {
      const { text, params } = registeredStatements().find((each) => each.name === name)!
      const given: Record<string, unknown> = { ...none, ...values, since: since.toISOString(), limit: 200 }
      const [row] = await client.unsafe(
        `explain (analyze, format json) ${text}`,
        params.map((param) => given[(param as { name: string }).name] as string),
      )
      const plan = JSON.stringify(row)
      const readsAll = /"Seq Scan"[^{}]*"Relation Name":"events"/
      const skipped = [...plan.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, rows]) => Number(rows))
      expect([name, skipped.every((rows) => rows < 300), readsAll.test(plan)]).toEqual([name, true, false])
    }
    await client.end()
  })

  test('waits for the next one, and for no longer than was asked', async () => {
    const person = await service.signUp(newEmail())
    const from = await newest()
    const waiting = after(from, '&wait=20')
    await service.logIn(person)
    expect((await waiting).map(({ type }) => type)).toContain('login.succeeded')
    const begun = performance.now()
    expect(await after(await newest(), '&wait=1')).toEqual([])
    expect(performance.now() - begun).toBeWithin(900, 5000)
  })

  test('waits in sixteen places at most, and keeps nobody else from waiting', async () => {
    const from = await newest()
    const wait = (operator: string) =>
      asOperator(service, 'GET', `events?after=${from}&type=key.rotated&wait=1`, undefined, {
        headers: { 'x-operator': operator },
      })
    const many = Array.from({ length: 17 }, () => wait('one'))
    const answers = await Promise.all([...many, wait('another')])
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([429])
    expect((await wait('one')).status).toBe(200)
  })

  test('is not led past an event whose transaction is still open', async () => {
    const person = await service.signUp(newEmail())
    const from = await newest()
    const { database } = service.inside
    const insert = statement<object>(sql`
      insert into events (type, outcome, created_at, actor_type, data)
      values ('account.updated', 'success', now(), 'system', '{"slow": true}')`)
    const opened = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const slow = database.transaction(async (transaction) => {
      await transaction.all(insert, {})
      opened.resolve()
      await commit.promise
    })
    await opened.promise
    await service.logIn(person)
    expect(await after(from)).toEqual([])
    commit.resolve()
    await slow
    const found = await after(from)
    expect(found.map(({ type }) => type)).toEqual(['account.updated', 'session.started', 'login.succeeded'])
  })

  test('is not held up by transactions that write no event, of this database or of another one', async () => {
    const person = await service.signUp(newEmail())
    const from = await newest()
    const { url } = service.storage.database as { url: string }
    const elsewhere = new URL(url)
    elsewhere.pathname = '/postgres'
    const open = [
      { url: elsewhere.href, begin: 'begin', holds: 'select pg_current_xact_id()' },
      { url, begin: 'begin', holds: 'select pg_current_xact_id(), count(*) from events' },
      // An analyst and pg_dump do so, for hours.
      { url, begin: 'begin isolation level repeatable read read only', holds: 'select count(*) from events' },
    ]
    const clients = await Promise.all(
      open.map(async ({ url, begin, holds }) => {
        const client = postgres(url, { max: 1 })
        await client.unsafe(begin)
        await client.unsafe(holds)
        return client
      }),
    )
    try {
      await service.logIn(person)
      expect((await after(from)).map(({ type }) => type)).toEqual(['session.started', 'login.succeeded'])
    } finally {
      await Promise.all(clients.map((client) => client.end({ timeout: 0 })))
    }
  })

  test('misses none of many transactions that commit late, in any order', async () => {
    const from = await newest()
    const { url } = service.storage.database as { url: string }
    const writers = postgres(url, { max: 16 })
    const written: number[] = []
    const insert = async (client: postgres.TransactionSql) => {
      const [row] = await client.unsafe<{ id: string }[]>(`
        insert into events (type, outcome, created_at, actor_type, data)
        values ('account.updated', 'success', now(), 'system', '{}') returning id`)
      return Number(row!.id)
    }
    const pause = () => Bun.sleep(Math.random() * 25)
    const write = () =>
      writers
        .begin(async (transaction) => {
          // The number of a transaction, and the ids that it draws, come in an order of their own.
          await transaction`select pg_current_xact_id()`
          await pause()
          const first = await insert(transaction)
          await pause()
          const second = await insert(transaction)
          await pause()
          if (Math.random() < 0.2) throw new Error('rolled back')
          return [first, second]
        })
        .then((ids) => written.push(...ids))
        .catch(() => {})
    const writing = Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let count = 0; count < 12; count++) await write()
      }),
    )
    let isWritten = false
    void writing.then(() => {
      isWritten = true
    })
    const read = async (one: TestService) => {
      const seen: number[] = []
      for (;;) {
        const wasWritten = isWritten
        const path = `events?after=${seen.at(-1) ?? from}&limit=7${seen.length % 2 ? '&wait=1' : ''}`
        const { items } = (await asOperator(one, 'GET', path)).body
        seen.push(...items.map(({ id }: { id: number }) => id))
        if (wasWritten && items.length === 0) return seen
      }
    }
    const [one, two] = await Promise.all([read(service), read(replica)])
    await writers.end()
    const all = written.sort((a, b) => a - b)
    expect(all.length).toBeGreaterThan(100)
    expect(one).toEqual(all)
    expect(two).toEqual(all)
  })

  test('asks the database no more often where many wait', async () => {
    const from = await newest()
    const asked = spyOn(service.inside.database, 'all')
    const first = spyOn(service.inside.database, 'first')
    const wait = (operator: number) =>
      asOperator(service, 'GET', `events?after=${from}&wait=1`, undefined, {
        headers: { 'x-operator': `${operator % 4}` },
      })
    const answers = await Promise.all(Array.from({ length: 64 }, (_, caller) => wait(caller)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.items.length}`))).toEqual(
      new Set(['200 0']),
    )
    const count = [...asked.mock.calls, ...first.mock.calls].filter(([query]) =>
      /from pg_locks|pg_sequence_last_value|from "events"/.test(query.text),
    ).length
    asked.mockRestore()
    first.mockRestore()
    // Each for itself would ask three times. The callers that come a little later share the next look.
    expect(count).toBeWithin(2, 96)
  })

  test('finds out that a message to a confirmed account was refused', async () => {
    const person = await service.signUp(newEmail())
    await service.delivered()
    service.smtp.behave({ refuse: { status: 554, at: 'data' } })
    await service.post('password/forgot', { identifier: person.identifier })
    await service.post('register', registration(newEmail()))
    await service.delivered()
    service.smtp.behave({})
    const { items } = (await call('GET', 'events?type=message.refused')).body
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      actor: { type: 'system' },
      data: { channel: 'email', purpose: 'password_reset' },
    })
  })
})

/**
 * The fields that the classes of OCSF 1.8 require: https://schema.ocsf.io/1.8.0/classes/authentication and the others.
 */
const required = (also: string[], activities: number[]) => ({
  type: 'object',
  required: [
    'activity_id',
    'category_uid',
    'class_uid',
    'metadata',
    'severity_id',
    'time',
    'type_uid',
    ...also,
  ],
  properties: {
    activity_id: { enum: [...activities, 99] },
    category_uid: { const: 3 },
    severity_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
    status_id: { enum: [0, 1, 2, 99] },
    time: { type: 'integer', minimum: 1_000_000_000_000 },
    type_uid: { type: 'integer' },
    count: { type: 'integer' },
    metadata: {
      type: 'object',
      required: ['product', 'version'],
      properties: {
        version: { type: 'string', pattern: '^1\\.\\d+\\.\\d+$' },
        product: { type: 'object', anyOf: [{ required: ['name'] }, { required: ['uid'] }] },
      },
    },
    user: { type: 'object', anyOf: [{ required: ['uid'] }, { required: ['name'] }] },
    entity: { type: 'object', anyOf: [{ required: ['uid'] }, { required: ['name'] }] },
    src_endpoint: { type: 'object', required: ['ip'] },
  },
  if: { properties: { activity_id: { const: 99 } } },
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema.
  then: { required: ['activity_name'] },
})

const schemas: Record<number, object> = {
  3001: required(['user'], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
  3002: {
    ...required(['user'], [1, 2, 3, 4, 5, 6, 7]),
    anyOf: [{ required: ['service'] }, { required: ['dst_endpoint'] }],
  },
  3004: required(['entity'], [1, 2, 3, 4]),
}

describe('the form of OCSF', () => {
  const ajv = new Ajv({ strict: false })

  test.each([...eventTypes])('%s has what its class requires', (type) => {
    for (const account of [crypto.randomUUID(), null])
      for (const outcome of ['success', 'failure'] as const) {
        const event = toOcsf(
          {
            id: 7,
            type,
            created_at: '2026-07-01T12:00:00.000Z',
            outcome,
            account,
            actor: { type: 'operator', id: 'root', name: 'root' },
            session_id: null,
            request_id: crypto.randomUUID(),
            address: '203.0.113.7',
            device: null,
            data: outcome === 'failure' ? { count: 3 } : {},
          },
          '0.1.0',
        )
        const schema = schemas[event.class_uid] as object
        expect([ajv.validate(schema, event), ajv.errors]).toEqual([true, null])
        expect(event.type_uid).toBe(event.class_uid * 100 + event.activity_id)
      }
  })
})
