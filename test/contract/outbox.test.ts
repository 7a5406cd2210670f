/** The promise of the outbox, on both databases. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import {
  messageParams,
  messageParamTypes,
  queueMessage,
  supersedePending,
} from '../../src/domain/messages/outbox/queue-sql.ts'
import type { CodeMessage } from '../../src/domain/messages/outbox/store.ts'
import { createMessageStore } from '../../src/domain/messages/outbox/store.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { after, allowing, coded, leaseMs, notice, openOutbox, outboxes, start } from './outboxes.ts'

setDefaultTimeout(20_000)

interface Row {
  id: number
  channel: string
  outcome: string | null
  detail: string | null
  finishedAt: Date | null
}

const all = statement<Record<string, never>, Row>(
  sql`select id, channel, outcome, detail, finished_at from messages order by id`,
)
const empty = statement<Record<string, never>>(sql`delete from messages`)

const { codeSubject: _, ...withoutSubject } = messageParamTypes

const register = defineStatement({
  name: 'test.register',
  params: { ...withoutSubject, now: 'timestamptz', uuid: 'uuid', wanted: 'boolean' },
  row: { id: 'bigint' },
  sql: (p) => sql`
    with account as (select ${p.uuid} as uuid where ${p.wanted}),
         replaced as (${supersedePending({ ...p, codeSubject: sql`(select uuid from account)` })}),
         queued as (${queueMessage({ ...p, codeSubject: sql`account.uuid` }, sql`account`)} returning id)
    select id from queued`,
})

const supersede = defineStatement({
  name: 'test.supersede',
  params: { now: 'timestamptz', codeSubject: 'uuid', codePurpose: 'text', codeGroup: 'text' },
  sql: supersedePending,
})

describe.each(outboxes)('the outbox in %s', (name) => {
  let opened: Awaited<ReturnType<typeof openOutbox>>
  beforeAll(async () => {
    opened = await openOutbox(name)
  }, 60_000)
  afterAll(() => opened.close())
  beforeEach(async () => {
    await opened.database.all(empty, {})
  })
  const outbox = () => ({ database: opened.database, store: createMessageStore(opened.database) })
  const rows = () => opened.database.all(all, {})

  test('gives back what was added, with its code as a seed only', async () => {
    const { database, store } = outbox()
    const message = coded()
    await store.add(database, notice, start)
    await store.add(database, message, start)
    expect(await store.claim('email', after(5), leaseMs, allowing(10))).toEqual([
      {
        id: expect.any(Number),
        channel: 'email',
        destination: 'ada@example.com',
        purpose: 'password_changed',
        language: 'fr',
        values: notice.values as Record<string, string>,
        codeSubject: null,
        codePurpose: null,
        codeGroup: 'stranger',
        codeSeed: null,
        lane: 0,
        requestId: null,
        accountUuid: null,
        createdAt: start,
        attempts: 1,
        firstAttemptAt: after(5),
        detail: null,
      },
    ])
    const [sms] = await store.claim('sms', after(5), leaseMs, allowing(10))
    expect(sms).toMatchObject({ codeSubject: message.code?.subject, codePurpose: 'confirmation', values: {} })
    expect([...(sms?.codeSeed ?? [])]).toEqual([0, 1, 2, 255])
  })

  test('keeps nothing of a transaction that fails', async () => {
    const { database, store } = outbox()
    const failing = database.transaction(async (transaction) => {
      await store.add(transaction, notice, start)
      throw new Error('undone')
    })
    expect(await failing.catch((error: Error) => error.message)).toBe('undone')
    expect(await rows()).toEqual([])
  })

  test('takes a message in the statement that causes it, and replaces the older ones of its code', async () => {
    const { database, store } = outbox()
    const subject = crypto.randomUUID()
    const other = crypto.randomUUID()
    await store.add(database, coded(subject), start)
    await store.add(database, coded(other), start)
    const params = { ...messageParams(coded()), now: after(1), uuid: subject }
    expect(await database.all(register, { ...params, wanted: false })).toHaveLength(0)
    expect(await database.all(register, { ...params, wanted: true })).toHaveLength(1)
    const outcomes = (await rows()).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['replaced', null, null])
  })

  test('adds a code and replaces the older ones in one go', async () => {
    const { store } = outbox()
    const message = coded() as CodeMessage
    for (let i = 0; i < 3; i++) await store.addCode(message, after(i))
    await store.addCode(coded() as CodeMessage, after(3))
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['replaced', 'replaced', null, null])
  })

  test('replaces the waiting messages of one code and purpose, in a transaction', async () => {
    const { database, store } = outbox()
    const subject = crypto.randomUUID()
    for (let i = 0; i < 3; i++) await store.add(database, coded(subject), start)
    await database.all(supersede, {
      codeSubject: subject,
      codePurpose: 'two_factor',
      codeGroup: 'stranger',
      now: after(1),
    })
    expect((await rows()).filter(({ outcome }) => outcome !== null)).toHaveLength(0)
    await database.transaction(async (transaction) => {
      await transaction.all(supersede, {
        codeSubject: subject,
        codePurpose: 'confirmation',
        codeGroup: 'stranger',
        now: after(1),
      })
      await store.add(transaction, coded(subject), after(1))
    })
    expect((await rows()).map(({ outcome }) => outcome)).toEqual(['replaced', 'replaced', 'replaced', null])
  })

  test('replacing and adding at once by many leaves everybody an answer', async () => {
    const { database, store } = outbox()
    const subject = crypto.randomUUID()
    for (let i = 0; i < 5; i++) await store.add(database, coded(subject), start)
    await Promise.all(
      Array.from({ length: 16 }, () =>
        database.transaction(async (transaction) => {
          await transaction.all(supersede, {
            codeSubject: subject,
            codePurpose: 'confirmation',
            codeGroup: 'stranger',
            now: after(1),
          })
          await store.add(transaction, coded(subject), after(1))
        }),
      ),
    )
    expect(await rows()).toHaveLength(21)
  })

  test('lends a message to one taker until its lease ends, renewed or not', async () => {
    const { database, store } = outbox()
    await store.add(database, notice, start)
    const [taken] = await store.claim('email', start, leaseMs, allowing(10))
    expect(await store.claim('email', after(leaseMs - 1), leaseMs, allowing(10))).toHaveLength(0)
    await store.renew([taken?.id as number], after(2 * leaseMs))
    expect(await store.claim('email', after(leaseMs), leaseMs, allowing(10))).toHaveLength(0)
    const [again] = await store.claim('email', after(2 * leaseMs), leaseMs, allowing(10))
    expect(again).toMatchObject({ id: taken?.id, attempts: 2, firstAttemptAt: after(2 * leaseMs) })
  })

  test('counts the life of a code from the first attempt that was noted', async () => {
    const { database, store } = outbox()
    await store.add(database, coded(), start)
    const [first] = await store.claim('sms', start, leaseMs, allowing(1))
    await store.postpone(first?.id as number, after(1000), 0)
    const [second] = await store.claim('sms', after(1000), leaseMs, allowing(1))
    expect(second).toMatchObject({ attempts: 1, firstAttemptAt: after(1000), detail: null })
    await store.retry(first?.id as number, after(3000), { detail: 'acme:503', reply: null })
    const [third] = await store.claim('sms', after(3000), leaseMs, allowing(1))
    expect(third).toMatchObject({ attempts: 2, firstAttemptAt: after(1000), detail: 'acme:503' })
  })

  test('never gives a message to two of many takers', async () => {
    const { database, store } = outbox()
    for (let i = 0; i < 60; i++) await store.add(database, notice, start)
    const takers = Array.from({ length: 16 }, () => store.claim('email', start, leaseMs, allowing(7)))
    const ids = (await Promise.all(takers)).flat().map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const rest = await store.claim('email', start, leaseMs, allowing(100))
    expect(ids.length + rest.length).toBe(60)
  })

  test('takes the limit, the longest due first, of one channel', async () => {
    const { database, store } = outbox()
    await store.add(database, { ...notice, destination: 'late@example.com' }, after(2))
    await store.add(database, { ...notice, destination: 'early@example.com' }, after(1))
    await store.add(database, coded(), start)
    const [first, ...others] = await store.claim('email', after(5), leaseMs, allowing(1))
    expect(others).toEqual([])
    expect(first?.destination).toBe('early@example.com')
  })

  test('finishes a message for good, and what was sent counts as sent even when replaced meanwhile', async () => {
    const { database, store } = outbox()
    const subject = crypto.randomUUID()
    await store.add(database, coded(subject), start)
    const [taken] = await store.claim('sms', start, leaseMs, allowing(1))
    const id = taken?.id as number
    await database.all(supersede, {
      codeSubject: subject,
      codePurpose: 'confirmation',
      codeGroup: 'stranger',
      now: after(1),
    })
    await store.retry(id, after(2), { detail: 'acme:503', reply: null })
    await store.renew([id], after(2))
    expect(await store.claim('sms', after(leaseMs), leaseMs, allowing(1))).toHaveLength(0)
    const finished = { id, reply: null, gateway: null, providerId: null }
    await store.finish({ ...finished, outcome: 'sent', detail: 'acme', now: after(3) })
    await store.finish({ ...finished, outcome: 'expired', detail: 'late', now: after(4) })
    expect(await rows()).toMatchObject([{ id, outcome: 'sent', detail: 'acme', finishedAt: after(3) }])
  })

  test('does not lose a message to a clock that was set back by an hour', async () => {
    const { database, store } = outbox()
    await store.add(database, notice, after(3_600_000))
    expect(await store.claim('email', start, leaseMs, allowing(10))).toHaveLength(1)
  })

  test('sweeps what was finished long ago, and nothing that waits', async () => {
    const { database, store } = outbox()
    for (let i = 0; i < 3; i++) await store.add(database, notice, start)
    const [first, second] = await store.claim('email', start, leaseMs, allowing(2))
    const sent = { outcome: 'sent', detail: 'smtp', reply: null, gateway: null, providerId: null } as const
    await store.finish({ ...sent, id: first!.id, now: after(1) })
    await store.finish({ ...sent, id: second!.id, now: after(5) })
    expect(await store.sweep(after(5), 10)).toBe(1)
    expect(await rows()).toHaveLength(2)
  })
})
