/** Reads a database URL as libpq does, into the options of the driver, which would read much of it in another way. */
import { readFileSync } from 'node:fs'
import { isIP, isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { ConnectionOptions, SecureContextOptions, SecureVersion } from 'node:tls'
import type postgres from 'postgres'
import { DatabaseUrlRefused, takeParameter, type Wishes } from './address-parameters.ts'
import { databaseCode } from './failure.ts'

export interface DatabaseAddress {
  /** The options of the driver. It takes the rest from the variables that libpq knows, such as PGUSER. */
  options: postgres.Options<Record<string, never>>
  /** None where the URL leads to a socket, or names no host. */
  hosts: readonly string[]
  verifiesTls: boolean
  /** The sentences about the parameters that are left out. */
  warnings: readonly string[]
}

const DEFAULT_PORT = '5432'
export const UNREADABLE_PLACE =
  'its host and port cannot be read: expected postgres://user@host:5432/database'
const HOST_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u

/** Throws DatabaseUrlRefused where a part of it is neither understood nor honoured. */
export function readDatabaseUrl(text: string): DatabaseAddress {
  const wishes = wishesOf(text)
  const { hosts, hostAddress, user, password, database, session, keepAliveSeconds } = wishes
  const socket = hosts.length === 1 && hosts[0]!.startsWith('/') ? hosts[0]! : null
  if (socket === null) requireHosts(wishes)
  const options = {
    ...placeOf(wishes, socket),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    // As in libpq, a socket is without TLS whatever is asked for: it does not leave the machine.
    ssl: socket === null && tlsOf(wishes),
    ...(wishes.startsWithTls && { sslnegotiation: 'direct' }),
    ...(session !== undefined && { target_session_attrs: session }),
    ...(keepAliveSeconds !== undefined && { keep_alive: keepAliveSeconds }),
    connection: wishes.settings,
  }
  return {
    options: options as DatabaseAddress['options'],
    hosts: socket === null ? addressesOf(hosts, hostAddress) : [],
    verifiesTls: modeOf(wishes) === 'verify-full',
    warnings: wishes.warnings,
  }
}

const addressesOf = (hosts: string[], hostAddress: string | undefined) =>
  hostAddress === undefined ? hosts : [hostAddress]

function placeOf({ hosts, ports, hostAddress }: Wishes, socket: string | null) {
  const port = portsOf(ports, Math.max(hosts.length, 1))
  if (socket !== null) return { path: join(socket, `.s.PGSQL.${port[0]}`) }
  const host = addressesOf(hosts, hostAddress)
  if (host.length > 0) return { host, port }
  return ports.length > 0 ? { port: port[0] } : {}
}

/** The parts before the query first, so that a parameter wins over them. */
function wishesOf(text: string): Wishes {
  const wishes: Wishes = { hosts: [], ports: [], settings: {}, warnings: [] }
  const [, authority = '', path = '', query = ''] =
    /^[a-z]+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?/s.exec(text) ?? []
  const at = authority.lastIndexOf('@')
  const [user = '', password = ''] = authority.slice(0, Math.max(at, 0)).split(/:(.*)/s)
  if (user !== '') wishes.user = decode(user)
  if (password !== '') wishes.password = decode(password)
  if (path !== '') wishes.database = decode(path)
  const places = authority.slice(at + 1)
  if (places !== '') {
    const read = places.split(',').map((place) => {
      const found = /^(?:\[([^[\]]+)\]|([^:[\]]*))(?::(\d*))?$/.exec(place)
      if (found === null || (found[1] !== undefined && !isIPv6(decode(found[1]))))
        throw new DatabaseUrlRefused(UNREADABLE_PLACE)
      return { host: decode(found[1] ?? found[2] ?? ''), port: found[3] ?? '' }
    })
    if (read.length > 1 || read[0]!.host !== '') wishes.hosts = read.map(({ host }) => host)
    if (read.some(({ port }) => port !== '')) wishes.ports = read.map(({ port }) => port)
  }
  const seen = new Set<string>()
  for (const pair of query.split('&').filter(Boolean)) {
    const [name = '', value] = pair.split(/=(.*)/s).map(decode)
    if (value === undefined) throw new DatabaseUrlRefused('one of its parameters has no value')
    takeParameter(name, value, wishes)
    if (seen.has(name)) throw new DatabaseUrlRefused(`its parameter ${name} is there twice`)
    seen.add(name)
  }
  return wishes
}

function decode(part: string): string {
  const text = decodeURIComponent(part)
  if (text.includes('\0')) throw new DatabaseUrlRefused('it holds %00, which PostgreSQL cannot read')
  return text
}

function requireHosts({ hosts, hostAddress }: Wishes): void {
  if (hosts.some((host) => host.startsWith('/')))
    throw new DatabaseUrlRefused('it lists a socket beside another host: name one of them')
  if (!hosts.every((host) => HOST_NAME.test(host) || isIPv6(host)))
    throw new DatabaseUrlRefused(UNREADABLE_PLACE)
  if (hostAddress !== undefined && (isIP(hostAddress) === 0 || hosts.length > 1))
    throw new DatabaseUrlRefused('its parameter hostaddr takes one IP address, of one host')
}

/** One for each host. An empty one is the usual port. */
function portsOf(ports: string[], hosts: number): number[] {
  if (ports.length > 1 && ports.length !== hosts)
    throw new DatabaseUrlRefused('it holds another number of ports than of hosts')
  return Array.from({ length: hosts }, (_, at) => {
    const port = ports[ports.length === 1 ? 0 : at] || process.env.PGPORT || DEFAULT_PORT
    if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
      throw new DatabaseUrlRefused(UNREADABLE_PLACE)
    return Number(port)
  })
}

/** The default with an authority of certificates is to ask it. */
const modeOf = ({ tls, rootCertificate }: Wishes) =>
  tls ?? (rootCertificate === undefined ? 'disable' : 'verify-full')

/** As in libpq, `require` with an authority becomes `verify-ca`: it verifies the certificate and not the host. */
function tlsOf(wishes: Wishes): postgres.Options<Record<string, never>>['ssl'] {
  const { rootCertificate, certificate, key, keyPassword, leastTls, mostTls, hosts, hostAddress } = wishes
  const asked = modeOf(wishes)
  const names = {
    ...{ sslrootcert: rootCertificate, sslcert: certificate, sslkey: key, sslpassword: keyPassword },
    ...{ ssl_min_protocol_version: leastTls, ssl_max_protocol_version: mostTls },
  }
  const needing = Object.entries(names).find(([, value]) => value !== undefined)?.[0]
  const isCertain = ['require', 'verify-ca', 'verify-full'].includes(asked)
  if (!isCertain && (needing !== undefined || wishes.startsWithTls))
    throw new DatabaseUrlRefused(
      `its parameter ${needing ?? 'sslnegotiation'} needs sslmode=require, verify-ca or verify-full`,
    )
  if (rootCertificate === 'system' && asked !== 'verify-full')
    throw new DatabaseUrlRefused('its parameter sslrootcert=system needs sslmode=verify-full')
  if (!isCertain) return asked === 'disable' ? false : 'prefer'
  const ca = rootCertificate === 'system' ? undefined : rootCertificate
  const mode = asked === 'require' && ca !== undefined ? 'verify-ca' : asked
  return {
    rejectUnauthorized: mode !== 'require',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(ca !== undefined && { ca: contentOf('sslrootcert', ca, (text) => ({ ca: text })) }),
    ...(certificate !== undefined && {
      cert: contentOf('sslcert', certificate, (text) => ({ cert: text })),
    }),
    ...(key !== undefined && {
      key: contentOf('sslkey', key, (text) => ({ key: text, passphrase: keyPassword })),
    }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    ...(leastTls !== undefined && { minVersion: leastTls as SecureVersion }),
    ...(mostTls !== undefined && { maxVersion: mostTls as SecureVersion }),
    // The certificate is that of the name.
    ...(hostAddress !== undefined &&
      hosts.length === 1 &&
      isIP(hosts[0]!) === 0 && { servername: hosts[0]! }),
  } satisfies ConnectionOptions
}

/** The driver would meet a file without a certificate or key only in an event of its socket, where nobody hears of it. */
function contentOf(name: string, path: string, use: (content: string) => SecureContextOptions): string {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    throw new DatabaseUrlRefused(
      `its parameter ${name} names a file that cannot be read (${databaseCode(error) ?? 'unknown cause'})`,
    )
  }
  try {
    // Loaded here, since most addresses name no file.
    const { createSecureContext } = require('node:tls') as typeof import('node:tls')
    createSecureContext(use(content))
  } catch {
    throw new DatabaseUrlRefused(
      `its parameter ${name} names a file that holds no ${name === 'sslkey' ? 'key that sslpassword opens' : 'certificate'} in PEM`,
    )
  }
  return content
}
