/** The configuration comes from files, variables, files named by variables, and defaults. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { LoadOptions } from '../../src/platform/config/load.ts'
import { sections } from '../../src/platform/config/schema.ts'
import { reservedUsernames } from '../../src/platform/config/schema-people.ts'
import { configFileCandidates } from '../../src/platform/config/sources.ts'
import { type ConfigDirectory, createConfigDirectory } from '../helpers/config.ts'

let directory: ConfigDirectory
beforeEach(() => {
  directory = createConfigDirectory()
})
afterEach(() => directory.remove())

const write = (name: string, text: string | Uint8Array) => directory.write(name, text)
const configOf = (options?: Partial<LoadOptions>) => directory.configOf(options)
const problemsOf = (options?: Partial<LoadOptions>) => directory.problemsOf(options)

const smtp = '[smtp]\nhost = "smtp.example.com"\nfrom = "no-reply@example.com"\n'

describe('without anything set', () => {
  // config.example.toml and docs/configuration.md name every default, and are compared with the code by `bun run check`.
  test('durations are in the unit of their name, and what is not set is null, off or empty', () => {
    const { server, database, redis, accounts, codes, tokens, events, ...others } = configOf()
    expect(server).toMatchObject({ host: '127.0.0.1', baseUrl: 'http://127.0.0.1:8080', secret: null })
    expect(database).toEqual({ url: null, poolSize: 10, migrate: true })
    expect(redis).toEqual({ mode: 'single', urls: [], master: null, keyPrefix: 'poterne:' })
    expect(accounts.reservedUsernames).toEqual([...reservedUsernames])
    expect(codes).toEqual({ lifetimeSeconds: 600, attempts: 5, attemptsPerDay: 20, login: true })
    expect(tokens).toMatchObject({ accessLifetimeSeconds: 900, refreshLifetimeSeconds: 30 * 86_400 })
    expect(events).toEqual({ retentionSeconds: 180 * 86_400, addressRetentionSeconds: 30 * 86_400 })
    expect(others.password).toEqual({ minimumLength: 8, memoryKib: 19_456, iterations: 2 })
    expect(others).toMatchObject({ smtp: null, roles: {}, testIdentities: [], metrics: { listen: null } })
    expect(others.sms.gateways).toEqual([])
    expect([others.limits.enabled, others.pages.enabled, others.passkeys.rpId]).toEqual([true, false, null])
  })

  test('it refuses to start because no code could reach anybody', () => {
    expect(problemsOf({ mustDeliver: true })).toEqual([
      expect.stringContaining('neither [smtp] nor a [[sms.gateways]] is set, so no code could reach anybody'),
    ])
  })

  test('--dev starts', () => {
    expect(problemsOf({ mustDeliver: true, dev: true })).toEqual([])
  })
})

describe('with --dev', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'auth.example.com'])(
    'the host %s is refused by name',
    (host) => {
      const env = { POTERNE_SERVER_HOST: host }
      const [problem = ''] = problemsOf({ dev: true, env })
      expect(problem).toStartWith(`server.host = "${host}": --dev listens on this machine only`)
      expect(problem).toContain(`--dev-host ${host}`)
      // One in a file that production has as well is put aside.
      directory.write('config.toml', `[server]\nhost = "${host}"`)
      expect(configOf({ dev: true }).server.host).toBe('127.0.0.1')
      directory.write('config.toml', '')
      // The option says it again, and where administration listens.
      const { server, admin } = configOf({ dev: true, env, development: { host: '0.0.0.0' } })
      expect([server.host, admin.listen]).toEqual(['0.0.0.0', { host: '0.0.0.0', port: 0 }])
    },
  )

  test('--dev-host that is no address is refused', () => {
    expect(problemsOf({ dev: true, development: { host: 'http://x' } })).toEqual([
      '--dev-host = "http://x": expected an address of this machine such as 0.0.0.0',
    ])
  })

  test('the service is known as localhost, and speaks English, unless the configuration says otherwise', () => {
    const { server, tokens, passkeys } = configOf({ dev: true })
    expect(server).toMatchObject({ host: '127.0.0.1', baseUrl: 'http://localhost:8080', language: 'en' })
    expect([tokens.audience, passkeys.origins]).toEqual([server.baseUrl, [server.baseUrl]])
    expect(configOf({ dev: true, development: { host: '0.0.0.0' } }).server.baseUrl).toBe(server.baseUrl)
    const env = { POTERNE_SERVER_LANGUAGE: 'fr', POTERNE_SERVER_BASE_URL: 'http://auth.internal:1' }
    expect(configOf({ dev: true, env }).server).toMatchObject({
      baseUrl: 'http://auth.internal:1',
      language: 'fr',
    })
  })

  test('--fast hashes as cheaply as the configuration allows, and lifts limits', () => {
    const { password, limits } = configOf({ dev: true, development: { fast: true } })
    expect(password).toMatchObject({ memoryKib: 8, iterations: 1 })
    expect(limits.enabled).toBe(false)
    const cheaper = { POTERNE_PASSWORD_MEMORY_KIB: '7', POTERNE_PASSWORD_ITERATIONS: '0' }
    expect(problemsOf({ dev: true, env: cheaper })).toHaveLength(2)
  })

  test('passkeys may be used on the pages that may call the service', () => {
    const page = 'http://localhost:5173'
    const passkeysOf = (own: string) => {
      directory.write('config.toml', `[server]\ncors_origins = ["${page}"]\n${own}`)
      return [true, false].map((dev) => configOf({ dev }).passkeys.origins)
    }
    expect(passkeysOf('')).toEqual([['http://localhost:8080', page], []])
    const site = 'https://example.com'
    expect(passkeysOf('[passkeys]\nrp_id = "example.com"')).toEqual([[site, page], [site]])
    directory.write('config.toml', '')
  })

  test.each(['127.0.0.1', '127.8.9.1', '::1', 'localhost'])('the loopback host %s stays', (host) => {
    expect(configOf({ dev: true, env: { POTERNE_SERVER_HOST: host } }).server.host).toBe(host)
  })
})

describe('the base URL', () => {
  test.each([
    ['0.0.0.0', 'http://localhost:8080'],
    ['::', 'http://localhost:8080'],
    ['::1', 'http://[::1]:8080'],
    ['10.0.0.1', 'http://10.0.0.1:8080'],
  ])('of host %s is %s where none is set', (host, baseUrl) => {
    const config = configOf({ env: { POTERNE_SERVER_HOST: host } })
    expect(config.server.baseUrl).toBe(baseUrl)
    expect(config.tokens.audience).toBe(baseUrl)
  })

  test('is the audience of tokens unless that is set', () => {
    const env = { POTERNE_SERVER_BASE_URL: 'https://auth.example.com' }
    expect(configOf({ env }).tokens.audience).toBe('https://auth.example.com')
    expect(configOf({ env: { ...env, POTERNE_TOKENS_AUDIENCE: 'api' } }).tokens.audience).toBe('api')
  })
})

describe('the file', () => {
  test('is sought as --config, $POTERNE_CONFIG, ./config.toml, /etc/poterne/config.toml', () => {
    const paths = (named: string | undefined, env: Record<string, string>) =>
      configFileCandidates(named, env).map(({ path }) => path)
    expect(paths('a.toml', { POTERNE_CONFIG: 'b.toml' })).toEqual(['a.toml'])
    expect(paths(undefined, { POTERNE_CONFIG: 'b.toml' })).toEqual(['b.toml'])
    expect(paths(undefined, {})).toEqual(['config.toml', '/etc/poterne/config.toml'])
  })

  test('of the directory is read, and the others win over it in their order', () => {
    write('config.toml', '[server]\nport = 1001')
    write('b.toml', '[server]\nport = 1002')
    write('c.toml', '[server]\nport = 1003')
    const env = { POTERNE_CONFIG: 'b.toml' }
    expect(configOf().server.port).toBe(1001)
    expect(configOf({ env }).server.port).toBe(1002)
    expect(configOf({ env, configFile: 'c.toml' }).server.port).toBe(1003)
  })

  test('that was named must be there', () => {
    expect(problemsOf({ configFile: 'none.toml' })).toEqual([
      `${directory.path}/none.toml: there is no such file or directory`,
    ])
    expect(problemsOf({ env: { POTERNE_CONFIG: '/nowhere/x.toml' } })).toEqual([
      '/nowhere/x.toml: there is no such file or directory',
    ])
  })

  test('that is a directory or not UTF-8 is refused', () => {
    expect(problemsOf({ configFile: '.' })).toEqual([`${directory.path}: the file cannot be read (EISDIR)`])
    write('config.toml', new Uint8Array([0x5b, 0xff, 0x5d]))
    expect(problemsOf()).toEqual([`${directory.path}/config.toml: the file is not UTF-8`])
  })

  test('that is not TOML is refused with line and reason, and without quoting the line', () => {
    write('config.toml', '[smtp]\npassword = "hunter2" x\n')
    const [problem] = problemsOf()
    expect(problem).toContain('config.toml: line 2, column')
    expect(problem).toContain('not valid TOML')
    expect(problem).not.toContain('hunter2')
  })
})

describe('environment variables', () => {
  test('win over the file, of every kind', () => {
    write(
      'config.toml',
      `[server]\nport = 1\ndocs = true\ncors_origins = []\n[codes]\nlifetime = "1m"\n${smtp}`,
    )
    const config = configOf({
      env: {
        POTERNE_SERVER_PORT: '9000',
        POTERNE_SERVER_DOCS: 'false',
        POTERNE_SERVER_CORS_ORIGINS: 'https://a.example.com, https://b.example.com:8443',
        POTERNE_CODES_LIFETIME: '5m',
        POTERNE_SMTP_SECURITY: 'tls',
        POTERNE_LIMITS_CODES_INTERVAL: '2m',
      },
    })
    expect(config.server.port).toBe(9000)
    expect(config.server.docs).toBe(false)
    expect(config.server.corsOrigins).toEqual(['https://a.example.com', 'https://b.example.com:8443'])
    expect(config.codes.lifetimeSeconds).toBe(300)
    expect(config.smtp?.security).toBe('tls')
    expect(config.limits.codesIntervalSeconds).toBe(120)
  })

  test('reach every key of every section', () => {
    const names = Object.entries(sections).flatMap(([section, { keys }]) =>
      Object.entries(keys).map(([key, rule]) => [`POTERNE_${section}_${key}`.toUpperCase(), rule] as const),
    )
    expect(names.length).toBeGreaterThan(50)
    for (const [name, rule] of names) {
      const problems = problemsOf({ env: { [name]: '\u0000' } })
      expect(problems.join('\n'), name).toContain(`(from ${name})`)
      expect(problems.join('\n'), name).toContain(rule.expected)
    }
  })

  test('that are empty unset what may be left out without harm, and nothing else', () => {
    write('config.toml', `${smtp}username = "ada"\npassword = "hidden words"\nreply_to = "b@example.com"\n`)
    const env = { POTERNE_SMTP_USERNAME: '', POTERNE_SMTP_PASSWORD: '', POTERNE_SMTP_REPLY_TO: '' }
    expect(configOf({ env }).smtp).toMatchObject({ username: null, password: null, replyTo: null })
    expect(problemsOf({ env: { POTERNE_SMTP_PASSWORD: '' } }).join()).toContain('smtp.password')
    for (const name of ['POTERNE_DATABASE_URL', 'POTERNE_REDIS_URL', 'POTERNE_SERVER_SECRET'])
      expect(problemsOf({ env: { [name]: '' } }).join(), name).toContain(`(from ${name})`)
    write('config.toml', '')
    expect(configOf({ env, dev: true }).smtp).toBeNull()
  })

  test('that are empty are an empty list where a list is wanted', () => {
    write('config.toml', '[server]\ncors_origins = ["https://a.example.com"]')
    expect(configOf({ env: { POTERNE_SERVER_CORS_ORIGINS: '' } }).server.corsOrigins).toEqual([])
  })

  test('alone make the section [smtp], which then must be whole', () => {
    const env = { POTERNE_SMTP_HOST: 'smtp.example.com', POTERNE_SMTP_FROM: 'a@example.com' }
    expect(configOf({ env }).smtp).toEqual({
      host: 'smtp.example.com',
      port: 587,
      security: 'starttls',
      username: null,
      password: null,
      from: 'a@example.com',
      replyTo: null,
      dkimSelector: null,
      caFile: null,
      strangersPerHour: 5000,
      fallback: [],
    })
    expect(problemsOf({ env: { POTERNE_SMTP_HOST: 'smtp.example.com' } })).toEqual([
      expect.stringContaining('smtp.from: must be set'),
    ])
  })

  test('that are empty are not the same as unset: a lost database URL is an error, not the embedded database', () => {
    expect(problemsOf({ env: { POTERNE_DATABASE_URL: '' } })).toEqual([
      expect.stringContaining('database.url = "********": expected a URL that begins with postgres://'),
    ])
  })

  test.each([
    ['POTERNE_SERVER_PORT', '80a'],
    ['POTERNE_SERVER_PORT', '0x50'],
    ['POTERNE_SERVER_PORT', ' 80'],
    ['POTERNE_SERVER_PORT', ''],
    ['POTERNE_SERVER_DOCS', 'yes'],
    ['POTERNE_SERVER_DOCS', 'TRUE'],
  ])('of numbers and booleans are read strictly: %s=%s', (name, value) => {
    expect(problemsOf({ env: { [name]: value } })).toEqual([
      expect.stringMatching(
        /^server\.(port|docs) = ".*": expected (an integer from 0 to 65535|true or false) \(from /,
      ),
    ])
  })

  test('that nobody reads are refused with the nearest known one', () => {
    expect(problemsOf({ env: { POTERNE_SERVER_PROT: '1', POTERNE_SREVER_HOST: 'x' } })).toEqual([
      'POTERNE_SERVER_PROT: unknown environment variable; did you mean POTERNE_SERVER_PORT?',
      'POTERNE_SREVER_HOST: unknown environment variable; did you mean POTERNE_SERVER_HOST?',
    ])
    expect(problemsOf({ env: { POTERNE_SMS_GATEWAYS_0_URL: 'x' } })).toEqual([
      'POTERNE_SMS_GATEWAYS_0_URL: unknown environment variable; [[sms.gateways]] stands in the file only',
    ])
  })

  test('are refused whatever they name: POTERNE_PORT lacks its section', () => {
    const env = { POTERNE_PORT: '9000', POTERNE_LOG: 'debug', POTERNE_VERBOSE: '1' }
    expect(problemsOf({ env })).toEqual([
      'POTERNE_PORT: unknown environment variable; did you mean POTERNE_SERVER_PORT or POTERNE_SMTP_PORT?',
      'POTERNE_LOG: unknown environment variable',
      'POTERNE_VERBOSE: unknown environment variable',
    ])
  })

  test('of others pass: of Kubernetes and Docker services, and those the file names', () => {
    write('config.toml', `[accounts]\naccountable_type = "\${POTERNE_ACCOUNTS_KIND}"`)
    const env = {
      POTERNE_SERVICE_HOST: '10.0.0.1',
      POTERNE_PORT: 'tcp://10.0.0.1:80',
      POTERNE_REDIS_SERVICE_HOST: '10.0.0.2',
      POTERNE_REDIS_SERVICE_PORT: '6379',
      POTERNE_REDIS_PORT: 'tcp://10.0.0.2:6379',
      POTERNE_REDIS_PORT_6379_TCP_ADDR: '10.0.0.2',
      POTERNE_ACCOUNTS_KIND: 'Customer',
    }
    expect(configOf({ env }).accounts.accountableType).toBe('Customer')
  })
})

describe('variables ending in _FILE', () => {
  test('name a file that holds the value, line ends at its end cut off', () => {
    const path = write('role', '42\r\n')
    expect(configOf({ env: { POTERNE_ACCOUNTS_ROLE_ID_FILE: path } }).accounts.roleId).toBe(42)
    const secret = write('secret', `${'ab'.repeat(32)}\n`)
    expect(configOf({ env: { POTERNE_SERVER_SECRET_FILE: secret } }).server.secret).toHaveLength(32)
  })

  test('beside the plain variable are an error that shows neither', () => {
    const env = { POTERNE_SERVER_SECRET: 'hunter2', POTERNE_SERVER_SECRET_FILE: '/run/hunter3' }
    expect(problemsOf({ env })).toEqual([
      'server.secret: POTERNE_SERVER_SECRET and POTERNE_SERVER_SECRET_FILE are both set; expected one of them',
    ])
  })

  test('of an unreadable file are an error that does not show what was taken for its name', () => {
    expect(problemsOf({ env: { POTERNE_SERVER_SECRET_FILE: 'hunter2' } })).toEqual([
      'server.secret: the file that POTERNE_SERVER_SECRET_FILE names cannot be read (ENOENT)',
    ])
  })
})

describe('a variable in a text of the file', () => {
  const gateway = `[[sms.gateways]]
name = "acme"
url = "https://\${HOST}/send"
headers = { authorization = "Bearer \${TOKEN}", other = "$\${TOKEN}" }
body = { to = "{to}", text = "{text}", key = "\${KEY}\${HOST}" }
prefixes = ["+\${COUNTRY}"]
`

  test('is replaced, also in lists and in the tables of a gateway, and $$ keeps it as it stands', () => {
    write('config.toml', gateway)
    const env = { HOST: 'sms.example.com', TOKEN: `t\${HOST}`, COUNTRY: '33', KEY: 'k-' }
    expect(configOf({ env }).sms.gateways).toEqual([
      {
        name: 'acme',
        url: 'https://sms.example.com/send',
        method: 'POST',
        headers: { authorization: `Bearer t\${HOST}`, other: `\${TOKEN}` },
        format: 'json',
        body: { to: '{to}', text: '{text}', key: 'k-sms.example.com' },
        channel: 'sms',
        basicAuth: null,
        oauth: null,
        success: null,
        retry: null,
        messageId: null,
        receipts: null,
        prefixes: ['+33'],
        timeoutMs: 5000,
      },
    ])
  })

  test('that is not set is an error, each named once', () => {
    write('config.toml', gateway)
    expect(problemsOf({ env: { COUNTRY: '33', TOKEN: 't' } })).toEqual([
      'sms.gateways[0].url: the environment variable HOST is not set',
      'sms.gateways[0].body: the environment variable KEY is not set; the environment variable HOST is not set',
    ])
  })

  test.each(['{', '{}', '{B C}', '{1}'])('written as $%s is an error', (text) => {
    write('config.toml', `[accounts]\naccountable_type = "a$${text}"`)
    expect(problemsOf()).toEqual([
      expect.stringContaining(
        `accounts.accountable_type: expected \${NAME} with the name of an environment variable`,
      ),
    ])
  })

  test('does not matter where the environment sets the key', () => {
    write('config.toml', `[accounts]\naccountable_type = "\${NOPE}"`)
    expect(configOf({ env: { POTERNE_ACCOUNTS_ACCOUNTABLE_TYPE: 'B' } }).accounts.accountableType).toBe('B')
  })
})
