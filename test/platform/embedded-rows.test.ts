/** Rows of the embedded database arrive whole and typed, and for who asked, from this thread and from one of its own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../src/platform/postgres/database.ts'
import { currentRequest, runAsRequest } from '../../src/platform/request-context.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { openEmbeddedInThread } from '../../src/storage/embedded/thread.ts'
import { newDataDirectory } from '../helpers/embedded-directory.ts'

setDefaultTimeout(60_000)

describe.each([
  ['in this thread', openEmbedded],
  ['in a thread of its own', openEmbeddedInThread],
] as const)('%s', (_, open) => {
  let database: Database
  beforeAll(async () => {
    database = await open(await newDataDirectory())
  })
  afterAll(() => database.close())

  const all = (text: string) => database.all(statement<object, Record<string, unknown>>(sql.raw(text)), {})

  test('each type has its own values, and any of them may be null', async () => {
    const [row, nulls] = await all(`
      select 'é€😀' as a_text, true as yes, 7::int2 as small, -7::int as whole, 9007199254740991::int8 as large,
             1.5::float8 as real, '2026-07-01T12:00:00.123Z'::timestamptz as at, date '2026-07-01' as day,
             '\\x00ff'::bytea as bytes, '{"a": [1, null]}'::jsonb as data, '"b"'::json as other,
             '00000000-0000-0000-0000-000000000001'::uuid as id
      union all select null, null, null, null, null, null, null, null, null, null, null, null`)
    expect(row).toEqual({
      aText: 'é€😀',
      yes: true,
      small: 7,
      whole: -7,
      large: 9007199254740991,
      real: 1.5,
      at: new Date('2026-07-01T12:00:00.123Z'),
      day: '2026-07-01',
      bytes: new Uint8Array([0, 255]),
      data: { a: [1, null] },
      other: 'b',
      id: '00000000-0000-0000-0000-000000000001',
    })
    expect(Object.values(nulls!)).toEqual(Array(12).fill(null))
  })

  test('the work of a transaction belongs to the request that asked for it, also where it waits for another', async () => {
    const askers = ['first', 'second', 'third']
    const seen = askers.map((requestId) =>
      runAsRequest({ requestId }, () =>
        database.transaction(async () => {
          await Bun.sleep(1)
          return currentRequest()?.requestId
        }),
      ),
    )
    expect(await Promise.all(seen)).toEqual(askers)
  })

  test('many rows, and rows larger than what PostgreSQL sends at once', async () => {
    const rows = await all(`select i, repeat(i::text || '€', 5000) as text from generate_series(1, 300) i`)
    expect(rows.length).toBe(300)
    for (const { i, text } of rows) expect(text).toBe(`${i}€`.repeat(5000))
    expect(await all('select 1 as one where false')).toEqual([])
  })

  test('the columns are those of now after the table has changed', async () => {
    await all('create table changing (first int)')
    await all('insert into changing values (1)')
    const read = () => all('select * from changing')
    expect(await read()).toEqual([{ first: 1 }])
    await all("alter table changing add column second_one text default 'b'")
    const expected = [{ first: 1, secondOne: 'b' }]
    expect(await Promise.all(Array.from({ length: 32 }, read))).toEqual(Array(32).fill(expected))
  })

  test('a refusal reaches its own caller among 32, with its code', async () => {
    const divide = statement<{ by: number }, { result: number }>(
      sql`select 100 / ${param('by', 'int')} as result`,
    )
    const asked = await Promise.allSettled(
      Array.from({ length: 32 }, (_, by) => database.first(divide, { by: by % 4 })),
    )
    for (const [index, answer] of asked.entries()) {
      const by = index % 4
      if (by > 0) expect(answer).toMatchObject({ value: { result: Math.trunc(100 / by) } })
      else expect(answer).toMatchObject({ reason: { code: '22012' } })
    }
  })
})
