/** The reading and the changes of an operator, by the routes behind the socket, on every storage shape. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { decodeProtectedHeader } from 'jose'
import { statement } from '../../src/platform/postgres/database.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newPhone } from '../helpers/api-client.ts'
import { protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { differingShapes, testsOn } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

describe.each(differingShapes)('administration on %s', (shape) => {
  const { test, rule } = testsOn(shape)
  const service = useService({ shape })

  const call = operatorOf(service)
  const typesOf = async (uuid: string) =>
    (await call('GET', `accounts/${uuid}/events`)).body.items.map(({ type }: { type: string }) => type)

  test('an account is found by e-mail, phone in any spelling, uuid, id, and by how its address begins', async () => {
    const { person, uuid } = await service.signedIn()
    const id = (await call('GET', `accounts/${uuid}`)).body.account.id
    const { identifier } = person
    for (const query of [
      identifier,
      identifier.toUpperCase(),
      uuid,
      String(id),
      identifier.slice(0, 12),
      identifier.slice(2, 14),
    ]) {
      const { status, body } = await call('GET', `accounts?query=${encodeURIComponent(query)}`)
      expect([status, body.items.map((item: { uuid: string }) => item.uuid)]).toEqual([200, [uuid]])
    }
    const phone = newPhone()
    await service.signUp(phone)
    const national = `0${phone.slice(3).replace(/(..)/g, '$1 ')}`
    const { body } = await call('GET', `accounts?query=${encodeURIComponent(national)}`)
    expect(body.items.map((item: { phone: string }) => item.phone)).toEqual([phone])
  })

  rule(
    'any part of an e-mail address, a phone number, a name or a username finds the account, as one types',
    async () => {
      const word = crypto.randomUUID().replaceAll('-', '')
      const { uuid } = (
        await call('POST', 'accounts', {
          email: `Before.${word}.after@shop.example`,
          phone: newPhone(),
          verified: true,
        })
      ).body.account
      const { phone } = (
        await call('PATCH', `accounts/${uuid}`, {
          username: `u${word.slice(0, 20)}`,
          profile: { name: `Zoé ${word.slice(8, 20)} Fontaine` },
        })
      ).body.account
      const made = async (name: string) =>
        (
          await call('POST', 'accounts', {
            email: `${name}.${crypto.randomUUID()}@shop.example`,
            verified: true,
          })
        ).body.account.uuid
      await made('a')
      const last = await made('b')
      const find = async (query: string, more = '') =>
        (await call('GET', `accounts?query=${encodeURIComponent(query)}${more}`)).body.items.map(
          (item: { uuid: string }) => item.uuid,
        )
      for (const query of [
        word.slice(5, 12),
        `${word}.AFTER@shop.e`,
        `before.${word}.after@shop.exampl`,
        phone.slice(-6),
        `${phone.slice(-6, -4)} ${phone.slice(-4, -2)} ${phone.slice(-2)}`,
        `zoé ${word.slice(8, 14)}`,
        `ZOÉ ${word.slice(8, 14)}`,
        `u${word.slice(0, 9)}`,
        uuid.slice(0, 12),
      ])
        expect([query, await find(query)]).toEqual([query, [uuid]])
      expect(await find(`before.${word}`, '&locked=true')).toEqual([])
      const [newest] = await find('@shop.example', '&limit=1')
      expect(newest).toBe(last)
      expect(await find(`${word}%`)).toEqual([])
      expect(await find('____')).toEqual([])
    },
  )

  test('it is shown with its fields, and the look is recorded once an hour', async () => {
    const { person, uuid } = await service.signedIn()
    const { status, body } = await call('GET', `accounts/${uuid}`)
    expect(status).toBe(200)
    expect(body.account).toMatchObject({
      uuid,
      email: person.identifier,
      has_password: true,
      metadata: {},
      locked_reason: null,
      factors: [],
      passkeys: 0,
      identities: 0,
      sessions: 1,
    })
    await call('GET', `accounts/${uuid}`)
    const looks = (await typesOf(uuid)).filter((type: string) => type === 'account.viewed')
    expect(looks).toHaveLength(1)
    expect((await call('GET', `accounts/${crypto.randomUUID()}`)).body.code).toBe('account_not_found')
    expect((await call('GET', 'accounts/x')).body.code).toBe('account_not_found')
  })

  test('a list names the second step of each account as the account itself does', async () => {
    const people = [
      (await service.signedIn()).person,
      (await protectByApp(service)).person,
      (await protectBySentCodes(service, newPhone())).person,
    ]
    const found = []
    for (const { identifier } of people) {
      const [listed] = (await call('GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items
      const { account } = (await call('GET', `accounts/${listed.uuid}`)).body
      expect(listed.factors).toEqual(account.factors)
      expect(account.recovery_codes).toBe(account.two_factor_enabled ? 10 : 0)
      found.push(listed.factors)
    }
    expect(found).toEqual([[], ['totp', 'recovery_code'], ['sms', 'recovery_code']])
    const { items } = (await call('GET', 'accounts?limit=3')).body
    expect(items.map(({ factors }: { factors: string[] }) => factors)).toEqual(found.reverse())
  })

  test('locking ends every session and refuses every way in; unlocking tells the owner', async () => {
    const { person, bearer, refresh_token, uuid } = await service.signedIn()
    const locked = await call('PATCH', `accounts/${uuid}`, { locked: true, locked_reason: 'chargeback' })
    expect(locked.body.account).toMatchObject({ locked_reason: 'chargeback', sessions: 0 })
    expect(locked.body.account.locked_at).not.toBeNull()
    expect((await service.get('me', { bearer })).status).toBe(401)
    expect((await service.post('refresh', { refresh_token })).status).toBe(401)
    expect((await service.post('login', person)).body.code).toBe('account_locked')
    expect((await service.post('login', { ...person, password: 'wrong' })).body.code).toBe(
      'invalid_credentials',
    )
    const listed = await call('GET', 'accounts?locked=true')
    expect(listed.body.items.map((item: { uuid: string }) => item.uuid)).toContain(uuid)
    const before = await service.delivered()
    const unlocked = await call('PATCH', `accounts/${uuid}`, { locked: false })
    expect(unlocked.body.account).toMatchObject({
      ...{ locked_at: null, locked_reason: null, last_lock_reason: 'chargeback' },
    })
    expect(await service.delivered()).toBe(before + 1)
    await service.logIn(person)
    expect(await typesOf(uuid)).toEqual(expect.arrayContaining(['account.locked', 'account.unlocked']))
    const [event] = (await call('GET', `events?type=account.locked&account=${uuid}`)).body.items
    expect(event).toMatchObject({
      actor: { type: 'operator', id: 'root', name: 'root' },
      address: null,
    })
    expect(event.data).toEqual({})
  })

  test('role, owner, language and metadata are set, and shown to the next token', async () => {
    const { person, uuid } = await service.signedIn()
    const wanted = {
      role_id: 3,
      accountable_type: 'Company',
      accountable_id: 42,
      language: 'en',
      metadata: { plan: 'team' },
    }
    const { body } = await call('PATCH', `accounts/${uuid}`, wanted)
    expect(body.account).toMatchObject(wanted)
    const { account } = await service.logIn(person)
    expect(account).toMatchObject({ role_id: 3, accountable_type: 'Company', accountable_id: 42 })
    const [event] = (await call('GET', `events?type=account.updated&account=${uuid}`)).body.items
    expect(event.data.fields.sort()).toEqual(Object.keys(wanted).sort())
  })

  rule.each([
    [{ metadata: { text: 'x'.repeat(4096) } }],
    [{ metadata: [1] }],
    [{ role_id: 2 ** 31 }],
    [{ language: 'xx' }],
    [{ locked: 'yes' }],
    [{ accountable_id: 1.5 }],
  ])('a change that cannot be is refused: %#', async (patch) => {
    const { uuid } = await service.signedIn()
    expect((await call('PATCH', `accounts/${uuid}`, patch)).body.code).toBe('validation_failed')
  })

  rule('a new account with several wrong fields is refused with all of them', async () => {
    const wanted = { email: 'nobody', password: 'short', role_id: 'boss', username: 'no name' }
    const { body } = await call('POST', 'accounts', wanted)
    expect(body.code).toBe('validation_failed')
    const named = body.errors.map(({ field }: { field: string }) => field)
    expect(new Set(named)).toEqual(new Set(Object.keys(wanted)))
  })

  test('sessions are listed and ended, one or all', async () => {
    const { person, bearer, uuid } = await service.signedIn()
    const second = (await service.logIn(person)).access_token
    const { items } = (await call('GET', `accounts/${uuid}/sessions`)).body
    expect(items).toHaveLength(2)
    expect((await call('DELETE', `accounts/${uuid}/sessions/${items[0].id}`)).status).toBe(200)
    expect((await call('DELETE', `accounts/${uuid}/sessions/${items[0].id}`)).body.code).toBe(
      'session_not_found',
    )
    const statuses = [
      (await service.get('me', { bearer })).status,
      (await service.get('me', { bearer: second })).status,
    ]
    expect(statuses.sort()).toEqual([200, 401])
    expect((await call('DELETE', `accounts/${uuid}/sessions`)).status).toBe(200)
    expect((await service.get('me', { bearer })).status).toBe(401)
  })

  test('every list comes in pages, each item once, and refuses a cursor of another list', async () => {
    const { person, uuid } = await service.signedIn()
    await Promise.all([1, 2, 3].map(() => service.logIn(person)))
    await call('POST', 'keys/rotate', {})
    const cursorOf = (text: string) => Buffer.from(text).toString('base64url')
    const lists = [
      ...['sessions', 'passkeys', 'identities'].map((name) => `accounts/${uuid}/${name}`),
      ...['keys', 'sms/report', 'tokens', 'administrators', 'messages', 'events', 'accounts'],
    ]
    for (const list of lists) {
      for (const wrong of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', `cursor=${cursorOf('other 1')}`])
        expect([list, wrong, (await call('GET', `${list}?${wrong}`)).status]).toEqual([list, wrong, 422])
      const { body } = await call('GET', `${list}?limit=200`)
      expect(Object.keys(body).sort()).toEqual(['items', 'next_cursor', 'status'])
    }
    for (const list of [`accounts/${uuid}/sessions`, 'keys']) {
      const whole = (await call('GET', list)).body
      expect(whole.items.length).toBeGreaterThan(1)
      expect(whole.next_cursor).toBeNull()
      const found: unknown[] = []
      for (let cursor = ''; cursor !== null; ) {
        const { body } = await call('GET', `${list}?limit=1${cursor && `&cursor=${cursor}`}`)
        expect(body.items).toHaveLength(1)
        found.push(...body.items)
        cursor = body.next_cursor
      }
      expect(found).toEqual(whole.items)
    }
  })

  test('erasing leaves nothing but the uuid in the audit trail', async () => {
    const { person, bearer, uuid } = await service.signedIn()
    const reason = `asked for by the sister of ${person.identifier}`
    await call('PATCH', `accounts/${uuid}`, { locked: true, locked_reason: reason })
    expect((await call('DELETE', `accounts/${uuid}`)).status).toBe(200)
    expect((await service.get('me', { bearer })).status).toBe(401)
    expect(JSON.stringify((await call('GET', `accounts/${uuid}/events`)).body)).not.toContain('sister')
    expect((await call('GET', `accounts?query=${person.identifier}`)).body.items).toEqual([])
    const events = (await call('GET', `accounts/${uuid}/events`)).body.items
    expect(events[0]).toMatchObject({ type: 'account.erased', actor: { type: 'operator', name: 'root' } })
    expect(events.filter(({ address }: { address: string | null }) => address !== null)).toEqual([])
    expect((await call('DELETE', `accounts/${uuid}`)).body.code).toBe('account_not_found')
  })

  test('pages stay apart while accounts are added, and a wrong query is refused', async () => {
    const { uuid } = await service.signedIn()
    const first = (await call('GET', 'accounts?limit=2')).body
    await service.signedIn()
    const next = (await call('GET', `accounts?limit=2&cursor=${first.next_cursor}`)).body
    const uuids = [...first.items, ...next.items].map((item: { uuid: string }) => item.uuid)
    expect(uuids[0]).toBe(uuid)
    expect(new Set(uuids).size).toBe(4)
    for (const query of [
      'limit=0',
      'query=ab',
      'locked=maybe',
      'role_id=x',
      'created_after=yesterday',
      'cursor=!',
    ])
      expect((await call('GET', `accounts?${query}`)).body.code).toBe('validation_failed')
  })

  test('a span of time is listed by creation, page by page, also where ids do not follow it', async () => {
    const uuids: string[] = []
    for (let year = 2001; year <= 2005; year++) {
      const { uuid } = await service.signedIn()
      uuids.push(uuid)
      // An import leaves it so: the account with the greatest id is the oldest.
      await service.inside.database.all(
        statement(
          sql`update accounts set created_at = ${sql.raw(`'${4010 - year}-06-01'`)} where uuid = ${sql.raw(`'${uuid}'`)}`,
        ),
        {},
      )
    }
    const list = async (query: string) => (await call('GET', `accounts?${query}`)).body
    const span = 'created_after=2005-01-01T00:00:00Z&created_before=2009-01-01T00:00:00Z&limit=2'
    const first = await list(span)
    const second = await list(`${span}&cursor=${first.next_cursor}`)
    expect([...first.items, ...second.items].map(({ uuid }: { uuid: string }) => uuid)).toEqual(
      uuids.slice(1),
    )
    expect(second.next_cursor).toBeNull()
  })

  test('signing keys are listed, rotated and revoked, and the audit trail says by whom', async () => {
    const { key } = (await call('POST', 'keys/rotate', {})).body
    const { items } = (await call('GET', 'keys')).body
    expect(items.map(({ kid }: { kid: string }) => kid)).toContain(key.kid)
    const [first] = items
    const before = await service.signedIn()
    expect((await call('POST', 'keys/revoke', { kid: first.kid })).body.revoked).toBe(true)
    expectRefusal(await service.get('me', { bearer: before.bearer }), 'invalid_token')
    // What it signed would be refused a moment later.
    const { bearer } = await service.signedIn()
    expect(decodeProtectedHeader(bearer).kid).not.toBe(first.kid)
    expect((await service.get('me', { bearer })).status).toBe(200)
    expect((await call('POST', 'keys/revoke', { kid: first.kid })).body.revoked).toBe(false)
    for (const type of ['key.rotated', 'key.revoked']) {
      const [event] = (await call('GET', `events?type=${type}`)).body.items
      expect(event).toMatchObject({ account: null, actor: { type: 'operator', name: 'root' } })
    }
  })

  rule('none of it is on the public listener', async () => {
    const { uuid } = await service.signedIn()
    for (const path of ['accounts', `accounts/${uuid}`, 'events', 'keys'])
      expect((await service.call('GET', `/admin/v1/${path}`)).body.code).toBe('route_not_found')
  })
})

describe('the search of accounts', () => {
  const service = useService({ shape: 'postgres' })

  test('of the messages of an account reads an index', async () => {
    const { database } = service.inside
    const plans = statement<object, { queryPlan: string }>(sql`
      explain select id from messages
       where coalesce(account_uuid, code_subject) = gen_random_uuid() order by id desc limit 50`)
    await database.transaction(async (transaction) => {
      // The table is almost empty: only the choice of indexes is asked for.
      await transaction.all(statement(sql`set local enable_seqscan = off`), {})
      await transaction.all(statement(sql`set local enable_indexscan = on`), {})
      expect(JSON.stringify(await transaction.all(plans, {}))).toContain('messages_')
    })
  })
})
