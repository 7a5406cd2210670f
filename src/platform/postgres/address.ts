/** Reads the place a database URL leads to: a host, or the socket in a directory of this machine. */

import { join } from 'node:path'

interface DatabaseAddress {
  url: string
  /** The path of the socket; absent where the URL names a host. */
  path?: string
}

const DEFAULT_PORT = '5432'

/**
 * Reads a URL as libpq does: `postgres://user@/database?host=/run/postgresql` and
 * `postgres://user@%2Frun%2Fpostgresql/database` mean the socket in that directory. A `host` or `port` of the query
 * wins over the one before it. The driver would send both to the server as settings, and connect to localhost.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = URL.parse(text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@?)\//, '$1localhost/'))
  if (url === null) return { url: text }
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const port = url.searchParams.get('port') ?? (url.port || DEFAULT_PORT)
  if (!url.searchParams.has('host') && !url.searchParams.has('port') && !host.startsWith('/'))
    return { url: text }
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.hostname = host.startsWith('/') ? 'localhost' : host
  url.port = port
  return host.startsWith('/') ? { url: url.href, path: join(host, `.s.PGSQL.${port}`) } : { url: url.href }
}
