/** The URL of the database as people write it, and with user and password beside it. */
import { readDatabaseUrl, UNREADABLE_PLACE } from '../postgres/address.ts'
import { DatabaseUrlRefused } from '../postgres/address-parameters.ts'
import { createStoreUrl } from './store-url.ts'

const SCHEME = /^postgres(?:ql)?:\/\//

const BESIDE = 'set database.user and database.password beside database.url, or '

const storeUrl = createStoreUrl({ scheme: SCHEME, refusalOf, unreadablePlace: UNREADABLE_PLACE })

export const isDatabaseUrl = storeUrl.isUsable

export const explainDatabaseUrl = (text: string, instead = BESIDE): string | null =>
  storeUrl.explain(text, instead)

function refusalOf(text: string): string | null {
  try {
    readDatabaseUrl(text)
    return null
  } catch (error) {
    if (error instanceof DatabaseUrlRefused) return error.message
    throw error
  }
}

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
