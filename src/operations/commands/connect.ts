/**
 * `poterne config check --connect`: doctor's checks of what the configuration names outside, by the keys that name it. It
 * sends no message and makes nothing.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openDatabase } from '../../compose/connections.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import { network } from '../../platform/guarded-fetch.ts'
import { planMigrations } from '../../platform/postgres/migrate.ts'
import { openRedis } from '../../platform/redis/connection.ts'
import { isEmbeddedThere } from '../../storage/embedded/embedded.ts'
import { DataDirectoryLocked } from '../../storage/embedded/lock.ts'
import { type Finding, failure, type KeyedFinding, type NamedFinding, ok, warning } from '../doctor/check.ts'
import { checks } from '../doctor/checks.ts'
import { examine } from '../doctor/examine.ts'
import { explainFailure } from '../doctor/explain.ts'
import { examineMailServers } from '../doctor/mail-checks.ts'
import { reachGateway } from '../doctor/reach-checks.ts'

export interface TriedConnection {
  /** The key of the configuration that names it. */
  key: string
  ok: boolean
  /** The fact that was found, or what is wrong and what to do. Holds no secret. */
  message: string
}

/**
 * The findings are in the order of the configuration; all connections are tried at the same time. With `dev` no message
 * leaves, so nobody is asked to take one.
 */
export async function tryConnections(config: Config, dev: boolean): Promise<TriedConnection[]> {
  const gateways = config.sms.gateways.map((gateway, index) => reachGateway(gateway, index, network))
  const found = await Promise.all([
    tryDatabase(config),
    config.redis.urls.length > 0 ? tryRedis(config) : [],
    ...(dev ? [] : [examineMailServers(config), ...gateways]),
  ])
  return found.flat().map(({ key, level, message }) => ({ key, ok: level !== 'failure', message }))
}

/** The checks of Redis, which need no database. */
export async function examineRedis(config: Config): Promise<NamedFinding[]> {
  const redis = config.redis.urls.length > 0 ? openRedis(config.redis) : null
  return examine(checks, 'redis', { config, redis }).finally(() => redis?.close())
}

async function tryRedis(config: Config): Promise<KeyedFinding> {
  const findings = await examineRedis(config)
  const key = config.redis.mode === 'single' ? 'redis.url' : 'redis.urls'
  return { key, ...joined(findings, findings[0]!.message) }
}

/** One line for all findings about a store: what makes it useless, or that it is well and what is not so well. */
function joined(findings: Finding[], well: string): Finding {
  const saying = (level: Finding['level']) =>
    findings.filter((finding) => finding.level === level).map(({ message }) => message)
  const failures = saying('failure')
  if (failures.length > 0) return failure(failures.join('; '))
  return ok([well, ...saying('warning').map((message) => `warning: ${message}`)].join('; '))
}

async function tryDatabase(config: Config): Promise<KeyedFinding> {
  const { dataDir } = config.storage
  const isEmbedded = config.database.url === null
  const key = isEmbedded ? 'storage.data_dir' : 'database.url'
  if (isEmbedded && !isEmbeddedThere(dataDir)) return { key, ...tryNewDirectory(dataDir) }
  try {
    return { key, ...(await examineDatabase(config)) }
  } catch (error) {
    const isInUse = error instanceof DataDirectoryLocked
    return { key, ...(isInUse ? ok('a running poterne has it open') : failure(explainFailure(error, key))) }
  }
}

/** The checks on which a start depends; doctor makes the others once the service is installed. */
const OF_START = ['database', 'database-version', 'database-encoding', 'database-rights']

async function examineDatabase(config: Config): Promise<Finding> {
  const database = await openDatabase(config)
  try {
    const pending = await planMigrations(database)
    const names = pending.length > 0 ? OF_START : [...OF_START, 'ways-in']
    const made = checks.filter(({ name }) => names.includes(name))
    const findings = await examine(made, 'database', { config, clock: systemClock, database })
    return joined(
      // The user of `poterne migrate` may be another one.
      findings.map((each) => (each.name === 'database-rights' ? gently(each) : each)),
      pending.length > 0 ? `it answers, and lacks ${pending.join(', ')}` : 'it answers, and is up to date',
    )
  } finally {
    await database.close()
  }
}

const gently = (finding: Finding): Finding =>
  finding.level === 'failure' ? warning(finding.message) : finding

/** `serve` makes it; trying must not. */
function tryNewDirectory(dataDir: string): Finding {
  let nearest = resolve(dataDir)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    return failure(`${nearest} is not writable: let the user of poterne own it, or name another directory`)
  }
  return ok(`\`poterne serve\` will make it in ${resolve(dataDir)}`)
}
