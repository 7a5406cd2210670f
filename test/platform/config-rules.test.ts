/** The values that one key may have, and the messages about wrong ones: all of them at once, never a secret. */
import { afterAll, describe, expect, test } from 'bun:test'
import { builtInTags } from '../../src/texts/languages.ts'
import { createConfigDirectory, gateway, provider, smtp } from '../helpers/config.ts'

const directory = createConfigDirectory()
afterAll(directory.remove)

function problemsOf(toml: string, env: Record<string, string> = {}): string[] {
  directory.write('config.toml', toml)
  return directory.problemsOf({ env })
}

function configOf(toml: string) {
  directory.write('config.toml', toml)
  return directory.configOf()
}

const secret = 'ab'.repeat(32)

describe('unknown names', () => {
  test('get the nearest known one, without their value', () => {
    expect(
      problemsOf(
        '[server]\nprot = 1\n[srever]\nport = 2\n[smtp]\nhost = "h"\nfrom = "a@b.co"\npasword = "hunter2"',
      ),
    ).toEqual([
      'srever: unknown section; did you mean server?',
      'server.prot: unknown key; did you mean server.port?',
      'smtp.pasword: unknown key; did you mean smtp.password?',
    ])
  })

  test('of another section are sent there', () => {
    expect(problemsOf('[codes]\naccess_lifetime = "1m"')).toEqual([
      'codes.access_lifetime: unknown key; did you mean tokens.access_lifetime?',
    ])
    expect(problemsOf('pool_size = 4')).toEqual([
      'pool_size: unknown key outside every section; did you mean database.pool_size?',
    ])
  })

  test('that are like none get the names of their section instead of a guess', () => {
    expect(problemsOf('[smtp]\nhost = "h"\nfrom = "a@b.co"\ntls = "none"')).toEqual([
      expect.stringMatching(/^smtp\.tls: unknown key; smtp has ca_file, .*, security, .*username$/),
    ])
  })

  test('in gateways and providers get the nearest of theirs', () => {
    expect(
      problemsOf(
        `${gateway('timout = "1s"')}${provider('name = "g"\nissuer = "https://i.example.com"\nscope = []')}`,
      ),
    ).toEqual([
      'sms.gateways[0].timout: unknown key; did you mean sms.gateways[0].timeout?',
      'social.providers[0].scope: unknown key; did you mean social.providers[0].scopes?',
    ])
  })

  test('that every object has are as unknown as others', () => {
    expect(problemsOf('[constructor]\na = 1\n[server]\ntoString = 1')).toEqual([
      expect.stringContaining('constructor: unknown section'),
      expect.stringContaining('server.toString: unknown key'),
    ])
  })
})

describe('errors', () => {
  test('come all at once, each with key, value and what was expected', () => {
    const toml = `
[server]
port = 99999
base_url = "example.com"
language = "de"
[database]
url = "mysql://u:hunter2@h/db"
[redis]
url = "redis://localhost"
[codes]
lifetime = 600
attempts = 0
${smtp('security = "none"')}`
    expect(problemsOf(toml, { POTERNE_LIMITS_ENABLED: 'no' })).toEqual([
      'server.port = 99999: expected an integer from 0 to 65535',
      'server.base_url = "example.com": expected an http or https URL without path, query and slash at its end, such as "https://auth.example.com"',
      'database.url = "mysql://********@h/********": expected a URL that begins with postgres://',
      'codes.lifetime = 600: expected a duration from "1s" to "1h" with its unit (s, m, h, d), such as "10m"',
      'codes.attempts = 0: expected an integer from 1 to 100',
      'limits.enabled = "no": expected true or false (from POTERNE_LIMITS_ENABLED)',
      'smtp.security = "none": expected "starttls" or "tls": "none" would send codes in clear to a host that is not loopback',
      `server.language = "de": expected one of ${builtInTags.map((tag) => `"${tag}"`).join(', ')}, or a language with a file in texts.directory`,
    ])
  })

  test('never show a secret', () => {
    const toml = `
[server]
secret = "hunter2"
[database]
url = "postgres//u:hunter2@h"
[redis]
urls = ["http://u:hunter2@h/hunter2"]
${smtp('username = "u"\npassword = 2\nfrom = "x"')}
${gateway('url = "ftp://u:hunter2@h/hunter2?k=hunter2"\nheaders = { "a b" = "hunter2" }\nbody = { to = "{hunter2}" }')}
${provider('name = "apple"\npreset = "apple"\nclient_secret = "hunter2"\nteam_id = "t"\nkey_id = "k"\nprivate_key = "hunter2"')}`
    const problems = problemsOf(toml)
    expect(problems).toHaveLength(10)
    expect(problems.join('\n')).not.toContain('hunter2')
  })

  test.each([
    '9464',
    ':9464',
    '127.0.0.1',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '::1:9464',
    'http://h:1',
    'a b:1',
  ])('come for the listening address %p', (address) => {
    expect(problemsOf(`${smtp('')}\n[metrics]\nlisten = "${address}"`)).toEqual([
      `metrics.listen = "${address}": expected an address and a port such as "127.0.0.1:9464", or ""`,
    ])
  })

  test.each(['127.0.0.1:9464', '[::1]:9464', 'localhost:1', '0.0.0.0:65535', ''])(
    'do not come for the listening address %p',
    (address) => {
      expect(problemsOf(`${smtp('')}\n[metrics]\nlisten = "${address}"`)).toEqual([])
    },
  )

  test('of a section that is none name it once', () => {
    expect(problemsOf('smtp = 3\nserver = []\n[sms]\ngateways = { a = 1 }')).toEqual([
      'server: expected a section, [server]',
      'smtp: expected a section, [smtp]',
      'sms.gateways: expected tables that begin with [[sms.gateways]]',
    ])
  })

  test.each([
    ['https://Auth.Example.com', 'https://auth.example.com'],
    ['HTTPS://auth.example.com', 'https://auth.example.com'],
    ['https://auth.example.com:443', 'https://auth.example.com'],
    ['http://localhost:08080', 'http://localhost:8080'],
    ['https:auth.example.com', 'https://auth.example.com'],
    ['https:///auth.example.com', 'https://auth.example.com'],
    ['https://auth.exämple.com', 'https://auth.xn--exmple-cua.com'],
    ['https://auth。example。com', 'https://auth.example.com'],
    ['https://[2001:DB8::1]:8443', 'https://[2001:db8::1]:8443'],
  ])('of an address that clients would spell otherwise name the usual spelling: %s', (text, usual) => {
    const problem = (key: string) => `${key}: clients compare it letter for letter: write "${usual}"`
    expect(problemsOf(`[server]\nbase_url = "${text}"\ncors_origins = ["${text}"]`)).toEqual([
      problem('server.base_url'),
      problem('server.cors_origins').replace(': ', ': item 1: '),
    ])
  })

  test('of long values are cut', () => {
    const [problem] = problemsOf(`[server]\nbase_url = "${'x'.repeat(5000)}"`)
    expect(problem?.length).toBeLessThan(400)
  })
})

describe('single values', () => {
  const accepted: [string, string, string][] = [
    ['server', 'port', '0'],
    ['server', 'host', '"::1"'],
    ['server', 'host', '"auth-1.internal"'],
    ['server', 'base_url', '"https://auth.example.com:8443"'],
    ['server', 'trusted_proxies', '["10.0.0.0/8", "fd00::/8", "192.0.2.1"]'],
    ['server', 'cors_origins', '["https://app.example.com", "http://localhost:3000"]'],
    [
      'server',
      'cors_origins',
      '["capacitor://localhost", "ionic://localhost", "tauri://localhost", "chrome-extension://abc", "moz-extension://0b5f-1", "safari-web-extension://E0C3-A", "app://-", "http://tauri.localhost"]',
    ],
    ['redis', 'key_prefix', '""'],
    ['accounts', 'default_country', '"CI"'],
    ['sms', 'allowed_countries', '["*"]'],
    ['sms', 'daily_budget', '0'],
    ['codes', 'lifetime', '"90s"'],
    ['password', 'memory_kib', '8'],
    ['password', 'memory_kib', '1048576'],
    ['limits', 'hash_queue', '0'],
    [
      'social',
      'redirect_uris',
      '["https://a.example.com/x?y=1", "com.example.app:/in", "http://127.0.0.1:3000/"]',
    ],
  ]
  test.each(accepted)('[%s] %s = %s is accepted', (section, key, value) => {
    expect(problemsOf(`[${section}]\n${key} = ${value}`)).toEqual([])
  })

  const refused: [string, string, string][] = [
    ...[
      'https://*.example.com',
      '*',
      'null',
      'file://x',
      'data://x',
      'capacitor://',
      'capacitor:localhost',
    ].map((origin): [string, string, string] => ['server', 'cors_origins', `["${origin}"]`]),
    ...['https://app.example.com/', 'capacitor://localhost/', 'Capacitor://localhost', 'capacitor://*'].map(
      (origin): [string, string, string] => ['server', 'cors_origins', `["${origin}"]`],
    ),
    ['passkeys', 'origins', '["https://*.example.com"]'],
    ['social', 'redirect_uris', '["https://app.example.com/*"]'],
    ['server', 'port', '-1'],
    ['server', 'port', '65536'],
    ['server', 'port', '"8080"'],
    ['server', 'port', '80.5'],
    ['server', 'host', '""'],
    ['server', 'host', '"http://x"'],
    ['server', 'host', '"127.0.0.1:80"'],
    ['server', 'host', '"1.2.3"'],
    ['server', 'base_url', '"https://auth.example.com/"'],
    ['server', 'base_url', '"https://auth.example.com/a/"'],
    ['server', 'base_url', '"//auth.example.com"'],
    ['server', 'base_url', '"ftp://auth.example.com"'],
    ['server', 'base_url', '"https://u:p@auth.example.com"'],
    ['server', 'base_url', '"https://auth.example.com?a=1"'],
    ['server', 'base_url', '"https://auth.example.com/a"'],
    ['server', 'base_url', '"https://auth.example.com#a"'],
    ['server', 'trusted_proxies', '["0.0.0.0/0"]'],
    ['server', 'trusted_proxies', '["::/0"]'],
    ['server', 'trusted_proxies', '["::ffff:0:0/96"]'],
    ['codes', 'lifetime', '"61m"'],
    ['server', 'base_url', '"https://auth.example.com\\n"'],
    ['server', 'trusted_proxies', '["10.0.0.0/33"]'],
    ['server', 'trusted_proxies', '["010.0.0.1/8"]'],
    ['server', 'trusted_proxies', '["10/8"]'],
    ['server', 'trusted_proxies', '["proxy.internal"]'],
    ['server', 'trusted_proxies', '"10.0.0.0/8"'],
    ['server', 'trusted_proxies', '[10]'],
    ['server', 'cors_origins', '["*"]'],
    ['server', 'cors_origins', '["https://app.example.com/"]'],
    ['server', 'docs', '"true"'],
    ['server', 'docs', '1'],
    ['server', 'language', '"FR"'],
    ['storage', 'data_dir', '""'],
    ['storage', 'data_dir', '"a\\u0000b"'],
    ['database', 'pool_size', '0'],
    ['redis', 'key_prefix', '"{x}"'],
    ['redis', 'mode', '"Cluster"'],
    ['accounts', 'role_id', '2147483648'],
    ['accounts', 'default_country', '"fr"'],
    ['accounts', 'default_country', '"ZZ"'],
    ['accounts', 'default_country', '"FRA"'],
    ['sms', 'allowed_countries', '["FR", "XX"]'],
    ['sms', 'allowed_countries', '["*", "FR"]'],
    ['codes', 'lifetime', '"10"'],
    ['codes', 'lifetime', '"10 m"'],
    ['codes', 'lifetime', '"1.5h"'],
    ['codes', 'lifetime', '"500ms"'],
    ['codes', 'lifetime', '"0s"'],
    ['codes', 'lifetime', '"2d"'],
    ['codes', 'lifetime', '1979-05-27'],
    ['codes', 'attempts', '0'],
    ['codes', 'attempts_per_day', '0'],
    ['tokens', 'access_lifetime', '"99999999999999d"'],
    ['password', 'minimum_length', '7'],
    ['password', 'memory_kib', '7'],
    ['password', 'memory_kib', '1048577'],
    ['password', 'iterations', '0'],
    ['limits', 'codes_burst', '0'],
    ['limits', 'hash_concurrency', '-1'],
    ['social', 'redirect_uris', '["https://a.example.com/#x"]'],
    ['social', 'redirect_uris', '["http://a.example.com/"]'],
    ['social', 'redirect_uris', '["javascript:alert(1)"]'],
    ['social', 'redirect_uris', '["/signed-in"]'],
  ]
  test.each(refused)('[%s] %s = %s is refused', (section, key, value) => {
    expect(problemsOf(`[${section}]\n${key} = ${value}`)).toEqual([
      expect.stringMatching(new RegExp(`^${section}\\.${key} = .*: expected `)),
    ])
  })

  const application = (key: string) => (value: string) =>
    `[[pages.applications]]\nid = "web"\nname = "Web"\n${key.startsWith('redirect') ? '' : 'redirect_uris = ["https://a.example.com/"]\n'}${key} = ${value}`
  const inList = (line: (value: string) => string) => (value: string) => line(`[${value}]`)
  const addresses: Record<string, (value: string) => string> = {
    'pages.applications[0].redirect_uris': inList(application('redirect_uris')),
    'pages.applications[0].sign_out_uris': inList(application('sign_out_uris')),
    'pages.applications[0].backchannel_logout_uri': application('backchannel_logout_uri'),
    'social.redirect_uris': (value) => `[social]\nredirect_uris = [${value}]`,
    'social.providers[0].issuer': (value) => provider(`name = "g"\nissuer = ${value}`),
    'accounts.invitation_url': (value) => `[accounts]\ninvitation_url = ${value}`,
    'passkeys.manage_url': (value) => `[passkeys]\nmanage_url = ${value}`,
    'pages.home': (value) => `[pages]\nhome = ${value}`,
    'pages.return_to': (value) => `[pages]\nreturn_to = [${value}]`,
    'texts.logo_url': (value) => `[texts]\nlogo_url = ${value}`,
    'sms.gateways[0].url': (value) => gateway('').replace(/^url = .*$/m, () => `url = ${value}`),
    'webhooks[0].url': (value) => `[[webhooks]]\nname = "app"\nurl = ${value}`,
  }
  test.each(Object.entries(addresses))('%s takes no user, no password and no backslash', (key, line) => {
    const aboutIt = (value: string) =>
      problemsOf(line(JSON.stringify(value))).filter((problem) => problem.startsWith(key))
    for (const value of ['https://u:hunter2@h.example.com/', 'https://u@h.example.com/'])
      expect(aboutIt(value)).toEqual([
        expect.stringMatching(
          /: expected an address without a user or a password before "@"(: they go into basic_auth)?$/,
        ),
      ])
    expect(aboutIt('https:\\\\h.example.com/')).toEqual([
      expect.stringMatching(/: expected "\/" instead of "\\"$/),
    ])
    expect(aboutIt('https:h.example.com/')).toEqual([expect.stringContaining(': expected ')])
  })

  test('a single trusted address becomes the range that holds only it', () => {
    expect(
      configOf('[server]\ntrusted_proxies = ["192.0.2.1", "2001:db8::1", "10.0.0.0/8"]').server
        .trustedProxies,
    ).toEqual(['192.0.2.1/32', '2001:db8::1/128', '10.0.0.0/8'])
  })

  test.each([
    ['hex', secret],
    ['capital hex', secret.toUpperCase()],
    ['base64', Buffer.from(secret, 'hex').toString('base64')],
    ['base64url', Buffer.from(secret, 'hex').toString('base64url')],
  ])('a server secret in %s is read into its 32 bytes', (_, text) => {
    expect(configOf(`[server]\nsecret = "${text}"`).server.secret).toEqual(new Uint8Array(32).fill(0xab))
  })

  test.each(['short', 'ab'.repeat(31), 'ab'.repeat(33), 'zz'.repeat(32), `${'A'.repeat(42)}!=`])(
    'a server secret of another shape is refused: %s',
    (text) => {
      expect(problemsOf(`[server]\nsecret = "${text}"`)).toEqual([
        'server.secret = "********": expected 32 bytes in hex or base64, as `poterne secret` prints them',
      ])
    },
  )
})

describe('[[test_identities]]', () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const entry = (named: Record<string, unknown>) =>
    Object.entries({ identifier: 'review@example.com', code: '407915', until: day(30), ...named }).reduce(
      (toml, [key, value]) => `${toml}${key} = ${JSON.stringify(value)}\n`,
      '[[test_identities]]\n',
    )

  test('are read as they are written, also when their day is over', () => {
    const named = { identifier: 'review@example.com', code: '407915', until: day(-1) }
    expect(configOf(smtp('') + entry(named)).testIdentities).toEqual([named])
    expect(configOf(smtp('') + entry({ until: day(90) })).testIdentities).toHaveLength(1)
  })

  test.each(['111111', '123456', '654321', '901234', '121212', '123123', '112233', '12345', 'abcdef'])(
    'the code %s is refused, and not shown',
    (code) => {
      const [problem = '', ...others] = problemsOf(smtp('') + entry({ code }))
      expect(others).toEqual([])
      expect(problem).toStartWith('test_identities[0].code')
      expect(problem.split(':')[0]).not.toContain(code)
    },
  )

  test('need a day that exists and is near, and an identifier that is read in one way alone', () => {
    for (const until of [day(92), '2026-02-30', 'tomorrow', ''])
      expect(problemsOf(smtp('') + entry({ until }))[0]).toStartWith('test_identities[0].until')
    for (const identifier of ['0612345678', 'nobody', 'a@b@c'])
      expect(problemsOf(smtp('') + entry({ identifier }))[0]).toStartWith('test_identities[0].identifier')
    const twice = entry({}) + entry({ identifier: 'Review@example.com' })
    expect(problemsOf(smtp('') + twice)[0]).toContain('already the identifier of another one')
    expect(problemsOf(`${smtp('')}[test_identities]\ncode = "407915"`)[0]).toContain('[[test_identities]]')
    expect(problemsOf(smtp(''), { POTERNE_TEST_IDENTITIES_CODE: '407915' }).join()).toContain(
      'in the file only',
    )
  })
})

const hookSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`

test('[admission] is absent, or has what a webhook has to be called with', () => {
  expect(configOf(smtp('')).admission).toBeNull()
  const problems = (url: string) =>
    problemsOf(`${smtp('')}[admission]\nurl = "${url}"\nsecret = "${hookSecret(24)}"`)
  expect(problems('http://10.0.0.7/x')).toEqual([])
  expect(problems('http://app.example.org/')[0]).toStartWith('admission.url')
  expect(problemsOf(`${smtp('')}[admission]\nurl = "https://app.example.org/"`)).toHaveLength(1)
})

describe('[[webhooks]]', () => {
  const entry = (named: Record<string, unknown> = {}) =>
    Object.entries({
      ...{ name: 'app', url: 'https://app.example.org/hooks', secret: hookSecret(24), events: ['account.*'] },
      ...named,
    }).reduce((toml, [key, value]) => `${toml}${key} = ${JSON.stringify(value)}\n`, '[[webhooks]]\n')
  const firstProblem = (named: Record<string, unknown>) => problemsOf(smtp('') + entry(named))[0] ?? 'none'

  test('are read as they are written', () => {
    expect(configOf(smtp('') + entry()).webhooks).toEqual([
      {
        ...{
          name: 'app',
          url: 'https://app.example.org/hooks',
          secret: hookSecret(24),
          events: ['account.*'],
        },
        ...{ previousSecrets: [], accountState: false },
      },
    ])
  })

  test('go to a host of the own network without TLS, and to no public one', () => {
    for (const url of ['http://127.0.0.1:3000/hooks', 'http://app:3000/', 'http://10.0.0.7/x?key=1'])
      expect(firstProblem({ url })).toBe('none')
    for (const url of [
      'http://app.example.org/',
      'https://u:p@app.example.org/',
      'https://app.example.org/#a',
      'app',
    ])
      expect(firstProblem({ url })).toStartWith('webhooks[0].url')
  })

  test('sign with 24 to 64 bytes, which no problem shows', () => {
    for (const bytes of [24, 64]) expect(firstProblem({ secret: hookSecret(bytes) })).toBe('none')
    for (const secret of [hookSecret(23), hookSecret(65), hookSecret(24).slice(6), `${hookSecret(24)}!`]) {
      expect(firstProblem({ secret })).toStartWith('webhooks[0].secret')
      expect(firstProblem({ secret })).not.toContain(secret.slice(6))
      expect(firstProblem({ previous_secrets: [secret] })).toStartWith('webhooks[0].previous_secrets')
      expect(firstProblem({ previous_secrets: [secret] })).not.toContain(secret.slice(6))
    }
  })

  test('name types and kinds that are told, or the nearest one is named', () => {
    for (const name of ['session.ended', 'login.*', 'backup.*'])
      expect(firstProblem({ events: [name] })).toBe('none')
    expect(firstProblem({ events: ['account.confirmd'] })).toContain('did you mean "account.confirmed"?')
    expect(firstProblem({ events: ['acount.*'] })).toContain('did you mean "account.*"?')
    expect(firstProblem({ events: ['account'] })).toContain('there is no event "account"')
    expect(firstProblem({ events: ['login.failed'] })).toContain('is never sent')
    expect(firstProblem({ events: ['accounts.*'] })).toContain('is never sent')
    expect(firstProblem({ events: ['account.viewed'] })).toContain('is never sent')
    expect(firstProblem({ events: [] })).toStartWith('webhooks[0].events')
    expect(problemsOf(`${smtp('')}[[webhooks]]\nname = "app"`)).toHaveLength(3)
  })

  test('have names of their own, and are at most ten', () => {
    for (const name of ['App', '-app', 'admission', 'a'.repeat(33)])
      expect(firstProblem({ name })).toStartWith('webhooks[0].name')
    expect(problemsOf(smtp('') + entry() + entry())[0]).toContain('is already the name of webhooks[0]')
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => entry({ name: `app${index}` }))
    expect(problemsOf(smtp('') + many(10).join(''))).toEqual([])
    expect(problemsOf(smtp('') + many(11).join(''))[0]).toContain('at most 10')
  })
})
