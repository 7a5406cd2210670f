/** The tokens of a server-rendered application, in a cookie that only its server can read. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { PoterneError } from './error.ts'
import { type ClientStorage, parse } from './storage.ts'

export interface CookieAttributes {
  path: '/'
  httpOnly: true
  secure: boolean
  sameSite: 'lax'
  expires: Date
}

/** The cookies of one request and of its answer. */
export interface Cookies {
  /** At least 32 characters, the same in every process. */
  secret: string
  /** They open cookies too, while the secret changes. */
  previousSecrets?: string[]
  get(name: string): string | null | undefined
  /** Left out where no cookie can be set any more: a token is used while it lasts then. */
  set?(name: string, value: string, attributes: CookieAttributes): unknown
  /** False for http, in development. */
  secure?: boolean
}

const SHORTEST_SECRET = 32
const LONGEST_COOKIE = 4000
const KEPT_MS = 90 * 24 * 3_600_000
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** For one request: `createClient({ url, storage: cookieStorage(…) })`. Send `Cache-Control: no-store` with what it answers. */
export function cookieStorage({
  secret,
  previousSecrets = [],
  get,
  set,
  secure = true,
}: Cookies): ClientStorage {
  const name = secure ? '__Host-poterne-app' : 'poterne-app'
  const [key, ...previous] = [secret, ...previousSecrets].map(keyOf) as [Buffer, ...Buffer[]]
  /** What the request brought, and what was written since. */
  const values = new Map(Object.entries(read()))

  function read(): Record<string, string> {
    const cookie = get(name)
    for (const each of cookie ? [key, ...previous] : []) {
      const text = open(each, name, cookie as string)
      if (text !== null) return parse<Record<string, string>>(text) ?? {}
    }
    return {}
  }

  function write(): unknown {
    const kept = [...values].map(([each, value]) => [each, withoutAccount(value)])
    const cookie = kept.length > 0 ? seal(key, name, JSON.stringify(Object.fromEntries(kept))) : ''
    if (name.length + 1 + cookie.length > LONGEST_COOKIE)
      throw new PoterneError('cookie_too_large', {
        message: `${name} would have ${cookie.length} bytes: put less into tokens.claims of poterne`,
      })
    const expires = new Date(cookie === '' ? 0 : Date.now() + KEPT_MS)
    return set?.(name, cookie, { path: '/', httpOnly: true, secure, sameSite: 'lax', expires })
  }

  return {
    readOnly: set === undefined,
    getItem: (each) => values.get(each) ?? null,
    setItem(each, value) {
      values.set(each, value)
      return write()
    },
    removeItem: (each) => (values.delete(each) ? write() : undefined),
  }
}

/** An account is larger than a cookie may be: `reload` asks for it. */
function withoutAccount(value: string): string {
  const { account: _, ...rest } = parse<{ account?: unknown }>(value) ?? {}
  return JSON.stringify(rest)
}

function keyOf(secret: string): Buffer {
  if (secret.length < SHORTEST_SECRET)
    throw new TypeError(`the secret of cookieStorage needs at least ${SHORTEST_SECRET} characters`)
  return Buffer.from(hkdfSync('sha256', secret, '', 'poterne client cookie', 32))
}

/** base64url of nonce, encrypted text and tag, for this name of a cookie alone. */
function seal(key: Buffer, name: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  )
}

/** Null for what somebody else made. */
function open(key: Buffer, name: string, cookie: string): string | null {
  try {
    const bytes = Buffer.from(cookie, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES))
    return (
      decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    )
  } catch {
    return null
  }
}
