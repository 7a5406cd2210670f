/** `--dev` and its options: what they refuse of a configuration, and what they put in its place. */
import { sitesOf } from './checks.ts'
import { isHost, isLoopbackHost, isLoopbackRange } from './formats.ts'
import type { Report } from './report.ts'
import { cheapestHash } from './schema.ts'
import { propertyOf, type Settings } from './settings.ts'

export interface Development {
  /** The address to listen on where loopback is out of reach, as in a container. */
  host?: string | undefined
  /** The cheapest hash that the configuration may have, and no limits. */
  fast?: boolean | undefined
}

const LOOPBACK = '127.0.0.1'

/** It shows every code to everybody who reaches it, and behind a reverse proxy anybody does. */
export function checkDevelopment(
  { values, settings }: Settings,
  { host }: Development,
  report: Report,
): void {
  const { baseUrl, trustedProxies } = values.server
  const why =
    'this is a configuration for the public, and --dev shows every code: leave out --dev, or this key'
  if (baseUrl?.startsWith('https:')) report.add('server.base_url', why)
  if (!trustedProxies?.every(isLoopbackRange)) report.add('server.trusted_proxies', why)
  if (host !== undefined && !isHost(host))
    report.add('--dev-host', 'expected an address of this machine such as 0.0.0.0', `"${host}"`)
  const set = settings.find(({ section, key }) => section === 'server' && key === 'host')
  if (host === undefined && set?.origin === 'environment' && !isLoopbackHost(values.server.host))
    report.add(
      'server.host',
      `--dev listens on this machine only, so ${set.variable} would change nothing: leave it out, or use \`--dev --dev-host ${values.server.host}\``,
      `"${values.server.host}"`,
    )
}

/**
 * It listens on loopback only, or where the command says, with everything that shows what the service can do. It has one
 * name, since cookies and passkeys belong to a name: "localhost", for which browsers allow them over http.
 */
export function adaptToDevelopment(settings: Settings, { host: wanted, fast }: Development): void {
  const { server, passkeys } = settings.values
  const host = wanted ?? (isLoopbackHost(server.host) ? server.host : LOOPBACK)
  if (host !== server.host) put(settings, 'server.host', host)
  const own = `http://localhost:${server.port}`
  if (server.baseUrl === null && KNOWN_AS_LOCALHOST.has(host)) put(settings, 'server.base_url', own)
  if (passkeys.rpId === null) Object.assign(passkeys, { rpId: 'localhost', origins: [own] })
  for (const [key, value] of [
    ['pages.enabled', true],
    ['server.docs', true],
    ['server.language', 'en'],
    ['admin.listen', `${host.includes(':') ? `[${host}]` : host}:0`],
  ] as const) {
    if (find(settings, key)?.origin === 'default') put(settings, key, value)
  }
  // Pages under development run on ports of their own, and may call the service already.
  passkeys.origins = [...new Set([...sitesOf(passkeys), ...server.corsOrigins])]
  if (!fast) return
  put(settings, 'password.memory_kib', cheapestHash.memoryKib)
  put(settings, 'password.iterations', cheapestHash.iterations)
  put(settings, 'limits.enabled', false)
}

/** A browser on this machine finds the service there by that name; not on 127.8.9.1, nor at the address of one network. */
const KNOWN_AS_LOCALHOST = new Set(['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::'])

const find = ({ settings }: Settings, name: string) =>
  settings.find(({ section, key }) => `${section}.${key}` === name)

/** `config show` says where it came from. */
function put(settings: Settings, name: string, value: unknown): void {
  const [section = '', key = ''] = name.split('.')
  const values = settings.values as unknown as Record<string, Record<string, unknown>>
  values[section]![propertyOf(key)] = value
  Object.assign(find(settings, name) ?? {}, { raw: value, origin: 'option', variable: null })
}
