/** The history of an account: what is written with each change, by whom it is read, and when it goes. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { newEmail } from '../helpers/api-client.ts'
import { countRows, dumpTables } from '../helpers/database.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { differingShapes } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

const DAY_MS = 86_400_000

interface EventItem {
  id: number
  type: string
  outcome: string
  account: string
  actor: { type: string; id: string | null; name: string | null }
  session_id: string | null
  request_id: string | null
  address: string | null
  device: string | null
  data: Record<string, unknown>
}

describe.each(differingShapes)('the history on %s', (shape) => {
  const service = useService({ shape })

  const eventsOf = async (bearer: string): Promise<EventItem[]> => {
    await service.inside.services.events.flush()
    const answer = await service.get('events?limit=200', { bearer })
    expect(answer.status).toBe(200)
    return answer.body.items
  }
  const typesOf = async (bearer: string) => (await eventsOf(bearer)).map(({ type }) => type)
  const keepHouse = async () => {
    service.clock.advance(60_000)
    await service.inside.housekeeping.run()
  }

  test('a registration and a login are in it, newest first, with who, where and in which session', async () => {
    const person = await service.signUp(newEmail())
    const device = { device_name: 'Ada’s phone' }
    const { access_token, account } = await service.logIn(person, device)
    const events = await eventsOf(access_token)
    expect(events.map(({ type }) => type)).toEqual([
      'login.succeeded',
      'session.started',
      'account.confirmed',
      'account.registered',
    ])
    const [login] = events as [EventItem]
    const { sessions } = (await service.get('sessions', { bearer: access_token })).body
    expect(login).toMatchObject({
      outcome: 'success',
      account: account.uuid,
      actor: { type: 'account', id: account.uuid, name: null },
      address: '127.0.0.1',
      device: 'Ada’s phone',
      data: { amr: ['pwd'] },
    })
    expect(sessions.map(({ id }: { id: string }) => id)).toEqual([login.session_id])
    expect(login.request_id).toMatch(/^[\da-f-]{36}$/)
  })

  test('each change writes its event in its own transaction', async () => {
    const { person, bearer } = await service.signedIn()
    const { password } = person
    const newPassword = 'another horse battery'
    await service.post(
      'password/change',
      { current_password: 'wrong', password: newPassword, password_confirmation: newPassword },
      { bearer },
    )
    await service.post(
      'password/change',
      { current_password: password, password: newPassword, password_confirmation: newPassword },
      { bearer },
    )
    await service.post('logout', {}, { bearer })
    const again = { ...person, password: newPassword }
    const { access_token } = await service.logIn(again)
    await service.post('logout-all', {}, { bearer: access_token })
    const last = (await service.logIn(again)).access_token
    expect(await typesOf(last)).toEqual([
      'login.succeeded',
      'session.started',
      'session.ended',
      'login.succeeded',
      'session.started',
      'session.ended',
      'password.changed',
      'login.succeeded',
      'session.started',
      'account.confirmed',
      'account.registered',
    ])
  })

  test('failed logins of an hour are one event with their number, and none for who has no account', async () => {
    const { person, bearer } = await service.signedIn()
    const before = await countRows(service, 'events')
    for (let count = 0; count < 3; count++) await service.post('login', { ...person, password: 'wrong' })
    await service.inside.services.events.flush()
    for (let count = 0; count < 4; count++) await service.post('login', { ...person, password: 'wrong' })
    for (let count = 0; count < 4; count++)
      await service.post('login', { identifier: newEmail(), password: 'wrong' })
    const [failure] = (await eventsOf(bearer)) as [EventItem]
    expect(failure).toMatchObject({
      type: 'login.failed',
      outcome: 'failure',
      address: '127.0.0.1',
      data: { count: 7 },
    })
    expect(await countRows(service, 'events')).toBe(before + 1)
  })

  test('pages follow each other without a gap, and a cursor that is none is refused', async () => {
    const { person, bearer } = await service.signedIn()
    for (let count = 0; count < 4; count++) await service.logIn(person)
    const all = await eventsOf(bearer)
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await service.get(`events?limit=3${cursor && `&cursor=${cursor}`}`, { bearer })
      seen.push(...body.items.map(({ id }: EventItem) => id))
      // Events that are added in the meantime do not move the pages.
      await service.logIn(person)
      cursor = body.next_cursor
    }
    expect(seen).toEqual(all.map(({ id }) => id))
    for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor=%00'])
      expect((await service.get(`events?${query}`, { bearer })).status).toBe(422)
    const { body } = await service.get('events?limit=999', { bearer, language: 'en' })
    expect(body.errors[0].message).toBe('Expected is a whole number from 1 to 200.')
    expectRefusal(await service.get('events', {}), 'invalid_token')
  })

  test('nobody changes or removes an event, whatever the statement', async () => {
    await service.signedIn()
    const { database } = service.inside
    for (const change of [sql`update events set type = 'x'`, sql`delete from events`, sql`truncate events`])
      await expect(database.all(statement(change), {})).rejects.toThrow('neither changed nor removed')
  })

  test('it holds no password, no code and no contact', async () => {
    const { person, bearer } = await service.signedIn()
    await service.post('login', { ...person, password: 'not-the-password-7' })
    await eventsOf(bearer)
    const dump = (await dumpTables(service))
      .split('\n')
      .filter((line) => /^event/.test(line))
      .join('\n')
    expect(dump).toContain('login.failed')
    for (const secret of [person.password, 'not-the-password-7', person.identifier])
      expect(dump).not.toContain(secret)
  })

  test('addresses go after 30 days and with the account, events after 180 days', async () => {
    const { person, bearer } = await service.signedIn()
    const leaving = await service.signedIn()
    const { password } = leaving.person
    const uuid = (await eventsOf(leaving.bearer))[0]?.account
    const erased = await service.call('DELETE', '/api/v1/auth/me', { password }, { bearer: leaving.bearer })
    expect(erased.status).toBe(200)
    const of = sql`account = ${uuid}`
    expect(await countRows(service, 'events', of)).toBeGreaterThan(3)
    const detailed = sql`event_id in (select id from events where account = ${uuid})`
    expect(await countRows(service, 'event_details', detailed)).toBe(0)
    await service.post('login', { ...person, password: 'wrong' })
    await eventsOf(bearer)
    service.clock.advance(31 * DAY_MS)
    await keepHouse()
    const again = (await service.logIn(person)).access_token
    const [failure, login] = (await eventsOf(again)).slice(2) as [EventItem, EventItem]
    expect([failure.address, failure.data.count, login.address]).toEqual([null, 1, null])
    service.clock.advance(150 * DAY_MS)
    await keepHouse()
    expect(await countRows(service, 'events')).toBeLessThan(8)
  })
})
