/** `poterne serve`: runs the service until SIGTERM or SIGINT, then finishes the requests under way. A second signal exits. */
import { Command } from 'commander'
import { compose, type Service } from '../../compose/compose.ts'
import { openSocket, ownSocketPath, withDatabase } from '../../platform/admin-socket.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import { keepHeapTidy } from '../../platform/heap.ts'
import { createLogger, type Logger, type ProcessLogger } from '../../platform/log/logging.ts'
import { version } from '../../platform/version.ts'
import { findBackupObstacle } from '../../storage/backup/files.ts'
import { noteReady } from '../../storage/embedded/lock.ts'
import { type CommandOptions, configOption, describeFile, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import type { CommonOptions } from './option-values.ts'
import { READ_AT_START } from './progress.ts'
import { byName, type DevOptions, makePeople, readPeople, requireDev, tellDeveloper } from './serve-dev.ts'

/** The time that requests and sendings under way may take to finish; supervisors allow 10 s in all. */
const DRAIN_MS = 8000
const END_MS = 9500
/** The time that the last lines of the log may take. */
const LAST_LINES_MS = 1000
/** The one who starts a service asks first whether it is ready: what runs beside requests comes after that. */
const BEGIN_AFTER_MS = 100

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service')
    .option(...configOption)
    .option('--dev', 'listen on this machine only and keep every message in /dev/mailbox')
    .option('--seed [file]', 'with --dev: add four people to try things with, or those of a file')
    .option('--dev-host <address>', 'with --dev: listen there, as in a container')
    .option('--fast', 'with --dev: the cheapest password hash, and no limits, for tests')
    .action(serve)
}

type AdminServer = Pick<Bun.Server<undefined>, 'stop'>

type ServeOptions = CommandOptions & CommonOptions & DevOptions

async function serve(options: ServeOptions): Promise<void> {
  const dev = options.dev === true
  requireDev(options)
  const { devHost: host, fast } = options
  const {
    config: configured,
    file,
    warnings,
  } = requireConfig({ ...options, dev, development: { host, fast } })
  const seed = typeof options.seed === 'string' ? await readPeople(options.seed) : null
  const config = withPorts(configured)
  const { level, format } = config.log
  const pretty =
    !options.json && (format === 'pretty' || (format === 'auto' && dev && process.stdout.isTTY === true))
  const logger = createLogger({ clock: systemClock, level, pretty })
  for (const { key, message } of warnings) logger.warn({ key }, `${key}: ${message}`)
  const obstacle = findBackupObstacle(config)
  if (obstacle !== null) {
    const { key, message } = obstacle
    logger.warn({ key }, `${key}: no backup will be made: ${message}`)
  }
  const ended = signalled(logger)
  keepProxyOutside(process.env)
  await requireFree(config)
  const service = await compose({ config, dev, clock: systemClock, logger })
  await makePeople(service, options, seed)
  const listening = await listen(service, config)
  const url = dev ? byName(listening) : listening
  const beginning = setTimeout(service.begin, BEGIN_AFTER_MS)
  const administration = [
    await listenForAdministration(service, config, logger),
    await openAdminSocket(service, config, logger),
  ]
  if (config.database.url === null) noteReady(config.storage.dataDir)
  keepHeapTidy()
  const { version: number, commit } = version
  logger.info(
    { url, config: describeFile(file), storage: describeStorage(config), dev, version: number, commit },
    'listening',
  )
  if (dev) tellDeveloper(service, options, url, logger)
  await ended
  clearTimeout(beginning)
  await stop(service, administration, logger)
  process.exit(0)
}

/** Port 0 means any free port. It is chosen here, because other values that depend on it are needed to build. */
function withPorts(config: Config): Config {
  const { server, admin, tokens } = config
  const port = server.port || freePort(server.host)
  const derived = (url: string) => url.replace(/:0(?=$|\/)/, `:${port}`)
  const { accounts, passkeys } = config
  return {
    ...config,
    server: { ...server, port, baseUrl: derived(server.baseUrl) },
    tokens: { ...tokens, audience: derived(tokens.audience) },
    accounts: { ...accounts, invitationUrl: accounts.invitationUrl && derived(accounts.invitationUrl) },
    passkeys: { ...passkeys, origins: passkeys.origins.map(derived) },
    admin: {
      ...admin,
      listen: admin.listen && { ...admin.listen, port: admin.listen.port || freePort(admin.listen.host) },
    },
  }
}

function freePort(host: string): number {
  const probe = Bun.listen({ hostname: host, port: 0, socket: { data() {} } })
  const { port } = probe
  probe.stop(true)
  return port
}

/** Tried before a directory is made or a database migrated: a start that cannot listen changes nothing. */
async function requireFree({ server, admin, metrics }: Config): Promise<void> {
  const addresses: [Address | null, ListenKey][] = [
    [server, 'server.port'],
    [admin.listen, 'admin.listen'],
    [metrics.listen, 'metrics.listen'],
  ]
  for (const [address, key] of addresses) {
    if (address === null) continue
    try {
      const { host: hostname, port } = address
      await Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) }).stop(true)
    } catch (error) {
      throw cannotListen(error, address, key)
    }
  }
}

interface Address {
  host: string
  port: number
}

type ListenKey = 'server.port' | 'admin.listen' | 'metrics.listen'

function cannotListen(error: unknown, { host, port }: Address, key: ListenKey): CommandFailure {
  const { code } = error as { code?: string }
  const hint = key === 'server.port' ? listenHint(code) : `${key} must be an address of this machine`
  return new CommandFailure(
    1,
    code === 'EADDRINUSE'
      ? `${host}:${port} is in use: stop what listens there, or set ${key}`
      : `cannot listen on ${host}:${port} (${code ?? 'unknown cause'}): ${hint}`,
  )
}

/** Returns the address it listens on. If it cannot listen, it closes the service, which would keep the process alive. */
async function listen({ app, close }: Service, { server }: Config): Promise<string> {
  try {
    app.listen({ hostname: server.host, port: server.port, reusePort: false })
  } catch (error) {
    await close()
    throw cannotListen(error, server, 'server.port')
  }
  const { hostname, port } = app.server!
  return `http://${hostname?.includes(':') ? `[${hostname}]` : hostname}:${port}`
}

/** It returns null where `admin.listen` is not set. */
async function listenForAdministration(
  { administration, app, close }: Service,
  { admin }: Config,
  logger: Logger,
): Promise<AdminServer | null> {
  if (administration.listener === null || admin.listen === null) return null
  const { host, port } = admin.listen
  const listener = await administration.listener()
  try {
    listener.listen({ hostname: host, port, reusePort: false })
  } catch (error) {
    await app.server?.stop(true)
    await close()
    throw cannotListen(error, admin.listen, 'admin.listen')
  }
  const { hostname, port: bound } = listener.server!
  const url =
    admin.baseUrl ?? byName(`http://${hostname?.includes(':') ? `[${hostname}]` : hostname}:${bound}`)
  logger.info({ url: `${url}/admin/` }, 'administration listens')
  return listener.server
}

/** Without it the service runs as well: the command line then opens the database itself, where it can. */
async function openAdminSocket({ administration }: Service, config: Config, logger: Logger) {
  const path = ownSocketPath(config)
  if (path === null) return null
  const opened = await openSocket(path, withDatabase(config, administration.handle))
  if ('server' in opened) return opened.server
  logger.warn({ path, cause: opened.refused }, 'the socket of administration is not open')
  return null
}

function listenHint(code: string | undefined): string {
  return code === 'EACCES'
    ? 'ports below 1024 are for root; set server.port, and let a reverse proxy listen there'
    : 'server.host must be an address of this machine'
}

function describeStorage({ database, redis, storage }: Config): string {
  if (database.url === null) return `embedded in ${storage.dataDir}`
  return redis.urls.length > 0 ? `postgresql and redis (${redis.mode})` : 'postgresql'
}

/** HTTP_PROXY and HTTPS_PROXY are for outgoing requests; a gateway on this machine is always called directly. */
export function keepProxyOutside(env: NodeJS.ProcessEnv): void {
  const own = env.NO_PROXY ?? env.no_proxy
  env.NO_PROXY = [...(own ? [own] : []), 'localhost', '127.0.0.1', '::1', '[::1]'].join(',')
}

/** Resolves at the first signal; the second one exits at once. */
function signalled(logger: Logger): Promise<void> {
  // Other services read their configuration again at it; without a listener it would end this one.
  process.on('SIGHUP', () => logger.warn(`SIGHUP: ${READ_AT_START}: restart poterne to change it`))
  return new Promise((resolve) => {
    let signals = 0
    const onSignal = () => {
      signals += 1
      if (signals > 1) process.exit(1)
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

async function stop({ app, close }: Service, administration: (AdminServer | null)[], logger: ProcessLogger) {
  logger.info('ending: requests under way are answered first')
  const late = Bun.sleep(END_MS)
  await Promise.all(administration.map((server) => server?.stop(true)))
  const drained = await Promise.race([
    app.server!.stop().then(() => true),
    Bun.sleep(DRAIN_MS).then(() => false),
  ])
  if (!drained) {
    logger.warn('requests under way were cut')
    await app.server?.stop(true)
  }
  await Promise.race([close(), late])
  logger.info('ended')
  await Promise.race([logger.flush(LAST_LINES_MS), late])
}
