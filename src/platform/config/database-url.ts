/** The URL of the database as people write it: with which sign it goes wrong, and with user and password beside it. */
import { readDatabaseUrl, UNREADABLE_PLACE } from '../postgres/address.ts'
import { DatabaseUrlRefused } from '../postgres/address-parameters.ts'

const SCHEME = /^postgres(?:ql)?:\/\//

/**
 * The characters that a URL cannot hold as they are: separators, blanks, control characters, and a % that begins no
 * number.
 */
const UNWRITABLE = /[/?#[\]\s\p{Cc}]|%(?![\da-f]{2})/iu

const BESIDE = 'set database.user and database.password beside database.url, or '

export const isDatabaseUrl = (text: string): boolean =>
  SCHEME.test(text) && findFaultySign(text) === null && refusalOf(text) === null

/** It returns null where nothing better can be said than what is expected. Shows one sign of the URL and nothing else of it. */
export function explainDatabaseUrl(text: string, instead = BESIDE): string | null {
  if (!SCHEME.test(text)) return null
  const sign = findFaultySign(text)
  if (sign === null) return refusalOf(text)
  const name = /^\s$/.test(sign)
    ? 'a blank'
    : /^\p{Cc}$/u.test(sign)
      ? 'a control character'
      : `the sign ${sign}`
  return `it holds ${name}, which a URL cannot hold as it is: ${instead}write ${encode(sign)} instead of it`
}

function findFaultySign(text: string): string | null {
  const rest = text.replace(SCHEME, '')
  const anywhere = /[\s\p{Cc}]|%(?![\da-f]{2})/iu.exec(rest)
  if (anywhere) return anywhere[0]
  if (!isDecodable(rest)) return '%'
  const [authority = ''] = /^[^/?#]*/.exec(rest) ?? []
  const credentials = authority.includes('@') ? authority.slice(0, authority.lastIndexOf('@')) : ''
  if (credentials.includes('@')) return '@'
  const path = rest.slice(authority.length)
  if (endsInPath(path, text)) return UNWRITABLE.exec(rest)?.[0] ?? null
  return rest.includes('#') ? '#' : null
}

/** The @ that ends user and password came after a sign that ends them earlier. */
function endsInPath(path: string, text: string): boolean {
  if (/^[^?]*@/.test(path)) return true
  return path.includes('@') && (refusalOf(text) === UNREADABLE_PLACE || /@[^&]*\//.test(path))
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function refusalOf(text: string): string | null {
  try {
    readDatabaseUrl(text)
    return null
  } catch (error) {
    if (error instanceof DatabaseUrlRefused) return error.message
    throw error
  }
}

const encode = (sign: string): string =>
  sign === '%'
    ? '%25'
    : encodeURIComponent(sign).replace(/[[\]]/, (bracket) => (bracket === '[' ? '%5B' : '%5D'))

interface DatabaseCredentials {
  user: string | null
  password: string | null
}

/** Those that the URL holds itself, also as parameters. */
export function credentialsIn(url: string): DatabaseCredentials {
  const { user, password } = readDatabaseUrl(url).options
  return { user: user ?? null, password: (password as string | undefined) ?? null }
}

/** The same URL with user and password in it, whichever signs they hold. */
export function withCredentials(url: string, { user, password }: DatabaseCredentials): string {
  const own = credentialsIn(url)
  const [name, word] = [user ?? own.user, password ?? own.password]
  if (name === own.user && word === own.password) return url
  const scheme = SCHEME.exec(url)![0]
  const place = url.slice(scheme.length).replace(/^[^/?#]*@/, '')
  const secret = word === null ? '' : `:${encodeURIComponent(word)}`
  return `${scheme}${encodeURIComponent(name ?? '')}${secret}@${place}`
}
