/** PostgreSQL, on a server or embedded. */
import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Database } from '../../platform/postgres/database.ts'
import { canWrite, freeBytes } from '../../platform/postgres/disk-space.ts'
import { MigrationRefused, planMigrations } from '../../platform/postgres/migrate.ts'
import {
  describeForeignEncoding,
  describeOldVersion,
  describePool,
  describeUnfit,
  measureClockSkewMs,
} from '../../platform/postgres/server-fitness.ts'
import { findNeglect } from '../../storage/embedded/upkeep.ts'
import { type DatabaseContext, type Finding, failure, ok, warning } from './check.ts'
import { explainFailure } from './explain.ts'
import { createDoctorStore } from './store.ts'

/** The start of the service uses the same bound (compose/store-watch.ts). */
const MOST_SKEW_MS = 3000
const MEGABYTE = 1024 * 1024
const LITTLE_SPACE_BYTES = 1024 * MEGABYTE
const NO_SPACE_BYTES = 100 * MEGABYTE

export async function checkDatabase({ database }: DatabaseContext): Promise<Finding> {
  try {
    await database.ping()
  } catch (error) {
    return failure(explainFailure(error, database.kind === 'embedded' ? 'storage.data_dir' : 'database.url'))
  }
  if (database.kind === 'embedded') return ok('the embedded database answers and takes writes')
  const { server } = await createDoctorStore(database).facts()
  return ok(`${server} answers and takes writes`)
}

export async function checkPostgresVersion({ database }: DatabaseContext): Promise<Finding> {
  const { version } = await createDoctorStore(database).facts()
  const old = describeOldVersion(version)
  return old === null ? ok(`PostgreSQL ${Math.floor(version / 10_000)}`) : failure(old)
}

export async function checkEncoding({ database }: DatabaseContext): Promise<Finding> {
  const { encoding } = await createDoctorStore(database).facts()
  const foreign = describeForeignEncoding(encoding)
  return foreign === null ? ok(encoding) : failure(foreign)
}

export async function checkRights({ database }: DatabaseContext): Promise<Finding> {
  const store = createDoctorStore(database)
  const [{ user, mayCreate }, all] = [await store.facts(), await store.rights()]
  const [others, own] = [
    all.filter(({ kind }) => kind === 'other'),
    all.filter(({ kind }) => kind !== 'other'),
  ]
  const filtered = own.filter(({ isFiltered }) => isFiltered)
  if (filtered.length > 0)
    return failure(
      `row-level security hides rows of ${listed(filtered)} from ${user}: turn it off there (alter table … disable row level security), or make ${user} the owner`,
    )
  const [tables, rest] = [unusable('table'), [...unusable('sequence'), ...unusable('function')]]
  if (tables.length > 0)
    return failure(
      `${user} may not read and write ${listed(tables)}: make ${user} the owner of every table (reassign owned)`,
    )
  if (rest.length > 0)
    return failure(
      `${user} may not use ${rest[0]!.kind} ${listed(rest, 'others')}: make ${user} the owner of every table and function (reassign owned)`,
    )
  const foreign = own.filter(({ isOwned }) => !isOwned)
  if (!mayCreate || foreign.length > 0)
    return failure(
      `${user} ${mayCreate ? `does not own ${listed(foreign, 'others')}` : 'may not create tables'}, so the next upgrade will fail: make ${user} the owner of the database and of its tables`,
    )
  const beside = others.length === 0 ? '' : `; ${listed(others)} in the same schema are of other applications`
  return ok(`${user} may migrate, read and write${beside}`)

  function unusable(of: string) {
    return own.filter(({ kind, isUsable }) => kind === of && !isUsable)
  }
}

function listed(found: { name: string }[], rest = 'more tables'): string {
  const names = found.slice(0, 3).map(({ name }) => name)
  return names.join(', ') + (found.length > 3 ? ` and ${found.length - 3} ${rest}` : '')
}

export async function checkConnections({ config, database }: DatabaseContext): Promise<Finding> {
  if (database.kind === 'embedded') return ok('the embedded database has one of its own')
  const { most, used } = await createDoctorStore(database).connections()
  const { poolSize } = config.database
  const left = Math.max(0, most - used)
  const shortage = describePool(poolSize, most)
  if (shortage !== null) return warning(shortage)
  return left < poolSize
    ? warning(
        `${left} of ${most} connections are left, and a replica that starts now may take ${poolSize}: lower database.pool_size, or raise max_connections`,
      )
    : ok(`${left} of ${most} are left, a replica takes up to ${poolSize}`)
}

export async function checkClock({ database, clock }: DatabaseContext): Promise<Finding> {
  if (database.kind === 'embedded') return ok('the embedded database reads the clock of this machine')
  return checkSkew(await measureClockSkewMs(database, clock), 'the database')
}

/** `skewMs`: by which this machine is ahead. */
export function checkSkew(skewMs: number, whose: string): Finding {
  const seconds = Math.round(Math.abs(skewMs) / 100) / 10
  if (Math.abs(skewMs) <= MOST_SKEW_MS) return ok(`within ${Math.max(seconds, 0.1)} s of this machine`)
  return failure(
    `the clock of this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of ${whose}, so that codes and sessions end at the wrong time: let NTP set both`,
  )
}

export async function checkMigrations({ config, database }: DatabaseContext): Promise<Finding> {
  let pending: string[]
  try {
    pending = await planMigrations(database)
  } catch (error) {
    // Two other checks say so.
    if (
      error instanceof MigrationRefused &&
      describeUnfit(await createDoctorStore(database).facts()) !== null
    )
      return ok('none can be applied to this database')
    throw error
  }
  if (pending.length === 0) return ok('none is pending')
  return config.database.migrate
    ? warning(`pending, applied when the service starts: ${inShort(pending)}: restart it`)
    : failure(`pending: ${inShort(pending)}: run \`poterne migrate\``)
}

const inShort = (names: string[]) =>
  names.length > 3 ? `${names[0]} to ${names.at(-1)} (${names.length})` : names.join(', ')

export async function checkUpkeep({ database: { upkeep } }: DatabaseContext): Promise<Finding> {
  if (upkeep === undefined) return ok('the server vacuums and makes checkpoints by itself')
  const condition = await upkeep.condition()
  const neglect = findNeglect(condition)
  if (neglect !== null)
    return (neglect.isFailure ? failure : warning)(
      `${neglect.what}: look in the log for "embedded database" and mend what it names`,
    )
  const { transactionAge, deadRows, logBytes, longestWorkMs } = condition
  return ok(
    `${transactionAge} transactions are not frozen, ${deadRows} rows are dead, ${Math.round(logBytes / MEGABYTE)} MB of log; the longest vacuum or checkpoint took ${longestWorkMs} ms`,
  )
}

/** It is null where the server runs elsewhere: a directory of that name on this machine would be another one. */
async function directoryHere(database: Database): Promise<string | null> {
  const store = createDoctorStore(database)
  const { address } = await store.facts()
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address))
  return address === null || own.includes(address) ? store.directory() : null
}

export async function checkDisk({ config, database }: DatabaseContext): Promise<Finding> {
  if (database.kind === 'embedded') return checkOwnDisk(config.storage.dataDir)
  // A database that does not answer cannot say where it is.
  const directory = await directoryHere(database).catch(() => null)
  if (directory === null || !existsSync(directory))
    return ok('the disk of the server cannot be seen from here: watch it there')
  return checkSpace(directory, freeBytes(directory))
}

/** Looks at the disk of the embedded database, also while that cannot be opened. */
export function checkOwnDisk(directory: string): Finding {
  return canWrite(directory)
    ? checkSpace(directory, freeBytes(directory))
    : failure(`${directory} takes no more data: make space on its disk, or raise its quota`)
}

/** Exported for its test: nobody fills a disk to see it. */
export function checkSpace(directory: string, bytes: number): Finding {
  if (bytes === Number.POSITIVE_INFINITY) return ok(`${directory}: its file system does not say what is free`)
  const megabytes = Math.floor(bytes / MEGABYTE)
  const said = `${megabytes} MB are free for ${directory}`
  if (bytes < NO_SPACE_BYTES) return failure(`${said}: make space now, or writes will be refused`)
  return bytes < LITTLE_SPACE_BYTES ? warning(`${said}: make space`) : ok(said)
}
