/** Rules about several keys together. A rule is skipped if one of its keys is already wrong by itself. */
import { credentialsIn } from './database-url.ts'
import { isLoopbackHost, isOpenToAll, parseListenAddress } from './formats.ts'
import { namesInTemplate } from './placeholders.ts'
import { refusalOfTogether } from './redis-url.ts'
import type { Report } from './report.ts'
import { type Settings, shownValue } from './settings.ts'
import type { SchemaValues } from './values.ts'

type Provider = SchemaValues['social']['providers'][number]
type Gateway = SchemaValues['sms']['gateways'][number]

/** Reports `message` for the first of `keys` if `holds` is false. */
type Check = (keys: [string, ...string[]], holds: () => boolean, message: string | (() => string)) => void

export function checkTogether({ values, settings }: Settings, report: Report): void {
  const check: Check = (keys, holds, message) => {
    const sections = keys.map((key) => key.slice(0, key.lastIndexOf('.')))
    if ([...keys, ...sections].some(report.isWrong) || holds()) return
    const said = typeof message === 'string' ? message : message()
    report.add(keys[0], said, shownValue(settings, keys[0]))
  }
  check(
    ['server.base_url'],
    () => values.server.baseUrl === null || !isOpenToAll(values.server.baseUrl),
    'expected https: over http everybody on the way reads passwords and tokens',
  )
  checkStores(values, check)
  checkBackup(values, check)
  checkSmtp(values.smtp, check)
  checkOrder(values, check)
  checkPasswords(values, check)
  const { listen, baseUrl } = values.admin
  check(
    ['admin.listen', 'admin.base_url'],
    () => baseUrl !== null || isLoopbackHost(parseListenAddress(listen)?.host ?? 'localhost'),
    'expected a loopback address such as "127.0.0.1:8081", or admin.base_url, the https address of the reverse proxy',
  )
  checkPasskeys(values.passkeys, check)
  const { allowedCountries, gateways } = values.sms
  check(
    ['sms.allowed_countries'],
    () => !allowedCountries.includes('*') || allowedCountries.length === 1,
    'expected "*" alone or a list of countries',
  )
  checkNames('sms.gateways', gateways, check)
  checkTestIdentities(values.testIdentities, check)
  checkNames('social.providers', values.social.providers, check)
  checkWebhooks(values.webhooks, check)
  check(
    ['admission.url'],
    () => values.admission === null || !isOpenToAll(values.admission.url),
    'expected https: over http everybody on the way reads who comes',
  )
  for (const [index, gateway] of gateways.entries()) checkGateway(`sms.gateways[${index}]`, gateway, check)
  for (const [index, provider] of values.social.providers.entries()) {
    checkProvider(`social.providers[${index}]`, provider, check)
  }
}

/** Without a way to send messages nobody could ever confirm an account. */
export function checkDelivery({ smtp, sms }: SchemaValues, report: Report): void {
  if (smtp !== null || sms.gateways.length > 0 || report.isWrong('smtp') || report.isWrong('sms.gateways'))
    return
  report.add(
    'smtp',
    'neither [smtp] nor a [[sms.gateways]] is set, so no code could reach anybody; set one of them, or use --dev, ' +
      'which keeps every message in a built-in mailbox',
  )
}

function checkStores({ server, database, redis }: SchemaValues, check: Check): void {
  const hasRedis = redis.url !== null || redis.urls?.length > 0
  check(
    ['server.secret', 'database.url'],
    () => database.url === null || server.secret !== null,
    'must be set with database.url, the same for every process; `poterne secret` prints one',
  )
  for (const part of ['user', 'password'] as const) {
    check(
      [`database.${part}`, 'database.url'],
      () => database[part] === null || (database.url !== null && credentialsIn(database.url)[part] === null),
      `expected only together with a database.url that names no ${part}`,
    )
  }
  check(
    ['database.url', 'redis.url', 'redis.urls'],
    () => !hasRedis || database.url !== null,
    'must be set with redis.url or redis.urls: Redis holds codes and counters only',
  )
  check(
    ['redis.url', 'redis.urls'],
    () => redis.url === null || redis.urls.length === 0,
    'expected either redis.url or redis.urls',
  )
  check(
    ['redis.urls', 'redis.mode'],
    () => redis.mode === 'single' || redis.urls.length > 0,
    `must be set with redis.mode = "${redis.mode}"`,
  )
  check(
    ['redis.mode', 'redis.urls'],
    () => redis.mode !== 'single' || redis.urls.length === 0,
    'expected "sentinel" or "cluster" with redis.urls; one server is set by redis.url',
  )
  check(
    ['redis.master', 'redis.mode'],
    () => (redis.mode === 'sentinel') === (redis.master !== null),
    redis.master === null
      ? 'must be set with redis.mode = "sentinel"'
      : 'expected only with redis.mode = "sentinel"',
  )
  const refusal = () =>
    hasRedis ? refusalOfTogether({ ...redis, urls: redis.url === null ? redis.urls : [redis.url] }) : null
  check(
    [redis.url === null ? 'redis.urls' : 'redis.url', 'redis.mode'],
    () => refusal() === null,
    () => refusal()!,
  )
}

/** The secret that poterne makes is lost with the machine, and a backup that is sealed with it too. */
function checkBackup({ server, backup }: SchemaValues, check: Check): void {
  check(
    ['backup.at', 'backup.passphrase_file', 'server.secret'],
    () => backup.at === null || server.secret !== null || backup.passphraseFile !== null,
    'expected together with backup.passphrase_file or server.secret: the secret that poterne made is lost together with the machine',
  )
}

function checkSmtp(smtp: SchemaValues['smtp'], check: Check): void {
  if (smtp === null) return
  checkSmtpServer('smtp', smtp, check)
  for (const [index, server] of smtp.fallback.entries())
    checkSmtpServer(`smtp.fallback[${index}]`, server, check)
}

type SmtpServer = NonNullable<SchemaValues['smtp']>['fallback'][number]

function checkSmtpServer(path: string, { host, security, username, password }: SmtpServer, check: Check) {
  check(
    [`${path}.security`, `${path}.host`],
    () => security !== 'none' || isLoopbackHost(host),
    'expected "starttls" or "tls": "none" would send codes in clear to a host that is not loopback',
  )
  check(
    [`${path}.${username === null ? 'username' : 'password'}`, `${path}.username`, `${path}.password`],
    () => (username === null) === (password === null),
    `expected ${path}.username and ${path}.password together, or neither`,
  )
}

function checkPasswords({ accounts, codes }: SchemaValues, check: Check): void {
  check(
    ['accounts.password', 'codes.login'],
    () => accounts.password === 'required' || codes.login,
    'expected codes.login = true with it: people without a password sign in by codes alone',
  )
}

function checkOrder({ limits }: SchemaValues, check: Check): void {
  check(
    ['limits.login_refusal_maximum', 'limits.login_refusal'],
    () => limits.loginRefusalMaximumSeconds >= limits.loginRefusalSeconds,
    'expected at least limits.login_refusal',
  )
}

function checkNames(list: string, rows: { name: string }[], check: Check): void {
  for (const [index, { name }] of rows.entries()) {
    const first = rows.findIndex((row) => row.name === name)
    check(
      [`${list}[${index}].name`],
      () => first === index,
      `"${name}" is already the name of ${list}[${first}]`,
    )
  }
}

const MOST_WEBHOOKS = 10

function checkWebhooks(webhooks: SchemaValues['webhooks'], check: Check): void {
  checkNames('webhooks', webhooks, check)
  check(
    [`webhooks[${MOST_WEBHOOKS}].name`],
    () => webhooks.length <= MOST_WEBHOOKS,
    `expected at most ${MOST_WEBHOOKS} webhooks`,
  )
  for (const [index, { name, url, events }] of webhooks.entries()) {
    const path = `webhooks[${index}]`
    check([`${path}.name`], () => name !== 'admission', 'expected another name: [admission] is called so')
    check(
      [`${path}.url`],
      () => !isOpenToAll(url),
      'expected https: over http everybody on the way reads what happens to people',
    )
    check(
      [`${path}.events`],
      () => events.length > 0,
      'must be set: the types or kinds of docs/events.md to tell',
    )
  }
}

function checkTestIdentities(rows: SchemaValues['testIdentities'], check: Check): void {
  const identifiers = rows.map(({ identifier }) => identifier?.toLowerCase())
  for (const [index, identifier] of identifiers.entries())
    check(
      [`test_identities[${index}].identifier`],
      () => identifiers.indexOf(identifier) === index,
      'is already the identifier of another one',
    )
}

function checkGateway(path: string, gateway: Gateway, check: Check): void {
  const { url, method, format, body, headers, basicAuth, oauth, receipts, messageId } = gateway
  check(
    [`${path}.url`],
    () => !isOpenToAll(url),
    'expected https: over http everybody on the way reads the codes and the key of the gateway',
  )
  check(
    [`${path}.format`, `${path}.method`],
    () => method !== 'GET' || format === 'query',
    'expected "query" with method = "GET", which carries no body',
  )
  const names = () => namesInTemplate([body, url, headers])
  check(
    [`${path}.body`, `${path}.url`, `${path}.headers`],
    () => names().some((name) => name.startsWith('to')) && names().some((name) => /^(text|code)$/.test(name)),
    'expected a field with {to} and one with {text} or {code}',
  )
  const isFlat = () => Object.values(body).every((value) => typeof value !== 'object')
  check(
    [`${path}.body`, `${path}.format`],
    () => format === 'json' || isFlat(),
    'expected format = "json" with nested tables and arrays',
  )
  check(
    [`${path}.url`],
    () => hostWith(url, '1') === hostWith(url, '2'),
    'expected placeholders behind the host only',
  )
  const hasHeader = () => Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const ways = () => [basicAuth !== null, oauth !== null, hasHeader()].filter(Boolean).length
  check(
    [`${path}.${oauth === null ? 'basic_auth' : 'oauth'}`, `${path}.headers`],
    () => ways() <= 1,
    'expected only one of basic_auth, oauth and a header "authorization"',
  )
  check(
    [`${path}.oauth`],
    () => oauth === null || !isOpenToAll(oauth.token_url),
    'expected https: over http everybody on the way reads the credentials',
  )
  check(
    [`${path}.message_id`, `${path}.receipts`],
    () => receipts === null || messageId !== null,
    'expected a path with receipts, which refer to this id',
  )
}

/** The origin of a URL whose placeholders all hold this. */
function hostWith(url: string, value: string): string | undefined {
  return URL.parse(url.replace(/\{[^{}]*\}/g, value))?.origin
}

function checkProvider(path: string, provider: Provider, check: Check): void {
  const { preset, issuer, clientSecret, scopes } = provider
  check(
    [`${path}.preset`, `${path}.issuer`],
    () => (preset === null) !== (issuer === null),
    'expected either preset or issuer',
  )
  check(
    [`${path}.name`],
    () => provider.name !== 'local',
    'expected a name other than "local", which is the provider of accounts with a password',
  )
  const about = `${path}.preset`
  check(
    [`${path}.authoritative_for`, about],
    () => provider.authoritativeFor.length === 0 || issuer !== null,
    'expected only with issuer: presets know which addresses they answer for',
  )
  const apple = { team_id: provider.teamId, key_id: provider.keyId, private_key: provider.privateKey }
  for (const [key, value] of Object.entries(apple)) {
    const message =
      preset === 'apple' ? 'must be set with preset = "apple"' : 'expected only with preset = "apple"'
    check([`${path}.${key}`, about], () => (value !== null) === (preset === 'apple'), message)
  }
  check(
    [`${path}.client_secret`, about],
    () => preset !== 'apple' || clientSecret === null,
    'expected none with preset = "apple": it is made from team_id, key_id and private_key',
  )
  check(
    [`${path}.client_secret`, about],
    () => preset === null || preset === 'apple' || clientSecret !== null,
    `must be set with preset = "${preset}"`,
  )
  const isOpenId = preset === null || preset === 'google' || preset === 'microsoft'
  check(
    [`${path}.scopes`, about],
    () => !isOpenId || scopes.length === 0 || scopes.includes('openid'),
    'expected "openid" among them: without it the provider does not say who signed in',
  )
}

/** A site may use passkeys of its own domain and of those above it; other sites are related origins. */
function checkPasskeys(passkeys: SchemaValues['passkeys'], check: Check): void {
  const { rpId, origins, androidApps, iosApps, enrollUrl, manageUrl } = passkeys
  const hosts = () => origins.flatMap((origin) => (/^https?:/.test(origin) ? new URL(origin).hostname : []))
  check(
    ['passkeys.origins', 'passkeys.rp_id'],
    () =>
      rpId === null ||
      hosts().length === 0 ||
      hosts().some((host) => host === rpId || host.endsWith(`.${rpId}`)),
    `expected at least one site at or under passkeys.rp_id = "${rpId}": rp_id is mostly the domain of the site where people sign in (app.example.com), or the one above it (example.com), which all its sites share`,
  )
  check(
    [
      'passkeys.rp_id',
      'passkeys.origins',
      'passkeys.android_apps',
      'passkeys.ios_apps',
      'passkeys.enroll_url',
      'passkeys.manage_url',
    ],
    () =>
      rpId !== null ||
      (origins.length === 0 &&
        androidApps.length === 0 &&
        iosApps.length === 0 &&
        enrollUrl === null &&
        manageUrl === null),
    'must be set with the other keys of [passkeys]: mostly the domain of the site where people sign in (app.example.com), or the one above it (example.com), which all its sites share',
  )
}

/** The sites that use passkeys. */
export const sitesOf = ({ rpId, origins }: SchemaValues['passkeys']) =>
  origins.length > 0 || rpId === null ? origins : [`https://${rpId}`]
