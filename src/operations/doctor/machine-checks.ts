/** This machine and the files that the service reads. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { probeVerifier } from '../../domain/foundation/hashing/hash-threads.ts'
import { findForeignFile } from '../../platform/data-directory.ts'
import { previousFileIn } from '../../platform/secret-file.ts'
import { type Finding, failure, type OutsideContext, ok, type SecretFile, warning, worstOf } from './check.ts'

const MEGABYTE = 1024 * 1024
/** The memory of the service beside the passwords that it hashes. */
const OWN_MEMORY_BYTES = { server: 150 * MEGABYTE, embedded: 350 * MEGABYTE }
/** People wait for it at every login. */
const SLOW_HASH_MS = 500
const CGROUP_LIMITS = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']

export function checkConfiguration({ configFile, configWarnings }: OutsideContext): Finding {
  if (configWarnings.length > 0) return warning(configWarnings.join('; '))
  return ok(configFile === null ? 'no file: defaults and environment' : configFile)
}

/** Files that hold a secret must be for their owner (and a group that was meant to read them) alone. */
export function checkSecretFiles({ config, secretFiles }: OutsideContext): Finding {
  const own = join(config.storage.dataDir, 'secret')
  const isGenerated = config.database.url === null && config.server.secret === null && existsSync(own)
  const generated = isGenerated ? [own, previousFileIn(config.storage.dataDir)].filter(existsSync) : []
  const files = [...lookAtFiles(generated), ...secretFiles]
  const open = files.filter(({ isOpenToOthers }) => isOpenToOthers)
  if (open.length > 0)
    return failure(open.map(({ path }) => `${path} can be read by everybody: chmod o= ${path}`).join('; '))
  return ok(files.length === 0 ? 'none is in use' : `${files.length} can be read by their owner alone`)
}

/** The directories of systemd's units. */
const UNITS = ['etc', 'run', 'usr/local/lib', 'usr/lib', 'lib'].map((each) => `${each}/systemd/system`)
const VARIABLE = /^[ \t]*(?:export[ \t]+)?(\w+)=/gm
const SECRET = /SECRET|PASSWORD|PASSPHRASE|TOKEN|KEY|URL|HEADERS/i

/**
 * The files of variables that hold a secret: the one that the documents tell people to write, and those that the unit of
 * the service names. One that cannot be read from here is closed enough.
 */
export function findEnvironmentFiles(root = '/'): string[] {
  const units = UNITS.map((directory) => join(root, directory, 'poterne.service'))
  const texts = units.flatMap((unit) => [unit, ...filesIn(`${unit}.d`)]).map(textOf)
  const named = texts.flatMap((text) => [...text.matchAll(/^[ \t]*EnvironmentFile[ \t]*=[ \t]*-?(\/\S+)/gm)])
  const paths = ['etc/poterne/environment', ...named.map(([, path]) => path!)].map((path) => join(root, path))
  const variablesOf = (path: string) => [...textOf(path).matchAll(VARIABLE)].map(([, name]) => name!)
  return [...new Set(paths)].filter((path) => variablesOf(path).some((name) => SECRET.test(name)))
}

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : []
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export const lookAtFiles = (files: string[]): SecretFile[] =>
  [...new Set(files.map((file) => resolve(file)))].map((path) => ({
    path,
    isOpenToOthers: ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0,
  }))

export function checkDataDirectory({ config, service }: OutsideContext): Finding {
  const path = resolve(config.storage.dataDir)
  if (config.database.url !== null) return ok('not in use: the database is on a server')
  if (!existsSync(path))
    return service === null
      ? warning(`${path} does not exist`)
      : warning(`not checked: ${path} is not that of the service: name it (POTERNE_STORAGE_DATA_DIR)`)
  const { mode, uid } = statSync(path)
  const findings: Finding[] = []
  if ((mode & 0o077) !== 0)
    findings.push(failure(`${path} is open to other users of this machine: chmod go= ${path}`))
  const me = process.geteuid?.()
  // Root acts as the owner of the directory; any other user must be that owner.
  if (me !== 0 && me !== uid)
    findings.push(warning(`${path} belongs to another user: run the command as the user of the service`))
  const foreign = me === uid ? findForeignFile(path, config.backup.directory) : null
  if (foreign)
    findings.push(
      failure(
        `${foreign.file} belongs to ${foreign.owner}: give everything in ${path} to one user (chown -R)`,
      ),
    )
  return worstOf(findings, ok(`${path} belongs to one user alone`))
}

export function checkMemory({ config }: OutsideContext): Finding {
  const { hashConcurrency } = config.limits
  const atOnce = hashConcurrency === 0 ? availableParallelism() : hashConcurrency
  const own = OWN_MEMORY_BYTES[config.database.url === null ? 'embedded' : 'server']
  const needed = Math.ceil((own + atOnce * config.password.memoryKib * 1024) / MEGABYTE)
  const there = Math.floor(Math.min(totalmem(), ...cgroupLimits()) / MEGABYTE)
  const said = `${atOnce} passwords hashed at once need ${needed} MB in all, and ${there} MB are available`
  if (needed > there)
    return failure(`${said}: lower limits.hash_concurrency or password.memory_kib, or give it more memory`)
  return needed > there * 0.8 ? warning(`${said}: that leaves little for anything else`) : ok(said)
}

const cgroupLimits = (): number[] =>
  CGROUP_LIMITS.flatMap((file) => {
    try {
      const bytes = Number(readFileSync(file, 'utf8').trim())
      return bytes > 0 ? [bytes] : []
    } catch {
      return []
    }
  })

/** It counts the time of the processor, so that other programs on this machine do not matter. */
export function checkHashTime({ config }: OutsideContext): Finding {
  const { memoryKib, iterations } = config.password
  const before = process.cpuUsage()
  Bun.password.hashSync('poterne doctor', {
    algorithm: 'argon2id',
    memoryCost: memoryKib,
    timeCost: iterations,
  })
  const { user, system } = process.cpuUsage(before)
  const ms = Math.round((user + system) / 1000)
  return ms > SLOW_HASH_MS
    ? warning(
        `one password takes ${ms} ms of a processor, so that logins queue: lower password.iterations or password.memory_kib, or give it a faster one`,
      )
    : ok(`one password takes ${ms} ms of a processor`)
}

/** Checks what this process finds: the service may run as another user, with another temporary directory. */
export async function checkVerifier(): Promise<Finding> {
  const verifier = await probeVerifier()
  return verifier.by === 'addon'
    ? ok('the native addon verifies passwords')
    : warning(
        `Bun.password verifies passwords, about three times slower than the native addon, which cannot be used: ${verifier.reason}. It needs a temporary directory (TMPDIR) that is writable and not mounted noexec`,
      )
}
