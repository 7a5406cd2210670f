/** `Database.onInsert`: what was inserted is announced once it is committed, and not before. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../src/platform/postgres/database.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { openOutbox, outboxes } from './outboxes.ts'

setDefaultTimeout(60_000)

const table = sql`"announced"`
const insert = statement<{ id: number }>(
  sql`with added as (insert into ${table} values (${param('id', 'int')}) returning id) select id from added`,
)
const insertPositive = defineStatement({
  name: 'test.insert_positive',
  params: { id: 'int' },
  sql: (p) => sql`insert into ${table} select ${p.id} where ${p.id} > 0`,
  mayInsert: ({ id }) => id > 0,
})
const read = statement<object, { id: number }>(sql`select id from ${table}`)

describe.each(outboxes)('announcements of %s', (name) => {
  let database: Database
  let close: () => Promise<void>
  const heard: unknown[] = []
  beforeAll(async () => {
    ;({ database, close } = await openOutbox(name))
    await database.all(statement(sql`create table ${table} (id int primary key)`), {})
    database.onInsert('announced', ({ id }) => heard.push(id))
  })
  afterAll(() => close?.())

  test('a statement announces what it inserted, also in a CTE; a read announces nothing', async () => {
    heard.length = 0
    await database.all(insert, { id: 1 })
    await database.first(insert, { id: 2 })
    await database.all(read, {})
    expect(heard).toEqual([1, 2])
  })

  test('a statement that fails, or that cannot have inserted anything, announces nothing', async () => {
    heard.length = 0
    await expect(database.all(insert, { id: 1 })).rejects.toThrow()
    await database.all(insertPositive, { id: -1 })
    await database.all(insertPositive, { id: 3 })
    expect(heard).toEqual([3])
  })

  test('a transaction announces when it has committed, and nothing when it is rolled back', async () => {
    heard.length = 0
    const undone = database.transaction(async (transaction) => {
      await transaction.all(insert, { id: 10 })
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    await database.transaction(async (transaction) => {
      await transaction.first(insert, { id: 11 })
      await transaction.all(insert, { id: 12 })
      expect(heard).toEqual([])
    })
    expect(heard).toEqual([11, 12])
  })

  test('statements of a transaction that do not wait for each other run in their order', async () => {
    const both = await database.transaction((transaction) =>
      Promise.all([transaction.first(insert, { id: 21 }), transaction.all(read, {})]),
    )
    expect<unknown>(both[0]).toEqual({ id: 21 })
    expect(both[1].map(({ id }) => id)).toContain(21)
  })

  test('where one of them fails nothing of them stays, and the error is its own', async () => {
    const undone = database.transaction((transaction) =>
      Promise.all([
        transaction.first(insert, { id: 22 }),
        // Whoever handles its result waits longer for its error than the others for theirs.
        transaction
          .first(insert, { id: 11 })
          .then((row) => [row])
          .then((rows) => rows.length),
        transaction.first(insert, { id: 23 }),
      ]),
    )
    await expect(undone).rejects.toMatchObject({ code: '23505' })
    const left = (await database.all(read, {})).map(({ id }) => id)
    expect(left).not.toContain(22)
    expect(left).not.toContain(23)
  })

  test('a statement that comes after its transaction does nothing', async () => {
    const late = await database.transaction(async (transaction) => {
      await transaction.all(insert, { id: 24 })
      return { transaction }
    })
    await expect(late.transaction.all(insert, { id: 25 })).rejects.toThrow('over')
    expect((await database.all(read, {})).map(({ id }) => id)).not.toContain(25)
  })
})
