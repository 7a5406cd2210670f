/**
 * poterne as its clients meet it: over HTTP, on real stores, its messages read from a real mail server and a real
 * gateway. `startService` runs it in this process (a clock to move, a log to read); `startExecutable` runs
 * dist/poterne as a process of its own. Both take the settings of the TOML file.
 */
import { test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { stringify } from 'smol-toml'
import { compose, type Service } from '../../src/compose/compose.ts'
import { createSender } from '../../src/domain/messages/delivery/service.ts'
import { createBreaker } from '../../src/domain/messages/senders/breaker.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { loadConfig } from '../../src/platform/config/load.ts'
import { describeProblem } from '../../src/platform/config/report.ts'
import type { Network } from '../../src/platform/guarded-fetch.ts'
import { createLogger } from '../../src/platform/log/logging.ts'
import { worker } from '../../src/platform/own-process.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { noteReady } from '../../src/storage/embedded/lock.ts'
import { type ApiClient, createApiClient } from './api-client.ts'
import { newDataDirectory } from './embedded-directory.ts'
import { poterneCommand } from './executable.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { newDirectory } from './run-directory.ts'
import { createDatabase, redisPrefix, sharedRedis } from './servers.ts'
import { startSmtp, type TestSmtp } from './smtp.ts'
import { notHere, reduced } from './soak.ts'
import { eachSecond, waitFor } from './wait.ts'

/** The three storage shapes. */
export type Shape = 'embedded' | 'postgres' | 'redis'
/** `bun run test:quick` is content with the production shape. */
const isQuick = process.env.TEST_QUICK === '1'

export const shapes: Shape[] = isQuick ? ['redis'] : ['embedded', 'postgres', 'redis']

/**
 * Both databases, and both kinds of stores for codes and counters: what `postgres` has, one of these two has as well.
 * They serve tests that need no race of many callers.
 */
export const differingShapes: Shape[] = isQuick ? ['redis'] : ['embedded', 'redis']

/**
 * Many callers at once are what tries limits, and the embedded database, which costs most, answers one after the other.
 * The contract suites try its counters in any case, and a soak these tests as well.
 */
export const racingShapes: Shape[] = isQuick ? ['redis'] : reduced(['postgres', 'redis'], shapes)

/**
 * Limits that refuse call after call are rules: the contract suites demand the same of every store of counters and codes. A
 * soak tries them on each.
 */
export const limitingShapes: Shape[] = reduced(['redis'], shapes)

/**
 * For what is rare, or has a test or two. Each run tries the most used features on the embedded database, whose start costs
 * most; a soak tries these there as well.
 */
export const rareShapes: Shape[] = reduced(['redis'], differingShapes)

/** The `test` of a rule that no storage changes: registered on one shape only, the one of production. */
export const ruleOn = (shape: Shape): typeof test => (shape === 'redis' ? test : notHere)

/**
 * Returns three kinds of `test` for a suite over all shapes. `rule` is for behaviour that no storage changes, `raced` for
 * many callers at once, and `test` for the rest. One statement of PostgreSQL or one script of Redis decides each race, and
 * `raced` tries both.
 */
export const testsOn = (shape: Shape) => ({
  rule: ruleOn(shape),
  test: differingShapes.includes(shape) ? test : notHere,
  raced: racingShapes.includes(shape) ? test : notHere,
})

/** Sections and keys as in config.toml. */
export type Settings = Record<string, Record<string, unknown>>

export interface TestClock extends Clock {
  advance(ms: number): void
  /** It moves only by `advance`. */
  standsStill?: true
}

/** Follows the true time, moved by what was advanced. */
export function createTestClock(): TestClock {
  let offsetMs = 0
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance: (ms) => {
      offsetMs += ms
    },
  }
}

const USUAL_ADMIN_PORT = 8081

export interface ServiceOptions {
  /** The answers are those of --dev; messages go to the mail server and the gateway nevertheless. */
  dev?: boolean
  /** Default: redis, the production shape. */
  shape?: Shape
  settings?: Settings
  clock?: TestClock
  /** Stores of another service of the test, for a second replica. */
  storage?: Settings
  /** It replaces the network in which sign-in providers are. */
  network?: Network
}

export interface TestService extends ApiClient, AsyncDisposable {
  url: string
  /** The address of administration; null where `admin.listen` is not set. */
  adminUrl: string | null
  clock: TestClock
  inbox: Inbox
  smtp: TestSmtp
  gateway: TestGateway
  /** Every log line so far. */
  log: string[]
  /** The settings that a replica on the same stores needs. */
  storage: Settings
  /** It reaches what no route shows. */
  inside: Service
  /** Waits until nothing is left to send; gives the number of messages to anybody so far. */
  delivered(): Promise<number>
  /** The newest code that came there, once nothing is left to send; a wrong one if none came. */
  newestCode(destination: string): Promise<string>
  close(): Promise<void>
}

/** Messages to nobody (lane 2) are never sent: a sweep removes them within a second. */
const waiting = statement<object, { count: number }>(
  sql`select count(*)::int as count from messages where finished_at is null and lane <> 2`,
)

/** Every message to somebody was sent or given up. */
export const nothingWaits = async ({ database }: Service) => (await database.first(waiting, {}))?.count === 0

/** An argon2 that costs nothing, and no limits: a test that is about them sets them. */
export const quickSettings: Settings = {
  // Tests sign in from many devices, and count the messages that they are about.
  accounts: { notify_new_device: false },
  password: { memory_kib: 8, iterations: 1 },
  limits: { enabled: false },
}

/** A connection prepares every statement for itself, which is a sixth of what a service of a test costs. */
const POOL_SIZE = reduced(2, 4)

/** A fresh database, key prefix or data directory. */
export async function createStorage(
  shape: Shape,
): Promise<{ settings: Settings; drop: () => Promise<void> }> {
  if (shape === 'embedded') {
    const data_dir = await newDataDirectory()
    return { settings: { storage: { data_dir } }, drop: async () => {} }
  }
  const { url, drop } = await createDatabase()
  const settings: Settings = { server: { secret: 'ab'.repeat(32) }, database: { url, pool_size: POOL_SIZE } }
  if (shape === 'redis') settings.redis = { url: (await sharedRedis()).url, key_prefix: redisPrefix() }
  return { settings, drop }
}

/** Later ones win, key by key. */
export function mergeSettings(...all: (Settings | undefined)[]): Settings {
  const merged: Settings = {}
  for (const settings of all) {
    // An array of tables, such as [[test_identities]], as a whole.
    for (const [section, keys] of Object.entries(settings ?? {}))
      merged[section] = Array.isArray(keys) ? (keys as never) : { ...merged[section], ...keys }
  }
  return merged
}

export function deliverySettings(smtp: TestSmtp, gateway: TestGateway): Settings {
  return {
    smtp: {
      host: smtp.host,
      port: smtp.port,
      security: smtp.ca === '' ? 'none' : 'starttls',
      from: 'Poterne <no-reply@acme.test>',
      ...(smtp.auth && smtp.auth),
    },
    sms: {
      allowed_countries: ['*'],
      gateways: [{ name: 'stub', url: gateway.url, body: { to: '{to}', text: '{text}' } }],
    },
  }
}

/** Writes config.toml into a new directory and returns both. */
export function writeSettings(settings: Settings): { directory: string; file: string } {
  const directory = newDirectory('service')
  const file = join(directory, 'config.toml')
  writeFileSync(file, stringify(settings))
  return { directory, file }
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  // From source, every restore on trial would begin with an initdb in WebAssembly.
  worker.command = poterneCommand
  const { shape = 'redis', settings, clock = createTestClock() } = options
  const stores = options.storage
    ? { settings: options.storage, drop: async () => {} }
    : await createStorage(shape)
  const smtp = await startSmtp({ security: 'none', auth: null })
  const gateway = await startGateway()
  const merged = mergeSettings(
    quickSettings,
    { server: { port: 0, base_url: 'http://auth.internal', docs: true } },
    stores.settings,
    deliverySettings(smtp, gateway),
    settings,
  )
  const { directory, file } = writeSettings(merged)
  const loaded = loadConfig({ env: {}, directory, configFile: file })
  if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'))
  mkdirSync(loaded.config.storage.dataDir, { recursive: true })
  const log: string[] = []
  const { level } = loaded.config.log
  const logger = createLogger({ clock, level, write: (line) => log.push(line) })
  const inside = await compose({
    config: loaded.config,
    dev: options.dev ?? false,
    clock,
    logger,
    ...(options.dev && {
      sender: createSender(loaded.config, null, { clock, breaker: createBreaker(clock) }),
    }),
    ...(options.network && { network: options.network }),
  })
  inside.app.listen({ hostname: '127.0.0.1', port: 0, reusePort: false })
  inside.begin()
  if (loaded.config.database.url === null) noteReady(loaded.config.storage.dataDir)
  const url = `http://127.0.0.1:${inside.app.server!.port}`
  const adminListener = await inside.administration.listener?.()
  // The usual port may be taken by another test; one of its own is part of the address of passkeys.
  const { port = USUAL_ADMIN_PORT } = loaded.config.admin.listen ?? {}
  adminListener?.listen({
    hostname: '127.0.0.1',
    port: port === USUAL_ADMIN_PORT ? 0 : port,
    reusePort: false,
  })
  /** A message that is claimed before its code is stored is due again in 200 ms by the clock of the service. */
  const moveOn = () => {
    if (clock.standsStill) clock.advance(250)
  }
  const inbox = createInbox(smtp, gateway, moveOn)
  async function close() {
    await Promise.all([inside.app.server!.stop(true), adminListener?.server?.stop(true)])
    await inside.close()
    await Promise.all([smtp.stop(), gateway.stop()])
    await stores.drop()
  }
  async function delivered() {
    await waitFor(
      eachSecond(moveOn, () => nothingWaits(inside)),
      {
        what: 'the outbox to be empty',
        timeoutMs: 60_000,
        intervalMs: 5,
      },
    )
    return inbox.count()
  }
  return {
    ...createApiClient(url, inbox),
    url,
    adminUrl: adminListener ? `http://127.0.0.1:${adminListener.server!.port}` : null,
    clock,
    inbox,
    smtp,
    gateway,
    log,
    storage: stores.settings,
    inside,
    delivered,
    async newestCode(destination) {
      await delivered()
      return inbox.codesTo(destination).at(-1) ?? `no code for ${destination}`
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
