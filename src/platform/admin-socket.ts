/** The Unix socket of administration: where it is, how it is opened, and who answers there. Its permissions are its lock. */
import { accessSync, constants, existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { serveSettings } from './http/http-base.ts'

const RUNTIME_SOCKET = '/run/poterne/admin.sock'

/** Only its owner may open it. */
const UMASK = 0o177

/** Null: none is wanted. */
export function ownSocketPath(configured: string | null, dataDir: string): string | null {
  if (configured !== null) return configured === '' ? null : resolve(configured)
  return isOurs(dirname(RUNTIME_SOCKET)) ? RUNTIME_SOCKET : resolve(join(dataDir, 'admin.sock'))
}

/** Where a command looks for a service that runs, in this order. */
export const socketCandidates = (dataDir: string | null): string[] => [
  RUNTIME_SOCKET,
  ...(dataDir === null ? [] : [resolve(join(dataDir, 'admin.sock'))]),
]

function isOurs(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether a service answers there. */
export function answers(path: string): Promise<boolean> {
  if (!existsSync(path)) return Promise.resolve(false)
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

/** How long a caller may wait for an answer, in seconds. */
const PATIENCE_SECONDS = 30

/** Opens the socket, in place of one that a service left behind. Gives the reason where it cannot. */
export async function openSocket(
  path: string,
  handle: (request: Request) => Promise<Response>,
): Promise<{ server: Bun.Server<undefined> } | { refused: string }> {
  if (await answers(path)) return { refused: 'another service answers there' }
  const before = process.umask(UMASK)
  try {
    rmSync(path, { force: true })
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
