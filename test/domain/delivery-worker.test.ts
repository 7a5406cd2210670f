/** The delivery worker on a real outbox: at once, once, again when it failed, never more than it should. */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { SendingCodes } from '../../src/domain/messages/delivery/delivery-attempt.ts'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerOptions,
} from '../../src/domain/messages/delivery/worker.ts'
import type { NewMessage } from '../../src/domain/messages/outbox/message.ts'
import type { MessageStore } from '../../src/domain/messages/outbox/store.ts'
import { createMessageStore } from '../../src/domain/messages/outbox/store.ts'
import { createRenderer } from '../../src/domain/messages/rendering/render.ts'
import type { MessageSender, RenderedMessage, SendOutcome } from '../../src/domain/messages/senders/sender.ts'
import { createSmtpSender } from '../../src/domain/messages/smtp/smtp.ts'
import { type Database, statement } from '../../src/platform/postgres/database.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { createFrozenClock } from '../helpers/limited-service.ts'
import { createDatabase, startPostgres, type TestDatabase } from '../helpers/servers.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { longTest } from '../helpers/soak.ts'
import { measured } from '../helpers/timing.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

let place: TestDatabase
let database: Database
let store: MessageStore
beforeAll(async () => {
  place = await createDatabase()
  database = openServer({ url: place.url, poolSize: 10 })
  store = createMessageStore(database)
}, 60_000)
afterAll(async () => {
  await database.close()
  await place.drop()
})

const clock = { offsetMs: 0, now: () => new Date(Date.now() + clock.offsetMs) }
const workers: DeliveryWorker[] = []
const lines: Record<string, unknown>[] = []
const sent: RenderedMessage[] = []
const started: string[] = []
beforeEach(async () => {
  await database.all(statement(sql`delete from messages`), {})
  clock.offsetMs = 0
  for (const list of [lines, sent, started]) list.splice(0)
})
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close()
})

const keep = (level: string) => (fields: Record<string, unknown>, message: string) => {
  lines.push({ level, message, ...fields })
}
const logger = { info: keep('info'), warn: keep('warn'), error: keep('error') }
const codes: SendingCodes = {
  start: async ({ subject }) => {
    started.push(subject)
    return true
  },
  reveal: () => '012345',
}
const render = createRenderer(
  {
    server: { baseUrl: 'https://auth.example.com' },
    smtp: null,
    sms: { autofillDomain: null },
    texts: { serviceName: null, logoUrl: null, support: null, colour: '#0f5f6b', layoutHtml: null },
  } as never,
  createCatalog({ language: 'fr' }),
)

/** Answers what `next` gives; keeps what it was given. */
function senderOf(next: (message: RenderedMessage) => SendOutcome | Promise<SendOutcome>): MessageSender {
  return {
    async send(message) {
      sent.push(message)
      return next(message)
    },
    async close() {},
  }
}
/** Says which try it was: until its failure is noted, a message is due when its lease ends. */
const failing = senderOf(() => ({ outcome: 'failed', detail: `try_${sent.length}` }))
const ok = senderOf(() => ({ outcome: 'sent', detail: 'smtp' }))
const down = senderOf(() => ({ outcome: 'failed', detail: 'smtp_451' }))

function work(options: Partial<DeliveryWorkerOptions> = {}): DeliveryWorker {
  const worker = createDeliveryWorker({
    store,
    codes,
    codeLifetimeSeconds: 600,
    render,
    sender: ok,
    clock,
    logger,
    pollMs: 50,
    ...options,
  })
  worker.start()
  workers.push(worker)
  return worker
}

const notice: NewMessage = {
  channel: 'email',
  destination: 'ada@example.com',
  purpose: 'password_changed',
  language: 'fr',
}
const coded = (): NewMessage => ({
  ...notice,
  purpose: 'confirmation',
  code: {
    subject: crypto.randomUUID(),
    purpose: 'confirmation',
    group: 'stranger',
    seed: new Uint8Array(16),
  },
})
const add = (message: NewMessage) => store.add(database, message, clock.now())

interface Row {
  outcome: string | null
  attempts: number
  detail: string | null
  dueMs: number
  finishedAt: Date | null
}
const rows = () =>
  database.all(
    statement<Record<string, never>, Row>(sql`
      select outcome, attempts, detail, finished_at,
             extract(epoch from next_attempt_at)::float8 * 1000 as due_ms
        from messages order by id`),
    {},
  )
const outcomes = async () => (await rows()).map(({ outcome }) => outcome)
const untilOutcome = (outcome: string) =>
  waitFor(async () => (await outcomes())[0] === outcome, { what: `outcome ${outcome}` })
const untilFailed = (attempt: number) =>
  waitFor(async () => (await rows()).find(({ detail }) => detail === `try_${attempt}`))
const untilAttempts = (attempts: number) =>
  waitFor(async () => {
    const [row] = await rows()
    return row?.attempts === attempts && row.detail !== null
  })

describe('a message', () => {
  test('goes out at once when the worker is woken, with its code', async () => {
    const worker = work({ pollMs: 60_000 })
    await Bun.sleep(100)
    const untilSent = async () => {
      const count = sent.length + 1
      await add(coded())
      const start = performance.now()
      worker.wake()
      await waitFor(() => sent.length === count, { intervalMs: 1 })
      return performance.now() - start
    }
    expect(await measured(untilSent, (ms) => ms < 150)).toBeLessThan(150)
    await untilOutcome('sent')
    expect(sent[0]).toMatchObject({ to: 'ada@example.com', code: '012345', purpose: 'confirmation' })
    expect(sent[0]?.text).toContain('10 minutes')
  })

  test('goes out without a wake, as when another process queued it', async () => {
    work()
    await add(notice)
    await untilOutcome('sent')
  })

  test('that is refused is never tried again', async () => {
    await add(notice)
    work({ sender: senderOf(() => ({ outcome: 'refused', detail: 'smtp_550' })) })
    await untilOutcome('refused')
    clock.offsetMs = 3_600_000
    await Bun.sleep(200)
    expect(sent).toHaveLength(1)
    expect(await rows()).toMatchObject([{ outcome: 'refused', detail: 'smtp_550', attempts: 1 }])
  })

  /** Returns the seconds between the attempts until it is given up. */
  async function waitsOf(message: NewMessage): Promise<number[]> {
    const still = createFrozenClock()
    await store.add(database, message, still.now())
    const worker = work({ sender: failing, clock: still, random: () => 0.5 })
    const waits: number[] = []
    const given = sent.length
    for (let attempt = 1; (await outcomes())[0] !== 'expired'; attempt++) {
      const row = await waitFor(async () =>
        (await rows()).find(({ detail, outcome }) => outcome !== null || detail === `try_${given + attempt}`),
      )
      if (row.outcome !== null) break
      const waitMs = row.dueMs - still.now().getTime()
      waits.push(waitMs / 1000)
      still.advance(waitMs)
      worker.wake()
    }
    return waits
  }
  const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other, 0)
  const HOUR = 3600
  const beginning = [2.2, 11, 33, 99, 264, 660, 1980, 3960, 3960]

  test('is tried again at growing intervals: for a day by mail, for six hours by SMS', async () => {
    const waits = await waitsOf(notice)
    expect(waits.slice(0, 9)).toEqual(beginning)
    expect(sum(waits)).toBeGreaterThanOrEqual(24 * HOUR)
    expect(sum(waits)).toBeLessThan(26 * HOUR)
  })

  test('by SMS is tried on for six hours', async () => {
    const waits = await waitsOf({ ...notice, channel: 'sms', destination: '+33612345678' })
    expect(waits.slice(0, 9)).toEqual(beginning)
    expect(sum(waits)).toBeGreaterThanOrEqual(6 * HOUR)
    expect(sum(waits)).toBeLessThan(8 * HOUR)
  })

  test.each(['email', 'sms'] as const)(
    'with a link by %s is tried on while the link is good',
    async (channel) => {
      const values = { expires_at: new Date(Date.now() + 48 * HOUR * 1000).toISOString() }
      const waits = await waitsOf({ ...notice, channel, values })
      expect(sum(waits)).toBeGreaterThan(46 * HOUR)
      expect(sum(waits)).toBeLessThan(48 * HOUR)
    },
  )

  test('with a code is tried on until the code is dead', async () => {
    expect(await waitsOf(coded())).toEqual([2.2, 11, 33, 99, 264])
  })

  test('that may have been taken is not tried again', async () => {
    await add(coded())
    work({ sender: senderOf(() => ({ outcome: 'unknown', detail: 'acme:timeout' })) })
    await untilOutcome('unknown')
    clock.offsetMs = 3_600_000
    await Bun.sleep(200)
    expect(sent).toHaveLength(1)
    expect(await rows()).toMatchObject([{ outcome: 'unknown', detail: 'acme:timeout', attempts: 1 }])
  })

  test('goes out once the server is back', async () => {
    await add(notice)
    let away = true
    const worker = work({
      sender: senderOf(() =>
        away ? { outcome: 'failed', detail: 'smtp_connection' } : { outcome: 'sent', detail: 'smtp' },
      ),
    })
    await untilAttempts(1)
    away = false
    clock.offsetMs = 3000
    worker.wake()
    await untilOutcome('sent')
    expect(sent).toHaveLength(2)
  })

  test('reaches a real mail server that first said "try again"', async () => {
    const server = await startSmtp({ behaviour: { refuse: { status: 451, at: 'data' } } })
    const sender = createSmtpSender({
      baseUrl: 'https://auth.example.com',
      ca: server.ca,
      smtp: {
        host: server.host,
        port: server.port,
        security: 'starttls',
        username: 'poterne',
        password: 'mail-password',
        from: 'Acme <no-reply@example.com>',
        replyTo: null,
        dkimSelector: null,
        caFile: null,
        strangersPerHour: 5000,
        fallback: [],
      },
    })
    await add(coded())
    const worker = work({ sender })
    await untilAttempts(1)
    server.behave({})
    clock.offsetMs = 3000
    worker.wake()
    const mail = await server.waitForMailTo('ada@example.com')
    expect(mail).toMatchObject({ code: '012345', username: 'poterne', secure: true })
    expect(mail.html?.replaceAll(/<[^>]+>/g, '')).toContain('012345')
    await untilOutcome('sent')
    expect(server.messages).toHaveLength(1)
    await sender.close()
    await server.stop()
  })

  test('on one channel does not wait for the other', async () => {
    for (let i = 0; i < 20; i++) await add(notice)
    await add({ ...notice, channel: 'sms', destination: '+33612345678' })
    const mails = Promise.withResolvers<SendOutcome>()
    work({
      sender: senderOf(({ channel }) => (channel === 'sms' ? ok.send({} as never) : mails.promise)),
    })
    await waitFor(async () => (await outcomes()).includes('sent'))
    expect(await outcomes()).toEqual([...Array(20).fill(null), 'sent'])
    mails.resolve({ outcome: 'sent', detail: 'smtp' })
  })

  test('of a purpose or language of another version does no harm', async () => {
    await add({ ...notice, purpose: 'of_tomorrow' as never })
    await add({ ...notice, language: 'de' as never })
    work()
    await waitFor(async () => {
      const [unknown, foreign] = await rows()
      return unknown?.detail === 'internal_error' && foreign?.outcome === 'sent'
    })
    expect(await outcomes()).toEqual([null, 'sent'])
    expect(sent).toMatchObject([{ language: 'fr' }])
  })
})

describe('a code', () => {
  test('begins its life at the first sending, and not again at the next', async () => {
    const message = coded()
    await add(message)
    const worker = work({ sender: down })
    await untilAttempts(1)
    clock.offsetMs = 3000
    worker.wake()
    await untilAttempts(2)
    expect(started).toEqual([message.code?.subject as string])
  })

  test('that was replaced is not sent', async () => {
    await store.add(database, coded(), new Date(Date.now() - 6000))
    work({ codes: { ...codes, start: async () => false } })
    await untilOutcome('replaced')
    expect(sent).toHaveLength(0)
  })

  test('whose seed was not read as it was written is an error, and not replaced', async () => {
    const message = coded()
    message.code!.seed = new TextEncoder().encode('\\x00ff')
    await store.add(database, message, new Date(Date.now() - 6000))
    work()
    await untilOutcome('expired')
    expect(await rows()).toMatchObject([{ detail: 'code_unreadable' }])
    expect(sent).toHaveLength(0)
  })

  test('that comes to live a moment after its message was committed is sent', async () => {
    let calls = 0
    await add(coded())
    work({ codes: { ...codes, start: async () => ++calls > 2 } })
    await untilOutcome('sent')
    expect(await rows()).toMatchObject([{ attempts: 1 }])
  })

  test('that is due again before the outbox has said so is sent at once', async () => {
    let [calls, postponements] = [0, 0]
    await add(coded())
    const slow: MessageStore = {
      ...store,
      postpone: async (...postponed) => {
        await store.postpone(...postponed)
        if (++postponements === 1) await Bun.sleep(600)
      },
    }
    const startedAt = Date.now()
    work({ store: slow, codes: { ...codes, start: async () => ++calls > 1 } })
    await untilOutcome('sent')
    expect(Date.now() - startedAt).toBeLessThan(5000)
    expect(await rows()).toMatchObject([{ attempts: 1 }])
    expect(sent).toHaveLength(1)
  })

  test('waits, and does not age, while the codes do not answer', async () => {
    await add(coded())
    let away = true
    const start: SendingCodes['start'] = async (binding, seed) => {
      if (away) throw new Error('away')
      return codes.start(binding, seed)
    }
    const worker = work({ codes: { ...codes, start } })
    await waitFor(() => lines.some(({ message }) => message === 'the codes do not answer'))
    clock.offsetMs = 3_600_000
    away = false
    worker.wake()
    await untilOutcome('sent')
    expect(await rows()).toMatchObject([{ attempts: 1 }])
    expect(sent[0]?.text).toContain('10 minutes')
  })

  test('that would arrive dead is not sent, and a late one tells what is left of its life', async () => {
    await add(coded())
    const still = createFrozenClock()
    const worker = work({ sender: failing, clock: still, random: () => 0 })
    for (const [index, seconds] of [3, 11, 36, 100, 270].entries()) {
      await untilFailed(index + 1)
      still.advance(seconds * 1000)
      worker.wake()
      await waitFor(() => sent.length === index + 2)
    }
    await untilOutcome('expired')
    expect(sent.map(({ text }) => /(\d+) minutes?/.exec(text)?.[1])).toEqual(['10', '10', '9', '9', '7', '3'])
  })

  test('whose tries the process slept through is not sent', async () => {
    await add(coded())
    const worker = work({ sender: down })
    await untilAttempts(1)
    clock.offsetMs = 601_000
    worker.wake()
    await untilOutcome('expired')
    expect(sent).toHaveLength(1)
  })
})

describe('many', () => {
  test('two workers send 200 messages once each, a bounded number at once', async () => {
    let atOnce = 0
    let most = 0
    const sender = senderOf(async () => {
      most = Math.max(most, ++atOnce)
      await Bun.sleep(5)
      atOnce--
      return { outcome: 'sent', detail: 'smtp' }
    })
    await Promise.all(Array.from({ length: 200 }, () => add(notice)))
    const other = openServer({ url: place.url, poolSize: 4 })
    work({ sender })
    work({ sender, store: createMessageStore(other) })
    await waitFor(async () => (await outcomes()).every((outcome) => outcome === 'sent'))
    await Bun.sleep(200)
    expect(sent).toHaveLength(200)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(200)
    expect(most).toBeLessThanOrEqual(16)
    await Promise.all(workers.splice(0).map((worker) => worker.close()))
    await other.close()
  })

  longTest('a sending longer than the lease is not taken by another worker', async () => {
    await add(notice)
    let renewals = 0
    const watched: MessageStore = {
      ...store,
      renew: async (...renewal) => {
        await store.renew(...renewal)
        renewals++
      },
    }
    // Three times within a lease: the fourth one comes after its end.
    const sender = senderOf(async () => {
      await waitFor(() => renewals === 4, { what: 'the lease to be renewed' })
      return { outcome: 'sent', detail: 'smtp' }
    })
    work({ store: watched, sender, leaseMs: 3000 })
    work({ store: watched, sender, leaseMs: 3000 })
    await untilOutcome('sent')
    expect(sent).toHaveLength(1)
  })

  test('what a killed process was sending, another sends within ten seconds', async () => {
    await add(coded())
    const child = spawn(
      process.execPath,
      [join(import.meta.dir, '../helpers/delivery-process.ts'), place.url],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
    const killed = new Promise((resolve) => child.once('exit', resolve))
    const killedAtMs = Date.now()
    child.kill('SIGKILL')
    await killed
    const [left] = await rows()
    let sentAtMs = 0
    work({
      sender: senderOf(() => {
        sentAtMs = Date.now()
        return { outcome: 'sent', detail: 'smtp' }
      }),
    })
    await waitFor(() => sentAtMs > 0, { timeoutMs: 15_000 })
    await untilOutcome('sent')
    expect(sent).toHaveLength(1)
    expect(sentAtMs).toBeGreaterThanOrEqual(left?.dueMs as number)
    expect(sentAtMs - killedAtMs).toBeLessThan(10_000)
    expect(await rows()).toMatchObject([{ attempts: 2 }])
  })
})

describe('trouble', () => {
  test('a sender that throws or never answers costs a try, not the worker', async () => {
    await add(notice)
    await add({ ...notice, destination: 'never@example.com' })
    const broken = senderOf(({ to }) => {
      if (to === 'never@example.com') return new Promise(() => {})
      throw new Error('ada@example.com is broken')
    })
    work({ sender: broken, sendTimeoutMs: 100 })
    await waitFor(async () => (await rows()).every(({ detail }) => detail !== null))
    expect((await rows()).map(({ detail }) => detail)).toEqual(['internal_error', 'send_timeout'])
  })

  test('an outbox that goes away while a message is under way: it is noted later, and sent once', async () => {
    const server = await startPostgres()
    const own = await createDatabase({ server })
    const link = openServer({ url: own.url, poolSize: 4 })
    const ownStore = createMessageStore(link)
    await ownStore.add(link, notice, clock.now())
    let stopped: Promise<void> | undefined
    const sender = senderOf(async () => {
      stopped = server.stop()
      await stopped
      return { outcome: 'sent', detail: 'smtp' }
    })
    const worker = work({ store: ownStore, sender, leaseMs: 5000 })
    await waitFor(() => lines.some(({ message }) => message === 'the outbox does not answer'))
    await stopped
    await server.start()
    await waitFor(
      async () =>
        (await link.first(statement<Record<string, never>, Row>(sql`select outcome from messages`), {}))
          ?.outcome === 'sent',
      { timeoutMs: 15_000 },
    )
    await Bun.sleep(300)
    expect(sent).toHaveLength(1)
    expect(lines.filter(({ message }) => message === 'the outbox does not answer').length).toBeLessThan(4)
    await worker.close()
    await link.close()
    await server.stop()
  }, 40_000)

  test('closing waits for what is under way and takes nothing more', async () => {
    await add(notice)
    const worker = work({
      sender: senderOf(() => Bun.sleep(300).then(() => ({ outcome: 'sent', detail: 'smtp' }))),
    })
    await waitFor(() => sent.length === 1)
    const closing = worker.close()
    await add(notice)
    await closing
    await Bun.sleep(150)
    expect(await outcomes()).toEqual(['sent', null])
  })

  test('closing does not wait beyond its time', async () => {
    const untilClosed = async () => {
      const count = sent.length + 1
      await add(notice)
      const worker = work({ sender: senderOf(() => new Promise(() => {})), closeTimeoutMs: 200 })
      await waitFor(() => sent.length === count)
      const start = performance.now()
      await worker.close()
      return performance.now() - start
    }
    expect(await measured(untilClosed, (ms) => ms < 1000)).toBeLessThan(1000)
    expect(lines.at(-1)).toMatchObject({ message: 'messages under way were left', messages: 1 })
  })

  test('the log tells each outcome, and neither destination, text nor code', async () => {
    await add(coded())
    await add({ ...notice, destination: 'grace@example.com' })
    work({
      sender: senderOf(({ to }) =>
        to === 'ada@example.com'
          ? { outcome: 'sent', detail: 'smtp' }
          : { outcome: 'failed', detail: 'smtp_451' },
      ),
    })
    await waitFor(() => lines.length >= 2)
    expect(lines).toContainEqual({
      level: 'info',
      message: 'message',
      message_id: expect.any(Number),
      request_id: null,
      account: expect.any(String),
      channel: 'email',
      purpose: 'confirmation',
      outcome: 'sent',
      attempts: 1,
      detail: 'smtp',
      delay_ms: expect.any(Number),
    })
    expect(JSON.stringify(lines)).not.toMatch(/example\.com|012345|Bonjour/)
  })
})
