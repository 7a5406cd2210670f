/** The Unix socket of administration: where it is, how it is opened, and who answers there. Its permissions are its lock. */
import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { serveSettings } from './http/http-base.ts'

const RUNTIME_SOCKET = '/run/poterne/admin.sock'
const NAME = 'admin.sock'
/** The number of the user follows it. `TMPDIR` may differ between the service and a shell, so it is not used. */
const TEMPORARY = '/tmp/poterne-'

/** Only its owner may open it. */
const UMASK = 0o177
/** The rights of others on the directory of a service that has none of its own: none. */
const OTHERS = 0o077

/** The part of a configuration that says where the socket of its service is. */
export interface SocketSettings {
  admin: { socket: string | null }
  storage: { dataDir: string }
  database: { url: string | null }
  server: { host: string; port: number }
}

/** It returns null if none is wanted. */
export function ownSocketPath(config: SocketSettings): string | null {
  const { socket } = config.admin
  if (socket !== null) return socket === '' ? null : resolve(socket)
  if (isOurs(dirname(RUNTIME_SOCKET))) return RUNTIME_SOCKET
  const dataDir = resolve(config.storage.dataDir)
  return isOurs(dataDir) ? join(dataDir, NAME) : temporarySocketPath(config)
}

/** It serves a service with servers, which needs no directory. The name tells services of one user apart. */
function temporarySocketPath({ database, server }: Pick<SocketSettings, 'database' | 'server'>): string {
  const hash = hashOf(`${server.host}:${server.port} ${withoutPassword(database.url ?? '')}`)
  return join(`${TEMPORARY}${process.geteuid?.() ?? 0}`, `${hash}.sock`)
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const withoutPassword = (url: string) => url.replace(/:[^:@/]*@/, '@')

/** The path at which a service says, on its socket, which database it has. */
const DATABASE_PATH = '/database'

/** Tells databases apart, however the path of a directory is written. */
function databaseOf({ database, storage }: Pick<SocketSettings, 'database' | 'storage'>): string {
  if (database.url !== null) return hashOf(withoutPassword(database.url))
  const found = statSync(storage.dataDir, { throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}` : 'none'
}

type Handle = (request: Request) => Promise<Response>

/** Also says which database the service has. */
export function withDatabase(config: Pick<SocketSettings, 'database' | 'storage'>, handle: Handle): Handle {
  const database = databaseOf(config)
  return async (request) =>
    new URL(request.url).pathname === DATABASE_PATH ? new Response(database) : handle(request)
}

/** A configuration names its database by a URL or by a whole path; the default is one of any service. */
function isOfDatabase(path: string, { database, storage }: Partial<SocketSettings>): Promise<boolean> {
  if (!storage || (!database?.url && !isAbsolute(storage.dataDir))) return Promise.resolve(true)
  const expected = databaseOf({ database: database ?? { url: null }, storage })
  return fetch(`http://administration${DATABASE_PATH}`, { unix: path } as RequestInit).then(
    async (answer) => (await answer.text()) === expected,
    () => false,
  )
}

interface SocketCandidate {
  path: string
  /** It is where others may have put it: below the current directory, or in /tmp. */
  mustBeTrusted: boolean
}

/**
 * A command looks for a running service at these paths, in this order. Parts of the configuration that cannot be read
 * are left out.
 */
export function socketCandidates({ admin, storage, database, server }: Partial<SocketSettings>) {
  const candidate = (path: string): SocketCandidate => ({
    path: resolve(path),
    mustBeTrusted: !isAbsolute(path) || path.startsWith(TEMPORARY),
  })
  return [
    ...(admin?.socket ? [candidate(admin.socket)] : []),
    candidate(RUNTIME_SOCKET),
    ...(storage ? [candidate(join(storage.dataDir, NAME))] : []),
    ...(database && server ? [candidate(temporarySocketPath({ database, server }))] : []),
  ]
}

/** Tells whether it, the directory it is in, and links to them belong to root or to the user who runs this. */
export const isTrusted = (path: string): boolean =>
  [path, dirname(path)]
    .flatMap((each) => [lstatSync(each), statSync(each)])
    .every(({ uid }) => uid === 0 || uid === process.geteuid?.())

function isOurs(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return statSync(directory).uid === process.geteuid?.()
  } catch {
    return false
  }
}

/** Tells whether the service answers there; several may run on a machine, and one of them has the directory in /run. */
export async function isServiceOf(path: string, config: Partial<SocketSettings>): Promise<boolean> {
  return (await answers(path)) && (path !== RUNTIME_SOCKET || (await isOfDatabase(path, config)))
}

/** Tells whether a service answers there. */
export function answers(path: string): Promise<boolean> {
  if (!findSocket(path)) return Promise.resolve(false)
  return new Promise((done) => {
    const socket = connect(path)
    const end = (answered: boolean) => {
      socket.destroy()
      done(answered)
    }
    socket.setTimeout(1000, () => end(false))
    socket.on('connect', () => end(true))
    socket.on('error', () => end(false))
  })
}

function findSocket(path: string): boolean {
  try {
    return statSync(path).isSocket()
  } catch {
    return false
  }
}

/** The time that a caller may wait for an answer, in seconds. */
const PATIENCE_SECONDS = 30

/** Opens the socket, in place of one that a service left behind. Gives the reason where it cannot. */
export async function openSocket(
  path: string,
  handle: Handle,
): Promise<{ server: Bun.Server<undefined> } | { refused: string }> {
  if (await answers(path)) return { refused: 'another service answers there' }
  const before = process.umask()
  try {
    const obstacle = clearPath(path)
    if (obstacle !== null) return { refused: obstacle }
    process.umask(UMASK)
    const { maxRequestBodySize, development } = serveSettings
    const options = { unix: path, maxRequestBodySize, development, fetch: handle }
    // The types do not have this one for sockets, which obey it all the same.
    const server = Bun.serve({ ...options, idleTimeout: PATIENCE_SECONDS } as typeof options)
    return { server }
  } catch (error) {
    return { refused: (error as { code?: string }).code ?? 'unknown cause' }
  } finally {
    process.umask(before)
  }
}

/** Removes an old socket of that name. Gives the reason where something else has its name, or its directory is not private. */
function clearPath(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isSocket()) return 'something else than a socket has this name'
  if (found) rmSync(path)
  const directory = dirname(path)
  if (!directory.startsWith(TEMPORARY)) return null
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const made = lstatSync(directory)
  const isPrivate = made.isDirectory() && made.uid === process.geteuid?.() && (made.mode & OTHERS) === 0
  return isPrivate ? null : 'its directory is not private to this user'
}
