/** The rules for several keys together: stores, SMTP, gateways, lifetimes, providers. */
import { afterAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { createConfigDirectory, gateway, provider, smtp } from '../helpers/config.ts'

const directory = createConfigDirectory()
afterAll(directory.remove)

function problemsOf(toml: string): string[] {
  directory.write('config.toml', toml)
  return directory.problemsOf()
}

function configOf(toml: string) {
  directory.write('config.toml', toml)
  return directory.configOf()
}

test('--dev is refused with a configuration for the public', () => {
  const why =
    'this is a configuration for the public, and --dev shows every code: leave out --dev, or this key'
  directory.write(
    'config.toml',
    '[server]\nbase_url = "https://auth.example.com"\ntrusted_proxies = ["127.0.0.1", "10.0.0.0/8"]',
  )
  expect(directory.problemsOf({ dev: true })).toEqual([
    `server.base_url: ${why}`,
    `server.trusted_proxies: ${why}`,
  ])
  expect(directory.problemsOf()).toEqual([])
  for (const block of ['127.0.0.0/7', '::/1', '::ffff:128.0.0.0/97', '0.0.0.0/1', '::1/127']) {
    directory.write('config.toml', `[server]\ntrusted_proxies = ["${block}"]`)
    expect([block, directory.problemsOf({ dev: true })]).toEqual([block, [`server.trusted_proxies: ${why}`]])
  }
  // A server of the same machine says for whom it asks.
  const loopback = 'trusted_proxies = ["127.0.0.1", "127.0.0.0/8", "::1"]'
  directory.write('config.toml', `[server]\nbase_url = "http://localhost:9000"\n${loopback}`)
  expect(directory.problemsOf({ dev: true })).toEqual([])
})

const database = `[server]
secret = "${'ab'.repeat(32)}"
[database]
url = "postgres://u:p@localhost/db"
`

describe('the user and the password of the database', () => {
  const server = `[server]\nsecret = "${'ab'.repeat(32)}"\n[database]\n`
  const password = "/?#[]@:% é'"

  test('may hold any sign beside the URL, or where a variable holds the password', () => {
    directory.write('config.toml', `${server}url = "postgres://h:5432/db?sslmode=require"\nuser = "a b"`)
    const { url } = directory.configOf({ env: { POTERNE_DATABASE_PASSWORD: password } }).database
    const { username, password: written, host, pathname, search } = new URL(url!)
    expect([username, written].map(decodeURIComponent)).toEqual(['a b', password])
    expect([host, pathname, search]).toEqual(['h:5432', '/db', '?sslmode=require'])
    const socket = configOf(`${server}url = "postgres:///db?host=/run/p"\nuser = "u"\npassword = "p@"`)
    expect(socket.database.url).toBe('postgres://u:p%40@/db?host=/run/p')
    const half = configOf(`${server}url = "postgres://u%20v@h/db"\npassword = "p"`)
    expect(half.database.url).toBe('postgres://u%20v:p@h/db')
  })

  test('are refused twice, and without a URL', () => {
    const twice = 'expected only together with a database.url that names no'
    expect(problemsOf(`${database}user = "u"\npassword = "hunter2"`)).toEqual([
      `database.user = "u": ${twice} user`,
      `database.password = "********": ${twice} password`,
    ])
    expect(problemsOf('[database]\nuser = "u"')).toEqual([`database.user = "u": ${twice} user`])
  })

  const cannot =
    'which a URL cannot hold as it is: set database.user and database.password beside database.url'
  test.each([
    ['u:hunter/2@h/db', 'the sign /', '%2F'],
    ['u:12/34@h/db', 'the sign /', '%2F'],
    ['u:hunter?2@h/db', 'the sign ?', '%3F'],
    ['u:12?34@h/db', 'the sign ?', '%3F'],
    ['u:hunter#2@h/db', 'the sign #', '%23'],
    ['u:hunter%2@h/db', 'the sign %', '%25'],
    ['u:hunter%ff@h/db', 'the sign %', '%25'],
    ['u:hunter@2@h/db', 'the sign @', '%40'],
    ['u:hunter 2@h/db', 'a blank', '%20'],
  ])('name the sign that does not fit into postgres://%s', (rest, sign, encoded) => {
    expect(problemsOf(`${server}url = "postgres://${rest}"`)).toEqual([
      `database.url: it holds ${sign}, ${cannot}, or write ${encoded} instead of it`,
    ])
  })

  test.each(['h:port/db', 'u:p@/x:1@/db'])('never show the rest of postgres://%s', (rest) => {
    const [problem] = problemsOf(`${server}url = "postgres://${rest}"`)
    expect(problem).toStartWith('database.url: it')
    expect(problem).not.toContain(rest)
  })

  test.each([
    'u:p@a:1,b:2/db',
    'u:p%2F%40@h/db',
    'h/db?options=a@b',
    '/db?host=/run/postgresql',
    'u@%2Frun%2Fpostgresql/db',
    'u:p@[::1]:5432/db',
    'u@/db?host=/run/p',
  ])('leave postgres://%s alone', (rest) => {
    expect(configOf(`${server}url = "postgres://${rest}"`).database.url).toBe(`postgres://${rest}`)
  })
})

describe('the stores', () => {
  test('Redis without PostgreSQL is refused, by url and by urls', () => {
    const message =
      'database.url: must be set with redis.url or redis.urls: Redis holds codes and counters only'
    expect(problemsOf('[redis]\nurl = "redis://localhost"')).toEqual([message])
    expect(problemsOf('[redis]\nmode = "cluster"\nurls = ["redis://localhost"]')).toEqual([message])
  })

  test('PostgreSQL without server.secret is refused', () => {
    expect(problemsOf('[database]\nurl = "postgres://localhost/db"')).toEqual([
      expect.stringContaining('server.secret: must be set with database.url'),
    ])
  })

  test('scheduled backups under the secret that poterne makes are refused, with another secret or a passphrase they are not', () => {
    const backup = '[backup]\nat = "03:30"\n'
    expect(problemsOf(backup)).toEqual([
      'backup.at = "03:30": expected together with backup.passphrase_file or server.secret: the secret that poterne made is lost together with the machine',
    ])
    expect(problemsOf(`${backup}directory = ""`)).not.toEqual([])
    expect(problemsOf('[backup]\nat = "3:30"')).toEqual([expect.stringContaining('backup.at')])
    expect(configOf(`${backup}passphrase_file = "/etc/p"`).backup).toEqual({
      ...{ at: '03:30', directory: './backups', keep: 7, passphraseFile: '/etc/p', after: null },
    })
    expect(configOf(`${database}${backup}`).backup.at).toBe('03:30')
  })

  test('a command after backups has its whole path and takes the file', () => {
    const problems = (after: string) =>
      problemsOf(`[backup]\npassphrase_file = "/p"\nat = "03:30"\nafter = ${after}`)
    expect(problems('[]')).toEqual(['backup.after: is empty: name a command, or leave the key out'])
    expect(problems('["rclone", "copy", "{file}"]')).toEqual([
      'backup.after: expected the whole path of the command, since no shell looks for it',
    ])
    for (const after of ['["/bin/true"]', '["/bin/{file}", "copy"]', '["/bin/true", "{files}"]'])
      expect(problems(after)).toEqual(['backup.after: expected {file} in one of the arguments'])
    for (const after of ['"/bin/true {file}"', '["/bin/true", 5, "{file}"]', '[["/bin/true", "{file}"]]'])
      expect(problems(after)).toEqual([expect.stringContaining('expected a list of texts: a command')])
    expect(problems('["/bin/true", "--from={file}"]')).toEqual([])
    const inEnvironment = (text: string) => directory.problemsOf({ env: { POTERNE_BACKUP_AFTER: text } })
    directory.write('config.toml', `${database}[backup]\nat = "03:30"`)
    expect(inEnvironment('/bin/true, {file}')).toEqual([])
    expect(inEnvironment('')).toEqual(['backup.after: is empty: name a command, or leave the key out'])
  })

  test('PostgreSQL with one Redis is accepted, the one url being the only one of urls', () => {
    expect(configOf(`${database}[redis]\nurl = "rediss://u:p@localhost:6379/2"`).redis).toEqual({
      mode: 'single',
      urls: ['rediss://u:p@localhost:6379/2'],
      master: null,
      keyPrefix: 'poterne:',
    })
  })

  test('sentinel needs urls and master, and takes them', () => {
    expect(problemsOf(`${database}[redis]\nmode = "sentinel"`)).toEqual([
      'redis.urls: must be set with redis.mode = "sentinel"',
      'redis.master: must be set with redis.mode = "sentinel"',
    ])
    const urls = 'urls = ["redis://a:26379", "redis://b:26379"]'
    expect(configOf(`${database}[redis]\nmode = "sentinel"\nmaster = "m"\n${urls}`).redis.urls).toHaveLength(
      2,
    )
  })

  test('cluster needs urls and no master', () => {
    expect(problemsOf(`${database}[redis]\nmode = "cluster"`)).toEqual([
      'redis.urls: must be set with redis.mode = "cluster"',
    ])
    expect(problemsOf(`${database}[redis]\nmode = "cluster"\nurls = ["redis://a"]\nmaster = "m"`)).toEqual([
      'redis.master = "m": expected only with redis.mode = "sentinel"',
    ])
    expect(configOf(`${database}[redis]\nmode = "cluster"\nurls = ["redis://a"]`).redis.mode).toBe('cluster')
  })

  test('urls without a mode, and url beside urls, are refused', () => {
    expect(problemsOf(`${database}[redis]\nurls = ["redis://a"]`)).toEqual([
      'redis.mode: expected "sentinel" or "cluster" with redis.urls; one server is set by redis.url',
    ])
    expect(
      problemsOf(`${database}[redis]\nmode = "cluster"\nurl = "redis://a"\nurls = ["redis://a"]`),
    ).toEqual(['redis.url = "redis://a": expected either redis.url or redis.urls'])
  })
})

describe('[smtp]', () => {
  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('may go without encryption to %s', (host) => {
    expect(problemsOf(smtp(`host = "${host}"\nsecurity = "none"`))).toEqual([])
  })

  test.each(['smtp.example.com', '10.0.0.1', '::', 'localhost.example.com'])(
    'may not go without encryption to %s',
    (host) => {
      expect(problemsOf(smtp(`host = "${host}"\nsecurity = "none"`))).toEqual([
        expect.stringContaining('smtp.security = "none": expected "starttls" or "tls"'),
      ])
    },
  )

  test('wants user name and password together', () => {
    const message = 'expected smtp.username and smtp.password together, or neither'
    expect(problemsOf(smtp('username = "u"'))).toEqual([`smtp.password: ${message}`])
    expect(problemsOf(smtp('password = "p"'))).toEqual([`smtp.username: ${message}`])
    expect(problemsOf(smtp('username = "u"\npassword = "p"'))).toEqual([])
  })

  test.each([
    'a@example.com',
    'Poterne <a@example.com>',
    '"Poterne, the gate" <a@example.com>',
    'a@localhost',
    'é <a@bücher.example>',
  ])('sends from %s', (from) => {
    expect(problemsOf(smtp(`from = '${from}'`))).toEqual([])
  })

  test.each([
    'a',
    'a@',
    '@b',
    'a@b@c',
    'a@example.com, b@example.com',
    'A <a@example.com',
    'A <a@x.co>\\r\\nBcc: b@x.co',
    'a@x.co\\n',
    '<a@x.co> <b@x.co>',
  ])('does not send from %s', (from) => {
    expect(problemsOf(smtp(`from = "${from}"`))).toEqual([expect.stringContaining('expected one mailbox')])
  })
})

describe('[[sms.gateways]]', () => {
  test('want names of their own', () => {
    expect(problemsOf(gateway('') + gateway('', 'b') + gateway(''))).toEqual([
      'sms.gateways[2].name = "acme": "acme" is already the name of sms.gateways[0]',
    ])
  })

  test.each([
    ['url = "sms.example.com"', 'url'],
    ['url = "ftp://sms.example.com"', 'url'],
    ['name = "A b"', 'name'],
    ['body = { to = "{to}", text = "{txt}" }', 'body'],
    ['body = { to = "{to}", text = "{{}}" }', 'body'],
    ['body = { to = "{to}" }', 'body'],
    ['body = { text = "{text}" }', 'body'],
    ['body = {}', 'body'],
    ['body = { to = 1 }', 'body'],
    ['method = "GET"', 'format'],
    ['method = "post"', 'method'],
    ['format = "xml"', 'format'],
    ['headers = { "a b" = "c" }', 'headers'],
    ['headers = { a = "b\\r\\nc: d" }', 'headers'],
    ['prefixes = ["33"]', 'prefixes'],
    ['timeout = "5"', 'timeout'],
    ['timeout = "2m"', 'timeout'],
    ['channel = "fax"', 'channel'],
    ['url = "https://{to}.example.com/"', 'url'],
    ['format = "form"\nbody = { to = ["{to}"], text = "{text}" }', 'body'],
    ['success = { path = "a" }', 'success'],
    ['success = { path = "a", equals = "0", exists = true }', 'success'],
    ['success = { path = "a", equal = "0" }', 'success'],
    ['success = { equals = "0" }', 'success'],
    ['basic_auth = { username = "u" }', 'basic_auth'],
    ['basic_auth = { username = "u", password = "p" }\nheaders = { Authorization = "x" }', 'basic_auth'],
    ['oauth = { token_url = "a", client_id = "i", client_secret = "s" }', 'oauth'],
    [
      'receipts = { secret = "0123456789abcdef", message_id = "i", status = "s", delivered = ["d"] }',
      'message_id',
    ],
    [
      'message_id = "i"\nreceipts = { secret = "short", message_id = "i", status = "s", delivered = ["d"] }',
      'receipts',
    ],
  ])('are refused with %s', (line, key) => {
    expect(problemsOf(gateway(line))).toEqual([
      expect.stringMatching(new RegExp(`^sms\\.gateways\\[0\\]\\.${key}( = .*)?: .*expected `)),
    ])
  })

  test.each([
    ['url = "https://sms.example.com/{phone}"', 'url', '{phone}'],
    ['headers = { "x-to" = "{recipient}" }', 'headers', '{recipient}'],
    ['body = { to = "{to}", a = [{ b = "{text}{name}" }], key = "hunter" }', 'body', '{name}'],
  ])('name an unknown placeholder: %s', (line, key, name) => {
    const problems = problemsOf(gateway(line)).join('\n')
    expect(problems).toStartWith(
      `sms.gateways[0].${key}: unknown placeholder ${name}; expected one of {to}, `,
    )
    expect(problems).not.toContain('hunter')
  })

  test.each([
    'method = "GET"\nformat = "query"',
    'body = { n = "{to}", code = "{code}", sender = "Poterne" }',
    'body = { to = "tel:{to}", text = "{text} {code}" }',
    'timeout = "500ms"',
    'body = { messages = [{ to = [{ id = "{to_digits}" }], body = { text = "{text}", priority = 1, flash = false } }] }',
    'url = "https://sms.example.com/{to}"\nbody = { text = "{text}", at = "{{x}" }',
    'headers = { authorization = "Basic a{B}{1}" }',
    'basic_auth = { username = "u", password = "p" }',
    'oauth = { token_url = "https://a.example.com/token", client_id = "i", client_secret = "s" }',
    'success = { path = "a.0.b", equals = 0 }\nretry = { path = "a.0.b", in = ["1", 5] }\nmessage_id = "a.0.id"',
    'message_id = "id"\nreceipts = { secret = "0123456789abcdef", message_id = "id", status = "s", delivered = ["ok"] }',
    'channel = "voice"',
  ])('are accepted with %s', (lines) => {
    expect(problemsOf(gateway(lines))).toEqual([])
  })
})

describe('times', () => {
  test('of a refused login stand in their order', () => {
    expect(problemsOf('[limits]\nlogin_refusal = "2h"')).toEqual([
      'limits.login_refusal_maximum: expected at least limits.login_refusal',
    ])
  })

  test('of a session are each set alone: the shortest ends it', () => {
    for (const line of [
      'refresh_lifetime = "5s"',
      'refresh_lifetime = "120d"',
      'refresh_absolute_lifetime = "5s"',
    ])
      expect(problemsOf(`[tokens]\n${line}`)).toEqual([])
  })
})

describe('[[social.providers]]', () => {
  const key = (type: 'P-256' | 'P-384' | 'rsa') => {
    const { privateKey } =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: type })
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }
  const apple = (pem: string) =>
    provider(`name = "apple"\npreset = "apple"\nteam_id = "T"\nkey_id = "K"\nprivate_key = """${pem}"""`)

  test('take a preset with its secret, an issuer without one, and Apple with its three keys', () => {
    const toml = `${provider('name = "google"\npreset = "google"\nclient_secret = "s"\nscopes = ["openid", "email"]')}
${provider('name = "own"\nissuer = "https://login.example.com/realm"\nenabled = false')}
${apple(key('P-256'))}`
    const { providers } = configOf(toml).social
    expect(providers.map(({ name }) => name)).toEqual(['google', 'own', 'apple'])
    expect(providers[1]).toEqual({
      name: 'own',
      preset: null,
      issuer: 'https://login.example.com/realm',
      clientId: 'id',
      clientSecret: null,
      scopes: [],
      nativeClientIds: [],
      authoritativeFor: [],
      enabled: false,
      teamId: null,
      keyId: null,
      privateKey: null,
    })
  })

  const cases: [string, string, string][] = [
    ['neither preset nor issuer', 'name = "x"', 'preset: expected either preset or issuer'],
    [
      'both',
      'name = "x"\npreset = "google"\nclient_secret = "s"\nissuer = "https://i.example.com"',
      'preset = "google": expected either preset or issuer',
    ],
    [
      'an unknown preset',
      'name = "x"\npreset = "twitter"',
      'preset = "twitter": expected one of "google", "apple", "github", "microsoft", "facebook"',
    ],
    [
      'an issuer in clear',
      'name = "x"\nissuer = "http://i.example.com"',
      'issuer = "http://i.example.com": expected an https URL (http on loopback) without query and fragment',
    ],
    ['no secret', 'name = "x"\npreset = "github"', 'client_secret: must be set with preset = "github"'],
    [
      'the key of Apple elsewhere',
      'name = "x"\npreset = "github"\nclient_secret = "s"\nkey_id = "K"',
      'key_id = "K": expected only with preset = "apple"',
    ],
    [
      'scopes that say nobody',
      'name = "x"\nissuer = "https://i.example.com"\nscopes = ["email"]',
      'scopes = ["email"]: expected "openid" among them: without it the provider does not say who signed in',
    ],
    [
      'addresses that a preset is to answer for',
      'name = "x"\npreset = "google"\nclient_secret = "s"\nauthoritative_for = ["example.com"]',
      'authoritative_for = ["example.com"]: expected only with issuer: presets know which addresses they answer for',
    ],
    [
      'an address that is no domain',
      'name = "x"\nissuer = "https://i.example.com"\nauthoritative_for = ["@Example.com"]',
      'authoritative_for = "@Example.com": expected a list in which each item is a domain in lower case, such as "example.com", or "*"',
    ],
    [
      'the name of local accounts',
      'name = "local"\nissuer = "https://i.example.com"',
      'name = "local": expected a name other than "local", which is the provider of accounts with a password',
    ],
  ]
  test.each(cases)('are refused with %s', (_, lines, message) => {
    expect(problemsOf(provider(lines))).toEqual([`social.providers[0].${message}`])
  })

  test('want all three keys with Apple, and no client secret', () => {
    expect(problemsOf(provider('name = "apple"\npreset = "apple"\nclient_secret = "hunter2"'))).toEqual([
      'social.providers[0].team_id: must be set with preset = "apple"',
      'social.providers[0].key_id: must be set with preset = "apple"',
      'social.providers[0].private_key: must be set with preset = "apple"',
      'social.providers[0].client_secret = "********": expected none with preset = "apple": it is made from team_id, key_id and private_key',
    ])
  })

  test.each(['rsa', 'P-384'] as const)('want the curve that Apple uses, not %s', (type) => {
    expect(problemsOf(apple(key(type)))).toEqual([
      'social.providers[0].private_key = "********": expected an elliptic-curve private key (P-256) in PEM',
    ])
  })

  test('want names of their own', () => {
    const one = provider('name = "x"\nissuer = "https://i.example.com"')
    expect(problemsOf(one + one)).toEqual([
      'social.providers[1].name = "x": "x" is already the name of social.providers[0]',
    ])
  })
})

describe('passkeys', () => {
  const withOrigins = (rpId: string, ...origins: string[]) =>
    `[passkeys]\nrp_id = "${rpId}"\norigins = ${JSON.stringify(origins)}`

  test('need a site at or under the relying party; others beside it are related origins', () => {
    expect(problemsOf(withOrigins('auth.example.com', 'https://app.example.com'))).toEqual([
      expect.stringMatching(
        /^passkeys\.origins.*expected at least one site at or under passkeys\.rp_id = "auth/s,
      ),
    ])
    expect(problemsOf(withOrigins('example.com', 'https://notexample.com'))).toHaveLength(1)
    expect(problemsOf(withOrigins('example.com', 'https://example.com:8443'))).toEqual([])
    expect(problemsOf(withOrigins('example.com', 'https://app.example.com', 'https://example.org'))).toEqual(
      [],
    )
    const android = `android:apk-key-hash:${'A'.repeat(43)}`
    expect(problemsOf(withOrigins('example.com', android))).toEqual([])
  })

  test('are off without a relying party, and the refusal names the two usual ones', () => {
    const [problem, ...others] = problemsOf('[passkeys]\norigins = ["https://app.example.com"]')
    expect(others).toEqual([])
    expect(problem).toContain(
      'the domain of the site where people sign in (app.example.com), or the one above it',
    )
  })
})

describe('the listener of administration', () => {
  test('is off unless it is set, and on loopback unless a proxy with TLS stands before it', () => {
    expect(configOf(smtp('')).admin).toEqual({ socket: null, listen: null, baseUrl: null, notify: '' })
    for (const listen of ['127.0.0.1:8081', '[::1]:8081', 'localhost:8081'])
      expect(problemsOf(`${smtp('')}\n[admin]\nlisten = "${listen}"`)).toEqual([])
    const open = `${smtp('')}\n[admin]\nlisten = "0.0.0.0:8081"\n`
    expect(problemsOf(open)).toEqual([
      expect.stringContaining('admin.listen = "0.0.0.0:8081": expected a loopback address'),
    ])
    expect(configOf(`${open}base_url = "https://admin.example.com"`).admin).toEqual({
      socket: null,
      listen: { host: '0.0.0.0', port: 8081 },
      baseUrl: 'https://admin.example.com',
      notify: '',
    })
  })

  test.each(['8081', '127.0.0.1', '127.0.0.1:0', '::1:8081', 'a b:80'])('does not listen at %s', (listen) => {
    expect(problemsOf(`${smtp('')}\n[admin]\nlisten = "${listen}"`)).toEqual([
      expect.stringContaining('expected an address and a port'),
    ])
  })

  test.each(['http://admin.example.com', 'https://admin.example.com/', 'admin.example.com'])(
    'is not reached at %s',
    (url) => {
      expect(problemsOf(`${smtp('')}\n[admin]\nbase_url = "${url}"`)).toEqual([
        expect.stringContaining('expected an https origin'),
      ])
    },
  )
})
