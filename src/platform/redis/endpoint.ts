/** Reads the URL of a Redis server or a Sentinel. Each part of it is honoured, or refused by its name. */
import { isIPv6 } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

/** The URL cannot be used; the message is part of a sentence about it and shows no value of it. */
export class RedisUrlRefused extends Error {
  override name = 'RedisUrlRefused'
}

export interface Endpoint {
  host: string
  port: number
  username?: string
  password?: string
  db?: number
  /** Set for `rediss://`; certificates are verified against the system's authorities. */
  tls?: ConnectionOptions
  sentinelUsername?: string
  sentinelPassword?: string
}

export interface RedisServers {
  mode: 'single' | 'sentinel' | 'cluster'
  urls: string[]
}

const DEFAULT_PORT = 6379
export const UNREADABLE_HOST = 'its host and port cannot be read: expected redis://host:6379'
const HOST_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u
/** Redis keeps the number of a database in 32 bits. */
const MOST_DATABASE = 2 ** 31 - 1

/** `[redis|rediss]://[[user]:password@]host[:port][/db][?sentinel_username=…&sentinel_password=…]` */
export function readRedisUrl(text: string): Endpoint {
  const [, scheme, authority = '', path, query = ''] =
    /^(rediss?):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s.exec(text) ?? []
  if (scheme === undefined) throw new RedisUrlRefused('it does not begin with redis:// or rediss://')
  const at = authority.lastIndexOf('@')
  const [username = '', password = ''] = authority.slice(0, Math.max(at, 0)).split(/:(.*)/s).map(decode)
  return {
    ...placeOf(authority.slice(at + 1)),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...databaseOf(decode(path ?? '')),
    ...(scheme === 'rediss' && { tls: {} }),
    ...parametersOf(query),
  }
}

function placeOf(place: string): Pick<Endpoint, 'host' | 'port'> {
  if (place.includes(','))
    throw new RedisUrlRefused('it names several hosts: list each with its own URL in redis.urls')
  const [, address, name, digits] = /^(?:\[([^[\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(place) ?? []
  const host = decode(address ?? name ?? '')
  const port = digits === undefined ? DEFAULT_PORT : Number(digits)
  const isReadable = address === undefined ? HOST_NAME.test(host) : isIPv6(host)
  if (!isReadable || port < 1 || port > 65_535) throw new RedisUrlRefused(UNREADABLE_HOST)
  return { host, port }
}

function databaseOf(number: string): Pick<Endpoint, 'db'> {
  if (number === '') return {}
  if (!/^\d{1,10}$/.test(number) || Number(number) > MOST_DATABASE)
    throw new RedisUrlRefused(
      'after its host it may only name the number of a database, from 0 up, such as /1',
    )
  return { db: Number(number) }
}

const PARAMETERS = { sentinel_username: 'sentinelUsername', sentinel_password: 'sentinelPassword' } as const
/** Names that other programs give to what the path says. */
const OF_THE_DATABASE = ['db', 'database']

function parametersOf(query: string): Pick<Endpoint, 'sentinelUsername' | 'sentinelPassword'> {
  const found: ReturnType<typeof parametersOf> = {}
  for (const pair of query.split('&').filter(Boolean)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode)
    const shown =
      /^[\w-]{1,40}$/.test(name) && pair.includes('=') ? `its parameter ${name}` : 'one of its parameters'
    if (OF_THE_DATABASE.includes(name))
      throw new RedisUrlRefused(`${shown} is written as the path, such as /1`)
    if (!Object.hasOwn(PARAMETERS, name)) throw new RedisUrlRefused(`${shown} is not known: take it out`)
    const property = PARAMETERS[name as keyof typeof PARAMETERS]
    if (value === '') throw new RedisUrlRefused(`${shown} has no value`)
    if (Object.hasOwn(found, property)) throw new RedisUrlRefused(`${shown} is there twice`)
    found[property] = value
  }
  if (found.sentinelUsername !== undefined && found.sentinelPassword === undefined)
    throw new RedisUrlRefused('its parameter sentinel_username needs sentinel_password beside it')
  return found
}

function decode(part: string): string {
  const text = decodeURIComponent(part)
  if (text.includes('\0')) throw new RedisUrlRefused('it holds %00, which Redis is never sent')
  return text
}

/** What holds for all servers is read from the first URL. */
const SHARED = {
  username: 'another user than',
  password: 'another password than',
  db: 'another database than',
  sentinelUsername: 'another sentinel_username than',
  sentinelPassword: 'another sentinel_password than',
} as const

/** There is at least one. Throws RedisUrlRefused where they do not fit each other or the mode. */
export function readRedisUrls({ mode, urls }: RedisServers): [Endpoint, ...Endpoint[]] {
  const [first, ...others] = urls.map(readRedisUrl)
  if (first === undefined) throw new RangeError('no Redis url')
  for (const other of others) {
    for (const [part, said] of Object.entries(SHARED) as [keyof typeof SHARED, string][])
      if (other[part] !== undefined && other[part] !== first[part])
        throw new RedisUrlRefused(
          `one of its URLs names ${said} the first, which holds for all: leave it out`,
        )
    if ((other.tls === undefined) !== (first.tls === undefined))
      throw new RedisUrlRefused('expected either redis:// or rediss:// in all of its URLs')
  }
  if (mode === 'cluster' && (first.db ?? 0) > 0)
    throw new RedisUrlRefused('a cluster has the database 0 alone: leave the number out')
  if (mode !== 'sentinel' && first.sentinelPassword !== undefined)
    throw new RedisUrlRefused(
      'sentinel_username and sentinel_password are expected only with redis.mode = "sentinel"',
    )
  return [first, ...others]
}
