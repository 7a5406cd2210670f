/** The values of a configuration that are refused because they are unsafe, and those that it is warned of. */
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { openLocation } from '../../src/operations/upgrade/release-index.ts'
import { configExample } from '../../src/platform/config/example.ts'
import { isPublicHost } from '../../src/platform/config/formats.ts'
import { loadConfig } from '../../src/platform/config/load.ts'
import { describeProblem } from '../../src/platform/config/report.ts'
import { serviceName } from '../../src/platform/config/service-name.ts'
import { createConfigDirectory, gateway, smtp } from '../helpers/config.ts'

const directory = createConfigDirectory()
afterAll(directory.remove)

const named = { POTERNE_SERVER_BASE_URL: 'https://auth.acme.test' }

function load(toml: string, dev = false, env: Record<string, string> = dev ? {} : named) {
  directory.write('config.toml', toml)
  const loaded = loadConfig({ env, directory: directory.path, dev })
  return {
    problems: loaded.ok ? [] : loaded.problems.map(describeProblem),
    warnings: loaded.ok ? loaded.warnings.map(({ key }) => key) : null,
  }
}

const delivery = `${smtp('')}${gateway('')}`

test.each([
  ['127.0.0.1', false],
  ['::1', false],
  ['10.1.2.3', false],
  ['192.168.0.9', false],
  ['172.31.0.1', false],
  ['169.254.1.1', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['[fd00::1]', false],
  ['::ffff:10.0.0.1', false],
  ['localhost', false],
  ['gateway', false],
  ['printer.local', false],
  ['db.internal', false],
  ['db.INTERNAL.', false],
  ['nas.lan', false],
  ['nas.home.arpa', false],
  ['203.0.113.7', true],
  ['172.32.0.1', true],
  ['2001:db8::1', true],
  ['::ffff:203.0.113.7', true],
  ['auth.example.com', true],
  ['auth.example.test', true],
  ['evil-local', false],
  ['evillocal.com', true],
  ['internal.example.com', true],
])('whether %s is a public host: %p', (host, expected) => {
  expect(isPublicHost(host)).toBe(expected)
})

test('a passphrase of backups that other users can read is warned of', () => {
  const file = directory.write('passphrase', 'a passphrase of some length\n')
  const toml = `[backup]\npassphrase_file = "${file}"\n${delivery}`
  const warningsWith = (mode: number) => {
    chmodSync(file, mode)
    return load(toml).warnings
  }
  expect([0o644, 0o640, 0o600].map(warningsWith)).toEqual([['backup.passphrase_file'], [], []])
})

test('a command after backups that cannot be run, or never is, is warned of', () => {
  const file = directory.write('command', '#!/bin/sh\n')
  const warningsOf = (program: string, at = 'at = "03:30"') =>
    load(`[backup]\npassphrase_file = "/nowhere"\n${at}\nafter = ["${program}", "{file}"]\n${delivery}`)
      .warnings
  chmodSync(file, 0o644)
  for (const program of [file, directory.path, '/nowhere/rclone', `${file}/rclone`])
    expect(warningsOf(program)).toEqual(['backup.after'])
  chmodSync(file, 0o755)
  expect(warningsOf(file)).toEqual([])
  expect(warningsOf(file, '')).toEqual(['backup.after'])
})

describe('http to a public host is refused', () => {
  test('as the address of the service', () => {
    const { problems } = load(`[server]\nbase_url = "http://auth.example.com"\n${delivery}`, false, {})
    expect(problems).toEqual([
      'server.base_url = "http://auth.example.com": expected https: over http everybody on the way reads passwords and tokens',
    ])
    expect(load(`[server]\nbase_url = "http://auth.internal:8080"\n${delivery}`).problems).toEqual([])
  })

  test('as an address that only follows from server.host', () => {
    const host = (address: string) => `[server]\nhost = "${address}"\n${delivery}`
    for (const [address, derived] of [
      ['203.0.113.7', 'http://203.0.113.7:8080'],
      ['2001:db8::1', 'http://[2001:db8::1]:8080'],
    ] as const) {
      expect(load(host(address), false, {}).problems).toEqual([
        expect.stringMatching(/^server\.base_url: must be set with this server\.host: it would be /),
      ])
      expect(load(host(address), false, {}).problems[0]).toContain(derived)
      expect(load(host(address), true).problems).toEqual([])
    }
    for (const address of ['0.0.0.0', '::', '127.0.0.1', '10.0.0.9'])
      expect(load(host(address), false, {}).problems).toEqual([])
    const set = `[server]\nbase_url = "https://a.example"\nhost = "203.0.113.7"\n${delivery}`
    expect(load(set).problems).toEqual([])
  })

  test('as a gateway', () => {
    const { problems } = load(gateway('url = "http://sms.example.com/send"'))
    expect(problems).toEqual([
      expect.stringMatching(/^sms\.gateways\[0\]\.url = .*: expected https: over http/),
    ])
    expect(load(gateway('url = "http://10.0.0.9/send"')).problems).toEqual([])
  })

  test('as the index of releases, in the words of `poterne upgrade`', async () => {
    const problemsOf = (index: string) => load(`[upgrade]\nindex = "${index}"\n${delivery}`).problems
    const refused = 'expected https, http on loopback, or a file'
    for (const index of ['http://releases.example.com/index.json', 'http://10.0.0.9/index.json']) {
      expect(problemsOf(index)).toEqual([`upgrade.index = "${index}": ${refused}`])
      await expect(openLocation(index).next()).rejects.toThrow(`${index}: ${refused}`)
    }
    for (const index of ['https://a.example/index', 'http://127.0.0.1/i', 'file:///mnt/i', 'mnt/i', '/i'])
      expect(problemsOf(index)).toEqual([])
  })
})

describe('a configuration is warned of', () => {
  test('nothing where it is safe', () => {
    expect(load(delivery)).toEqual({ problems: [], warnings: [] })
  })

  test.each([
    [19_455, 2, true],
    [19_456, 2, false],
    [19_456, 1, true],
    [12_288, 3, false],
    [12_287, 3, true],
    [9216, 4, false],
    [9215, 4, true],
    [7168, 5, false],
    [7167, 50, true],
    [1_048_576, 1, true],
  ])('a hash of %p KiB and %p passes: %p', (memory, passes, expected) => {
    const { warnings } = load(`[password]\nmemory_kib = ${memory}\niterations = ${passes}\n${delivery}`)
    expect(warnings).toEqual(expected ? ['password.memory_kib'] : [])
  })

  test.each([
    ['postgres://u@db.acme.test/x', true],
    ['postgres://u@db.acme.test/x?sslmode=require', true],
    ['postgres://u@db.acme.test/x?sslmode=verify-full', false],
    ['postgres://u@db.internal/x', false],
    ['postgres://u@10.0.0.5/x', false],
    ['postgres://u@/x?host=/run/postgresql', false],
    ['postgres://u@%2Frun%2Fpg.example/x', false],
  ])('PostgreSQL at %s: %p', (url, expected) => {
    const toml = `[server]\nsecret = "${'ab'.repeat(32)}"\n[database]\nurl = "${url}"\n${delivery}`
    expect(load(toml).warnings).toEqual(expected ? ['database.url'] : [])
  })

  test.each([
    ['redis://redis.acme.test', true],
    ['rediss://redis.acme.test', false],
    ['redis://redis.internal', false],
  ])('Redis at %s: %p', (url, expected) => {
    const stores = `[database]\nurl = "postgres://u@localhost/x"\n[redis]\nurl = "${url}"`
    const toml = `[server]\nsecret = "${'ab'.repeat(32)}"\n${stores}\n${delivery}`
    expect(load(toml).warnings).toEqual(expected ? ['redis.url'] : [])
  })

  test('an address of the service that names this machine, except with --dev', () => {
    expect(load(delivery, false, {}).warnings).toEqual(['server.base_url'])
    expect(load(delivery, true).warnings).toEqual([])
  })

  test('a kind of identifier that nothing reaches, except with --dev', () => {
    expect(load(smtp('')).warnings).toEqual(['sms.gateways'])
    expect(load(gateway('')).warnings).toEqual(['smtp'])
    expect(load(smtp(''), true).warnings).toEqual([])
  })

  test('each name that is left over from the example, once, except with --dev', () => {
    const left = `[smtp]\nhost = "smtp.example.com"\nfrom = "Poterne <no-reply@example.com>"\n`
    const more = gateway('url = "https://sms.EXAMPLE.org/send"\nheaders = { a = "https://x.example.net." }')
    const keys = ['smtp.host', 'smtp.from', 'sms.gateways[0].url', 'sms.gateways[0].headers']
    expect(load(left + more).warnings).toEqual(keys)
    expect(load(left + more, true).warnings).toEqual([])
    const own = gateway(
      'url = "https://not-example.com/"\nheaders = { a = "com.example.app, example.com.fr" }',
    )
    expect(load(smtp('') + own).warnings).toEqual([])
    directory.write('config.toml', left)
    const loaded = loadConfig({ env: named, directory: directory.path })
    const shown = loaded.ok ? loaded.warnings.map(describeProblem) : []
    expect(shown).toContain(
      'smtp.host = "smtp.example.com": is left over from the example: put a name of your own in its place',
    )
  })

  test('the example of the configuration, unedited: what has to be put in', () => {
    expect(load(configExample(), false, {}).warnings).toEqual([
      ...['server.base_url', 'sms.gateways', 'smtp.host', 'smtp.from'],
    ])
  })

  describe('of applications that the pages hand over to', () => {
    const application = (uri: string, more = '') =>
      `[pages]\n${more}[[pages.applications]]\nid = "web"\nname = "Web"\nredirect_uris = ["${uri}"]\n${delivery}`
    const here = 'http://localhost:5173/in'
    const cors = (origin: string) => `[server]\ncors_origins = ["${origin}"]\n`

    test('an origin that may not call the service from the browser, and with --dev one of this machine too', () => {
      const far = application('https://app.acme.test/in', 'enabled = true\n')
      expect(load(far).warnings).toEqual(['server.cors_origins'])
      expect(load(cors('https://app.acme.test') + far).warnings).toEqual([])
      expect(load(application('https://app.acme.test/in'), true).warnings).toEqual(['server.cors_origins'])
      expect(load(application(here), true).warnings).toEqual(['server.cors_origins'])
      expect(load(cors('http://localhost:5173') + application(here), true).warnings).toEqual([])
      const native = application('http://127.0.0.1/in', 'enabled = true\n')
      expect(load(native).warnings).toEqual([])
    })

    test('an origin that may call the service, though the program there is somebody else’s', () => {
      const others = (more: string) =>
        application('https://grafana.acme.test/in', 'enabled = true\n').replace(
          delivery,
          `${more}${delivery}`,
        )
      const grafana = others('own = false\ngroups = ["staff"]\n')
      expect(load(grafana).warnings).toEqual([])
      expect(load(cors('https://grafana.acme.test') + grafana).warnings).toEqual(['server.cors_origins'])
      const secret = `own = true\nsecret_sha256 = ["${'ab'.repeat(32)}"]\n`
      expect(load(others(secret)).warnings).toEqual([])
      expect(load(cors('https://grafana.acme.test') + others(secret)).warnings).toEqual([])
    })

    test('the pages, where they are off', () => {
      expect(load(application('https://app.acme.test/in')).warnings).toEqual(['pages.enabled'])
    })
  })
})

test('one name and one colour are enough for pages and messages, and two names that differ are warned of', () => {
  const read = (toml: string) => {
    directory.write('config.toml', toml)
    const loaded = loadConfig({ env: {}, directory: directory.path, dev: true })
    if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'))
    return loaded
  }
  const coloursOf = (toml: string) => {
    const { pages, texts } = read(toml).config
    return [pages.colour || texts.colour, texts.colour]
  }
  expect(coloursOf('[pages]\ncolour = "#ffe14d"')).toEqual(['#ffe14d', '#ffe14d'])
  expect(coloursOf('[texts]\ncolour = "#9ff0c8"')).toEqual(['#9ff0c8', '#9ff0c8'])
  expect(coloursOf('[pages]\ncolour = "#ffe14d"\n[texts]\ncolour = "#9ff0c8"')).toEqual([
    '#ffe14d',
    '#9ff0c8',
  ])
  expect(coloursOf('')).toEqual(['#0f5f6b', '#0f5f6b'])
  const namesOf = (toml: string) => {
    const { config, warnings } = read(toml)
    return [serviceName(config), config.pages.name || serviceName(config), warnings.map(({ key }) => key)]
  }
  expect(namesOf('[pages]\nname = "Pages"')).toEqual(['Pages', 'Pages', []])
  expect(namesOf('[texts]\nservice_name = "Texts"')).toEqual(['Texts', 'Texts', []])
  expect(namesOf('[pages]\nname = "One"\n[texts]\nservice_name = "One"')).toEqual(['One', 'One', []])
  expect(namesOf('[pages]\nname = "Pages"\n[texts]\nservice_name = "Texts"')).toEqual([
    'Texts',
    'Pages',
    ['pages.name'],
  ])
})
