/**
 * The parameters of a database URL: all that libpq knows, and the settings of the server. Each is honoured, left out
 * with a warning where it asked for something, or refused by its name; nothing is dropped in silence.
 */
import { isServerSetting } from './server-setting-names.ts'
import { isSetByUs } from './session-settings.ts'

/** The address cannot be used; the message is part of a sentence about the URL and shows no value of it. */
export class DatabaseUrlRefused extends Error {
  override name = 'DatabaseUrlRefused'
}

/** The wishes of an address so far; hosts and ports are lists. */
export interface Wishes {
  hosts: string[]
  ports: string[]
  hostAddress?: string
  user?: string
  password?: string
  database?: string
  /** `sslmode`. */
  tls?: string
  rootCertificate?: string
  certificate?: string
  key?: string
  keyPassword?: string
  leastTls?: string
  mostTls?: string
  startsWithTls?: boolean
  session?: string
  keepAliveSeconds?: number
  /** The settings that the server gets with the start of the connection. */
  settings: Record<string, string>
  warnings: string[]
}

interface Parameter {
  /** The values that it takes; null where it takes any. */
  values: readonly string[] | RegExp | null
  take(value: string, wishes: Wishes, name: string): void
}

const NUMBER = /^\d{1,9}$/
const SWITCH = ['0', '1'] as const
const WISHES = ['disable', 'prefer', 'require'] as const
const PROTOCOLS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const
const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
const SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const

type Text = {
  [Name in keyof Wishes]-?: string extends Wishes[Name] ? Name : never
}[keyof Wishes]

const honoured = (take: Parameter['take'], values: Parameter['values'] = null): Parameter => ({
  values,
  take,
})

const as = (wish: Exclude<Text, undefined>, values: Parameter['values'] = null): Parameter =>
  honoured((value, wishes) => {
    wishes[wish] = value
  }, values)

/** `quiet`: the values that ask for nothing which poterne does not do. */
const leftOut = (why: string, quiet: readonly string[], values: Parameter['values'] = null) =>
  honoured((value, { warnings }, name) => {
    if (!quiet.includes(value)) warnings.push(`its parameter ${name} has no effect: ${why}; take it out`)
  }, values)

const refused = (instead: string): Parameter =>
  honoured((_value, _wishes, name) => {
    throw new DatabaseUrlRefused(`poterne does not know how to honour its parameter ${name}: ${instead}`)
  })

const noGss = 'poterne knows no GSSAPI'
const ownTimes = 'poterne has time-outs of its own'

const PARAMETERS: Record<string, Parameter> = {
  host: honoured((value, wishes) => {
    wishes.hosts = value.split(',')
  }),
  port: honoured((value, wishes) => {
    wishes.ports = value.split(',')
  }),
  hostaddr: as('hostAddress'),
  user: as('user'),
  password: as('password'),
  dbname: as('database'),
  sslmode: as('tls', MODES),
  // Other drivers write it, and verify with `true`.
  ssl: honoured(
    (value, wishes) => {
      wishes.tls = value === 'true' ? 'verify-full' : value === 'false' ? 'disable' : value
    },
    ['true', 'false', ...MODES],
  ),
  requiressl: honoured((value, wishes) => {
    if (value === '1') wishes.tls ??= 'require'
  }, SWITCH),
  sslrootcert: as('rootCertificate'),
  sslcert: as('certificate'),
  sslkey: as('key'),
  sslpassword: as('keyPassword'),
  ssl_min_protocol_version: as('leastTls', PROTOCOLS),
  ssl_max_protocol_version: as('mostTls', PROTOCOLS),
  sslnegotiation: honoured(
    (value, wishes) => {
      wishes.startsWithTls = value === 'direct'
    },
    ['postgres', 'direct'],
  ),
  sslsni: leftOut('the name of the host is always sent', ['1'], SWITCH),
  sslcompression: leftOut('TLS compresses nothing any more', ['0'], SWITCH),
  sslcertmode: leftOut(
    'a certificate is sent where sslcert names one',
    ['allow'],
    ['disable', 'allow', 'require'],
  ),
  channel_binding: leftOut(
    'poterne does not bind the sign-in to the certificate (sslmode=verify-full verifies that)',
    ['disable', 'prefer'],
    WISHES,
  ),
  gssencmode: leftOut(noGss, ['disable', 'prefer'], WISHES),
  gssdelegation: leftOut(noGss, ['0'], SWITCH),
  gsslib: leftOut(noGss, []),
  krbsrvname: leftOut(noGss, ['postgres']),
  require_auth: leftOut('the server chooses how poterne signs in', []),
  service: leftOut('poterne reads no file of services', []),
  servicefile: leftOut('poterne reads no file of services', []),
  load_balance_hosts: leftOut('the hosts are tried in their order', ['disable'], ['disable', 'random']),
  connect_timeout: leftOut(ownTimes, ['0'], NUMBER),
  keepalives: honoured((value, wishes) => {
    if (value === '0') wishes.keepAliveSeconds = 0
  }, SWITCH),
  keepalives_idle: honoured((value, wishes) => {
    if (value !== '0') wishes.keepAliveSeconds ??= Number(value)
  }, NUMBER),
  keepalives_interval: leftOut(ownTimes, ['0'], NUMBER),
  keepalives_count: leftOut(ownTimes, ['0'], NUMBER),
  tcp_user_timeout: leftOut(ownTimes, ['0'], NUMBER),
  min_protocol_version: leftOut('poterne speaks protocol 3.0', ['3.0']),
  max_protocol_version: leftOut('poterne speaks protocol 3.0', ['3.0', 'latest']),
  client_encoding: leftOut('poterne always speaks UTF8', [
    ...['auto', 'UTF8', 'utf8', 'UTF-8', 'utf-8', 'unicode', 'UNICODE'],
  ]),
  target_session_attrs: honoured((value, wishes) => {
    if (value !== 'any') wishes.session = value
  }, SESSIONS),
  application_name: honoured((value, { settings }) => {
    settings.application_name = value
  }),
  fallback_application_name: honoured((value, { settings }) => {
    settings.application_name ??= value
  }),
  options: honoured((value, { settings, warnings }) => {
    settings.options = value
    for (const [, name = ''] of value.matchAll(/(?:^|\s)(?:-c\s*|--)([\w.-]+)\s*=/g))
      warnOfOurs(name.replaceAll('-', '_'), warnings)
  }),
  passfile: refused('give the password in database.password'),
  sslcrl: refused('take it out'),
  sslcrldir: refused('take it out'),
  sslkeylogfile: refused('take it out'),
  requirepeer: refused('take it out'),
  replication: refused('take it out'),
  scram_client_key: refused('give the password in database.password'),
  scram_server_key: refused('give the password in database.password'),
  oauth_issuer: refused('give a password in database.password'),
  oauth_client_id: refused('give a password in database.password'),
  oauth_client_secret: refused('give a password in database.password'),
  oauth_scope: refused('give a password in database.password'),
}

function warnOfOurs(name: string, warnings: string[]): void {
  if (isSetByUs(name))
    warnings.push(`its parameter ${name} has no effect: poterne sets it on each connection; take it out`)
}

/** A name that holds anything else may be a part of a password. */
const shown = (name: string) =>
  /^[\w.]{1,64}$/.test(name) ? `its parameter ${name}` : 'one of its parameters'

/** Throws DatabaseUrlRefused. An empty value of libpq's means that it is not there. */
export function takeParameter(name: string, value: string, wishes: Wishes): void {
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
  if (parameter) {
    if (value !== '' && !accepts(parameter, value))
      throw new DatabaseUrlRefused(`its parameter ${name} takes ${expectedBy(parameter)}`)
    if (value !== '') parameter.take(value, wishes, name)
  } else if (!isServerSetting(name)) {
    throw new DatabaseUrlRefused(`${shown(name)} is known neither to PostgreSQL nor to poterne: take it out`)
  } else if (value === '') {
    throw new DatabaseUrlRefused(`${shown(name)} has no value`)
  } else {
    wishes.settings[name] = value
    warnOfOurs(name, wishes.warnings)
  }
}

const accepts = ({ values }: Parameter, value: string) =>
  values === null || (values instanceof RegExp ? values.test(value) : values.includes(value))

function expectedBy({ values }: Parameter): string {
  if (values === null || values instanceof RegExp) return 'a whole number'
  return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}
