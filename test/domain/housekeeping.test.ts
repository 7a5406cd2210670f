/** The rows that go away by themselves, and when, on every storage shape. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { createHousekeeping } from '../../src/operations/housekeeping/service.ts'
import { createHousekeepingStore } from '../../src/operations/housekeeping/store.ts'
import { createLogger } from '../../src/platform/log/logging.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { newEmail, registration } from '../helpers/api-client.ts'
import { confirmedAccounts, countRows, multiplySessions, renameTable } from '../helpers/database.ts'
import { differingShapes, startService } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

const DAY_MS = 86_400_000

describe.each(differingShapes)('housekeeping on %s', (shape) => {
  const service = useService({ shape })

  /** Another minute, another turn. */
  const keepHouse = async () => {
    service.clock.advance(60_000)
    await service.inside.housekeeping.run()
  }
  const newReplica = () => startService({ shape, storage: service.storage, clock: service.clock })
  const count = (table: string) => countRows(service, table)

  test('a registration that nobody confirmed is erased a week after it was last sent', async () => {
    const [left, again] = [newEmail(), newEmail()]
    const confirmed = await service.signUp(newEmail())
    await service.post('register', registration(left))
    await service.post('register', registration(again))
    service.clock.advance(4 * DAY_MS)
    await service.post('register', registration(again))
    await keepHouse()
    expect(await count('accounts')).toBe(3)
    expect(await count('registration_claims')).toBe(2)
    service.clock.advance(3 * DAY_MS)
    await keepHouse()
    expect(await count('accounts')).toBe(2)
    expect(await count('registration_claims')).toBe(1)
    service.clock.advance(4 * DAY_MS)
    await keepHouse()
    expect(await count('accounts')).toBe(1)
    expect(await count('registration_claims')).toBe(0)
    expect((await service.post('login', confirmed)).status).toBe(200)
    await service.post('register', registration(left))
    expect(await service.inbox.nextCode(left)).toMatch(/^\d{6}$/)
  })

  test('a session goes 30 days after it was ended or ran out, and not before', async () => {
    const person = await service.signUp(newEmail())
    const before = await count('sessions')
    const ended = await service.logIn(person)
    await service.logIn(person)
    await service.post('logout', { refresh_token: ended.refresh_token })
    service.clock.advance(29 * DAY_MS)
    await keepHouse()
    expect(await count('sessions')).toBeGreaterThanOrEqual(2)
    service.clock.advance(DAY_MS)
    await keepHouse()
    expect(await count('sessions')).toBe(before + 1)
    service.clock.advance(29 * DAY_MS)
    await keepHouse()
    expect(await count('sessions')).toBe(before + 1)
    service.clock.advance(DAY_MS)
    await keepHouse()
    expect(await count('sessions')).toBe(0)
  })

  test('finished messages go after 30 days; codes, counters and budgets once they are over', async () => {
    const person = await service.signUp(newEmail())
    await service.post('resend-verification', { identifier: newEmail() })
    // One that is still under way would be finished a month late.
    await waitFor(async () => (await countRows(service, 'messages', sql`finished_at is null`)) === 0, {
      what: 'every message to be finished, to nobody too',
    })
    expect(await count('messages')).toBeGreaterThan(0)
    service.clock.advance(29 * DAY_MS)
    await keepHouse()
    expect(await count('messages')).toBeGreaterThan(0)
    service.clock.advance(DAY_MS)
    await keepHouse()
    for (const table of ['messages', 'codes', 'limits', 'tickets', 'code_budgets']) {
      expect([table, await count(table)]).toEqual([table, 0])
    }
    expect((await service.post('login', person)).status).toBe(200)
  })

  test('more rows than one batch holds go in one round', async () => {
    const person = await service.signUp(newEmail())
    await service.logIn(person)
    await multiplySessions(service, 1200)
    service.clock.advance(61 * DAY_MS)
    await keepHouse()
    expect(await count('sessions')).toBe(0)
  })

  test('a round is one replica’s: another one removes nothing before the next is due', async () => {
    // The embedded database has one process only; its second round waits for the same row.
    const replica = shape === 'embedded' ? service : await newReplica()
    try {
      await service.post('register', registration(newEmail()))
      service.clock.advance(20_000)
      await service.post('register', registration(newEmail()))
      service.clock.advance(7 * DAY_MS - 19_000)
      const before = await count('accounts')
      await service.inside.housekeeping.run()
      expect(await count('accounts')).toBe(before - 1)
      // Now the second registration is a week old too, and half a minute of the round is left.
      service.clock.advance(20_000)
      await replica.inside.housekeeping.run()
      expect(await count('accounts')).toBe(before - 1)
      service.clock.advance(30_000)
      await replica.inside.housekeeping.run()
      expect(await count('accounts')).toBe(before - 2)
    } finally {
      if (replica !== service) await replica.close()
    }
  })

  test('it runs by itself, again and again, until it is closed', async () => {
    let sweeps = 0
    const sweep = async () => {
      sweeps++
      return 0
    }
    const housekeeping = createHousekeeping({
      store: createHousekeepingStore(service.inside.database),
      sweeps: { codes: sweep, limits: sweep },
      clock: service.clock,
      logger: createLogger({ clock: service.clock, write: (line) => service.log.push(line) }),
      intervalMs: 5,
    })
    housekeeping.start()
    const minutesPassUntil = (enough: number) =>
      waitFor(
        () => {
          service.clock.advance(60_000)
          return sweeps >= enough
        },
        { what: `${enough} sweeps`, intervalMs: 20 },
      )
    // Two in a round.
    await minutesPassUntil(5)
    await housekeeping.close()
    const atItsEnd = sweeps
    service.clock.advance(60_000)
    await Bun.sleep(50)
    expect(sweeps).toBe(atItsEnd)
  })

  test('a failure is logged without what it was about, and the other sweeps are done', async () => {
    const email = newEmail()
    await service.post('register', registration(email))
    await renameTable(service, 'contact_changes', 'hidden')
    service.clock.advance(8 * DAY_MS)
    await service.inside.housekeeping.run()
    await renameTable(service, 'hidden', 'contact_changes')
    const line = service.log.find((one) => one.includes('housekeeping could not be done'))
    expect(JSON.parse(line!)).toMatchObject({ level: 'warn', task: 'contact_changes', cause: '42P01' })
    expect((await service.post('resend-verification', { identifier: email })).status).toBe(201)
    expect(await count('accounts')).toBe(await confirmedAccounts(service))
  })
})

test('what a flood leaves, 31,000 counters, goes in one round and in the time of 12 seconds of it', async () => {
  const service = await startService({ shape: 'postgres' })
  try {
    const { database, housekeeping } = service.inside
    const flood = statement(sql`
      insert into limits (key, state, expires_at)
      select 'flood ' || number, '{}', now() - interval '1 day' from generate_series(1, 31000) number`)
    await database.all(flood, {})
    service.clock.advance(60_000)
    const startedAt = performance.now()
    await housekeeping.run()
    expect(performance.now() - startedAt).toBeLessThan(12_000)
    expect(await countRows(service, 'limits')).toBe(0)
  } finally {
    await service.close()
  }
})
