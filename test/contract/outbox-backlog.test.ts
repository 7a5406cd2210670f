/** The speed of the outbox while thousands wait in it. It measures time: see `timed` in scripts/test. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import type { CodeMessage } from '../../src/domain/messages/outbox/store.ts'
import { createMessageStore } from '../../src/domain/messages/outbox/store.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { measureBelow } from '../helpers/soak.ts'
import { after, allowing, coded, leaseMs, openOutbox, outboxes, start } from './outboxes.ts'

setDefaultTimeout(60_000)

describe.each(outboxes)('the outbox in %s', (name) => {
  let opened: Awaited<ReturnType<typeof openOutbox>>
  beforeAll(async () => {
    opened = await openOutbox(name)
  })
  afterAll(() => opened.close())

  test('is as fast when thousands wait as it was planned for when none did', async () => {
    const { database } = opened
    const store = createMessageStore(database)
    const code = () => coded() as CodeMessage
    const run = (text: SQL) => database.all(statement(text), {})
    await run(sql`analyze messages`)
    // PostgreSQL keeps a plan from the sixth execution on a connection on.
    await Promise.all(Array.from({ length: 100 }, () => store.claim('sms', start, leaseMs, allowing(1))))
    await Promise.all(Array.from({ length: 100 }, () => store.addCode(code(), after(60_000))))
    const backlog = (channel: string, from: number, count: number) => sql`
      select ${channel}, ${channel}, 'confirmation', 'fr', gen_random_uuid(), 'confirmation', ''::bytea,
             ${start.toISOString()}::timestamptz, ${after(from).toISOString()}::timestamptz + n * interval '1 ms'
        from generate_series(1, ${count}::int) n`
    const waiting = [
      backlog('email', 0, 30_000),
      backlog('sms', 60_000, 30_000),
      backlog('application', 0, 30_000),
    ]
    for (const rows of waiting)
      await run(sql`
        insert into messages (channel, destination, purpose, language, code_subject, code_purpose, code_seed,
                              created_at, next_attempt_at)
        ${rows}`)
    const timed = async () => {
      const beginMs = performance.now()
      for (let round = 0; round < 20; round++) {
        await Promise.all(Array.from({ length: 10 }, () => store.addCode(code(), after(90_000))))
        expect(await store.claim('email', after(20_000), leaseMs, allowing(8))).toHaveLength(8)
        expect(await store.claim('sms', after(20_000), leaseMs, allowing(8))).toHaveLength(0)
        // Of those that wait for one application none is another one's.
        const claimed = store.claim('application', after(20_000), leaseMs, allowing(8), 'another')
        expect(await claimed).toHaveLength(0)
      }
      return performance.now() - beginMs
    }
    expect(await measureBelow(700, timed)).toBeLessThan(700)
  })
})
