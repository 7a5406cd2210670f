/**
 * The place of a random walk: the service in one or two replicas on servers of its own, a clock to move, and faults.
 * People call it from addresses of their own and read their own mail. Every answer is checked by the service's own
 * document; every secret that anybody learns is noted, to be searched for afterwards.
 */
import type { MessagePurpose } from '../../src/domain/messages/outbox/message.ts'
import type { Answer } from '../helpers/api-client.ts'
import { codeIn } from '../helpers/inbox.ts'
import { createDatabase, redisPrefix, startPostgres, startRedis } from '../helpers/servers.ts'
import {
  createTestClock,
  deliverySettings,
  nothingWaits,
  type Settings,
  type Shape,
  startService,
  type TestClock,
  type TestService,
} from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'
import { type AnswerCheck, createAnswerCheck } from './answers.ts'
import { purposeOf } from './purposes.ts'
import type { Random } from './seed.ts'
import { stalledMs } from './stalls.ts'

/** The caller is an owner of accounts, or somebody who wants those of others. */
export interface Actor {
  name: string
  address: string
}

export interface Arrival {
  /** The exact destination. */
  to: string
  purpose: MessagePurpose
  code: string | null
  /** The time by the world's clock. */
  atMs: number
}

export interface Secrets {
  passwords: Set<string>
  codes: Set<string>
  tokens: Set<string>
  /** Base32. */
  totp: Set<string>
  recovery: Set<string>
}

export interface Given {
  add(destination: string): void
  has(destination: string): boolean
  all(): string[]
}

/** Letter for letter, but for the domain of an address: the mail client writes that in small letters. */
function createGiven(): Given {
  const exact = new Set<string>()
  const form = (destination: string) => destination.replace(/@.*/, (domain) => domain.toLowerCase())
  return {
    add: (destination) => exact.add(form(destination)),
    has: (destination) => exact.has(form(destination)),
    all: () => [...exact],
  }
}

export interface World {
  readonly shape: Shape
  readonly limited: boolean
  readonly clock: TestClock
  readonly secrets: Secrets
  /** Destinations that somebody gave; nothing may go anywhere else. */
  readonly given: Given
  /** Everything that came so far, after `settle`. */
  readonly arrivals: Arrival[]
  nowMs(): number
  /** An operation under /api/v1/auth. Status 0: the connection broke. Throws for an answer that may never be. */
  ask(who: Actor, method: string, operation: string, body?: object, bearer?: string): Promise<Answer>
  /** The last call, for a failure to say. */
  asked(): string
  /** Waits until nothing is on its way any more. */
  settle(): Promise<void>
  faults: Faults
  service(): TestService
  log(): string[]
  redisUrl(): string | null
  close(): Promise<void>
}

export interface Faults {
  restartPostgres(): Promise<void>
  restartRedis(): Promise<void>
  flushRedis(): Promise<void>
  mailRefuses(refuses: boolean): void
  secondReplica(runs: boolean): Promise<void>
}

async function startServers(shape: Shape) {
  if (shape === 'embedded') return { settings: {}, postgres: null, redis: null }
  const postgres = await startPostgres()
  const redis = shape === 'redis' ? await startRedis() : null
  const { url } = await createDatabase({ server: postgres })
  const settings: Settings = { server: { secret: 'cd'.repeat(32) }, database: { url } }
  if (redis !== null) settings.redis = { url: redis.url, key_prefix: redisPrefix() }
  return { settings, postgres, redis }
}

export async function startWorld(random: Random, shape: Shape, limited: boolean): Promise<World> {
  const servers = await startServers(shape)
  const clock = createTestClock()
  const own: Settings = {
    server: { trusted_proxies: ['127.0.0.1'] },
    limits: { enabled: limited },
    passkeys: { rp_id: 'example.com' },
  }
  const start = (settings: Settings) =>
    startService({ shape, clock, settings, ...(shape !== 'embedded' && { storage: servers.settings }) })
  const first = await start(own)
  const delivery = deliverySettings(first.smtp, first.gateway)
  let second: TestService | null = null
  const logs: string[][] = [first.log]
  let expectFaults = false
  let asked = 'nothing'
  const secrets: Secrets = {
    passwords: new Set(),
    codes: new Set(),
    tokens: new Set(),
    totp: new Set(),
    recovery: new Set(),
  }
  const given = createGiven()
  const nowMs = () => clock.now().getTime()
  const answerCheck = createAnswerCheck((await first.call('GET', '/swagger/json')).body)
  const post = createPost(answerCheck, secrets, () => expectFaults)
  const { arrivals, collect } = createPostman(first, { secrets, given, nowMs })

  async function during(fault: () => Promise<void>): Promise<void> {
    expectFaults = true
    await fault()
    for (const { url } of second === null ? [first] : [first, second])
      await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200, {
        what: 'the service to be back',
      })
    expectFaults = false
  }

  return {
    shape,
    limited,
    clock,
    secrets,
    given,
    arrivals,
    nowMs,
    async ask(who, method, operation, body, bearer) {
      const { url } = second !== null && random.oneIn(2) ? second : first
      asked = `${operation} by ${who.name} ${JSON.stringify(body)}`
      return post(url, { who, method, operation, body, bearer })
    },
    asked: () => asked,
    async settle() {
      const isQuiet = () => nothingWaits(first.inside)
      const soon = Date.now() + 300
      while (!(await isQuiet()) && Date.now() < soon) await Bun.sleep(3)
      // A message that is not the one any more is given up once it is not young.
      if (!(await isQuiet())) clock.advance(6000)
      await waitFor(isQuiet, { what: 'the messages to have gone', timeoutMs: 30_000, intervalMs: 10 })
      collect()
    },
    faults: {
      restartPostgres: () => during(async () => servers.postgres?.restart()),
      restartRedis: () => during(async () => servers.redis?.restart()),
      async flushRedis() {
        if (servers.redis === null) return
        const redis = new Bun.RedisClient(servers.redis.url)
        await redis.send('FLUSHALL', [])
        redis.close()
      },
      mailRefuses(refuses) {
        first.smtp.behave(refuses ? { refuse: { status: 451, at: 'recipient' } } : {})
      },
      async secondReplica(runs) {
        if (shape === 'embedded' || runs === (second !== null)) return
        const replica = second
        second = null
        if (replica !== null) return replica.close()
        const started = await start({ ...own, ...delivery })
        logs.push(started.log)
        second = started
      },
    },
    service: () => first,
    log: () => logs.flat(),
    redisUrl: () => servers.redis?.url ?? null,
    async close() {
      await second?.close()
      await first.close()
      await Promise.all([servers.redis?.stop(), servers.postgres?.stop()])
    },
  }
}

interface Asked {
  who: Actor
  method: string
  operation: string
  body: object | undefined
  bearer: string | undefined
}

/** One call; what it hands out is noted as secret. */
function createPost(answerCheck: AnswerCheck, secrets: Secrets, expectFaults: () => boolean) {
  function noteSecrets(body: Answer['body']): void {
    for (const name of ['access_token', 'refresh_token']) if (body?.[name]) secrets.tokens.add(body[name])
    if (body?.secret) secrets.totp.add(body.secret)
    for (const code of body?.recovery_codes ?? []) secrets.recovery.add(code)
  }

  return async (url: string, { who, method, operation, body, bearer }: Asked): Promise<Answer> => {
    const path = `/api/v1/auth/${operation}`
    const headers: Record<string, string> = { 'x-forwarded-for': who.address }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
    // A fault may be over by the time the answer comes.
    const begunInFault = expectFaults()
    const isExcused = () => begunInFault || expectFaults()
    const [startedAt, stalledBefore] = [performance.now(), stalledMs()]
    let response: Response
    let text: string
    try {
      response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      text = await response.text()
    } catch (error) {
      if (!isExcused()) throw error
      return { status: 0, headers: new Headers(), body: {} }
    }
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      ms: performance.now() - startedAt - (stalledMs() - stalledBefore),
    }
    const sent = Object.values(body ?? {}).filter((value) => typeof value === 'string')
    const known = [...secrets.passwords, ...secrets.tokens, ...secrets.totp, ...secrets.recovery]
    const problems = answerCheck
      .check({ method, path, sent }, answer, known)
      .filter((problem) => !(isExcused() && /^answered 503|^took/.test(problem)))
    if (problems.length > 0)
      throw new Error(
        `${method} ${operation} ${response.status}: ${problems.join('; ')} ${text.slice(0, 300)}`,
      )
    const answered = JSON.parse(text)
    noteSecrets(answered)
    return { status: response.status, headers: response.headers, body: answered }
  }
}

/** Reads what came, each message once; one to somebody who gave no such destination may never be. */
function createPostman(
  { smtp, gateway }: TestService,
  { secrets, given, nowMs }: Pick<World, 'secrets' | 'given' | 'nowMs'>,
) {
  const arrivals: Arrival[] = []
  let [mails, texts] = [0, 0]

  function take(to: string, message: { subject: string; text: string; code: string | null }): void {
    const purpose = purposeOf(message)
    if (purpose === null) throw new Error(`a message of no known form: ${message.subject} ${message.text}`)
    if (!given.has(to)) throw new Error(`a message to ${to}, which nobody gave`)
    if (message.code !== null) secrets.codes.add(message.code)
    arrivals.push({ to, purpose, code: message.code, atMs: nowMs() })
  }

  return {
    arrivals,
    collect() {
      for (; mails < smtp.messages.length; mails++) {
        const mail = smtp.messages[mails]!
        if (mail.envelope.to.length !== 1 || mail.envelope.to[0] !== mail.to)
          throw new Error(`a mail to ${mail.envelope.to.join()}, headed ${mail.to}`)
        take(mail.to, mail)
      }
      for (; texts < gateway.requests.length; texts++) {
        const { fields, status } = gateway.requests[texts]!
        const text = String(fields.text)
        const code = codeIn(text)
        if (status === 200) take(String(fields.to), { subject: '', text, code })
      }
    },
  }
}
