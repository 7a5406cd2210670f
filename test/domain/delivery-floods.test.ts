/** Messages of strangers wait behind those of owners, and messages to nobody are in nobody's way. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { newEmail, PASSWORD, type Person, registration } from '../helpers/api-client.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import { createTestClock } from '../helpers/service.ts'
import { measured } from '../helpers/timing.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** Messages of another process, which wait for longer than any other. */
const queue = (destination: string, lane: number, count: number) =>
  statement(
    sql.raw(`
    insert into messages (channel, destination, purpose, language, code_subject, code_purpose, code_seed, lane,
                          created_at, next_attempt_at)
    select 'email', '${destination}', 'confirmation', 'fr', gen_random_uuid(), 'confirmation', '\\x${'00'.repeat(16)}', ${lane},
           now() - interval '1 minute', now() - interval '1 minute'
      from generate_series(1, ${count})`),
  )
const waiting = (lane: number) =>
  statement<object, { count: number }>(
    sql.raw(`select count(*)::int as count from messages where finished_at is null and lane = ${lane}`),
  )

test('e-mails of strangers beyond smtp.strangers_per_hour wait, and those of an owner do not', async () => {
  await using service = await startLimited({
    clock: createTestClock(),
    settings: { smtp: { strangers_per_hour: 6 }, limits: { codes_burst: 100, codes_per_hour: 100 } },
  })
  const { person: owner, bearer } = await service.signedIn()
  const strangers = Array.from({ length: 5 }, newEmail)
  for (const email of strangers) {
    expect((await service.post('register', registration(email), newClient())).status).toBe(201)
  }
  await waitFor(() => strangers.filter((email) => service.inbox.textsTo(email).length > 0).length === 2)
  const before = service.inbox.textsTo(owner.identifier).length
  await service.post('2fa/enable', { password: PASSWORD }, { bearer })
  await waitFor(() => service.inbox.textsTo(owner.identifier).length > before, { timeoutMs: 10_000 })
  expect(strangers.filter((email) => service.inbox.textsTo(email).length > 0)).toHaveLength(2)
})

describe.each(['embedded', 'postgres'] as const)('in the shape %s', (shape) => {
  const service = useService({ shape })
  let owner: Person
  let bearer: string
  beforeAll(async () => {
    ;({ person: owner, bearer } = await service.signedIn())
  })

  const count = async (lane: number) => (await service.inside.database.first(waiting(lane), {}))?.count ?? 0

  /** Milliseconds until the owner has the code that they asked for in their session. */
  async function untilCode(): Promise<number> {
    const startedAt = performance.now()
    const before = service.inbox.textsTo(owner.identifier).length
    const answer = await service.post('2fa/enable', { password: PASSWORD }, { bearer })
    expect(answer.status).toBe(201)
    await waitFor(() => service.inbox.textsTo(owner.identifier).length > before, { intervalMs: 2 })
    return performance.now() - startedAt
  }

  test('behind 20,000 messages to nobody, an owner has a code within a second', async () => {
    await service.inside.database.all(queue('', 2, 20_000), {})
    expect(await measured(untilCode, (ms) => ms < 1000)).toBeLessThan(1000)
    const left = await count(2)
    expect(left).toBeGreaterThan(0)
    await waitFor(async () => (await count(2)) < left, { what: 'messages to nobody to be discarded' })
    await service.inside.database.all(statement(sql`delete from messages where lane = 2`), {})
  })

  test('behind 2,000 messages that strangers caused, on a slow mail server, an owner has a code within a second', async () => {
    service.smtp.behave({ delayMs: 300 })
    await service.inside.database.all(queue('stranger@example.com', 1, 2000), {})
    await waitFor(() => service.smtp.messages.some(({ to }) => to === 'stranger@example.com'))
    expect(await measured(untilCode, (ms) => ms < 1000)).toBeLessThan(1000)
    expect(await count(1)).toBeGreaterThan(1000)
    await service.inside.database.all(statement(sql`delete from messages where lane = 1`), {})
    service.smtp.behave({})
  })
})
