/**
 * The key of the pages of --dev. A reverse proxy on this machine may name this machine and forward no word of itself,
 * so the pages ask for more than that. The key is in the addresses that the start prints, and afterwards in a cookie.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readCookies } from '../../platform/http/redirect.ts'

export type DevKey = ReturnType<typeof openDevKey>

/** `file` null: of this process alone. Kept in the file, it outlives a restart: for browsers, and for commands such as curl. */
export function openDevKey(file: string | null, port: number) {
  const value = (file !== null && readKey(file)) || makeKey(file)
  // Cookies belong to a host, whatever the port.
  const name = `poterne_dev_${port}`
  const inQuery = (request: Request) => new URL(request.url).searchParams.get('key') ?? ''
  const inCookie = (request: Request) =>
    readCookies(request.headers.get('cookie') ?? undefined).get(name) ?? ''
  return {
    value,
    /** The key may be in the query or in the cookie. */
    isIn: (request: Request): boolean => isSame(inQuery(request), value) || isSame(inCookie(request), value),
    /** Returns the cookie for a browser that brought the key in the query, and null for others. */
    cookieFor: (request: Request): string | null =>
      isSame(inQuery(request), value)
        ? `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`
        : null,
  }
}

function readKey(file: string): string | null {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  return /^[\w-]{22}$/.test(kept) ? kept : null
}

function makeKey(file: string | null): string {
  const made = randomBytes(16).toString('base64url')
  if (file !== null) {
    rmSync(file, { force: true })
    writeFileSync(file, `${made}\n`, { mode: 0o600, flag: 'wx' })
  }
  return made
}

const hash = (text: string) => createHash('sha256').update(text).digest()
const isSame = (one: string, other: string) => timingSafeEqual(hash(one), hash(other))
