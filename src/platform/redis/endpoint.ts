/** Parses the URL of a Redis server or Sentinel. Configuration has already checked that it is a URL. */
import type { ConnectionOptions } from 'node:tls'

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

const DEFAULT_PORT = 6379

/** `[redis|rediss]://[user[:password]@]host[:port][/db][?sentinel_username=…&sentinel_password=…]` */
function parseEndpoint(text: string): Endpoint {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost'
  const endpoint: Endpoint = { host, port: url.port === '' ? DEFAULT_PORT : Number(url.port) }
  if (url.username !== '') endpoint.username = decodeURIComponent(url.username)
  if (url.password !== '') endpoint.password = decodeURIComponent(url.password)
  const db = Number(url.pathname.slice(1))
  if (Number.isInteger(db) && db > 0) endpoint.db = db
  if (url.protocol === 'rediss:') endpoint.tls = {}
  const sentinelUsername = url.searchParams.get('sentinel_username')
  const sentinelPassword = url.searchParams.get('sentinel_password')
  if (sentinelUsername) endpoint.sentinelUsername = sentinelUsername
  if (sentinelPassword) endpoint.sentinelPassword = sentinelPassword
  return endpoint
}

/** There is at least one. */
export function parseEndpoints(urls: string[]): [Endpoint, ...Endpoint[]] {
  const [first, ...others] = urls.map(parseEndpoint)
  if (first === undefined) throw new RangeError('no Redis url')
  return [first, ...others]
}
