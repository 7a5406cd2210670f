/** The command line as users meet it, in a directory of its own: by a process, or by what the process calls. */
import { afterAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { commands } from '../../src/operations/commands/commands.ts'
import { CommandFailure } from '../../src/operations/commands/failure.ts'
import { run } from '../../src/operations/commands/run.ts'
import { loginName } from '../../src/operations/commands/service-call.ts'
import { configExample } from '../../src/platform/config/example.ts'
import { poterneCommand, runPoterne } from '../helpers/executable.ts'
import { runHere } from '../helpers/run-here.ts'

setDefaultTimeout(20_000)

const directory = mkdtempSync(join(tmpdir(), 'poterne-commands-'))
afterAll(() => rmSync(directory, { recursive: true }))

const poterne = (args: string[], env: Record<string, string> = {}) => runPoterne(args, { directory, env })
const here = (args: string[], env: Record<string, string> = {}) => runHere(args, env, directory)

const smtp = { POTERNE_SMTP_HOST: 'smtp.example.com', POTERNE_SMTP_FROM: 'a@example.com' }

describe('the command line', () => {
  test('prints its version', async () => {
    const { out, ...rest } = await poterne(['version'])
    expect(rest).toEqual({ error: '', code: 0 })
    expect((await poterne(['--version'])).out).toBe(out)
    const { commit, built_at, ...version } = JSON.parse((await poterne(['version', '--json'])).out)
    expect(version).toEqual({ version: manifest.version, bun: Bun.version })
    expect(out).toBe(`poterne ${manifest.version} (${commit})\n`)
    // The sources were not built.
    expect(built_at === null).toBe(poterneCommand().length > 1)
  })

  test('prints its commands on --help', async () => {
    const { out, code } = await poterne(['--help'])
    expect(code).toBe(0)
    for (const command of ['config', 'secret', 'version']) expect(out).toContain(`  ${command} `)
  })

  test('prints a fresh secret each time, which the configuration takes', async () => {
    const [first, second] = await Promise.all([here(['secret']), here(['secret'])])
    expect(first.out).toMatch(/^[\da-f]{64}\n$/)
    expect(first.out).not.toBe(second.out)
    const check = await here(['config', 'check'], { ...smtp, POTERNE_SERVER_SECRET: first.out.trim() })
    expect(check.code).toBe(0)
  })

  test.each([
    [['confg'], "unknown command 'confg'", 'Did you mean config?'],
    [['config', 'chek'], "unknown command 'chek'", 'Did you mean check?'],
    [['config', 'show', '--jsno'], "unknown option '--jsno'", 'Did you mean --json?'],
    [['config', 'check', '--config'], "option '--config <file>' argument missing", ''],
    [['version', 'now'], 'too many arguments', ''],
  ])('answers %p with exit code 2 and the nearest known word', async (args, message, hint) => {
    const { out, error, code } = await here(args)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(error).toContain(message)
    expect(error).toContain(hint)
  })

  test('ends in silence where nobody reads what it prints', async () => {
    const program = poterneCommand()
      .map((part) => `"${part}"`)
      .join(' ')
    const line = `{ sleep 0.2; ${program} config example; echo $? >&2; } | true`
    const child = Bun.spawn(['sh', '-c', line], { stderr: 'pipe' })
    expect(await new Response(child.stderr).text()).toBe('0\n')
  })

  test('shows its help with exit code 2 where no command is given', async () => {
    for (const args of [[], ['config']]) {
      const { error, code } = await here(args)
      expect(code).toBe(2)
      expect(error).toContain('Usage: poterne')
    }
  })
})

test.each([
  [['tokens', 'create', '--expires', '2y'], '--expires must be a duration from 1m to 365d, such as 12h'],
  [['tokens', 'create', '--address', '10.0.0.0/33'], '--address must be an address or a block such as'],
  [['tokens', 'create', '--address', '10.0.0.1', 'here'], '--address must be an address or a block such as'],
  [['invitations', 'create', '--expires', '366d'], '--expires must be a duration from 1m to 365d'],
  [['invitations', 'create', '--uses', '0'], '--uses must be a whole number from 1 to 1000000'],
  [['invitations', 'create', '--domain', 'a b'], '--domain must be a domain such as example.com'],
  [
    ['invitations', 'create', '--email', 'a@b.example', '--email', 'a@b@c'],
    '--email must be an e-mail address',
  ],
  [['accounts', 'show', 'ada@'], '<account> must be an e-mail address, a phone number or a uuid'],
  [['sessions', 'end', 'zz'], '<account> must be an e-mail address, a phone number or a uuid'],
  [['admins', 'remove', '+12'], '<account> must be an e-mail address, a phone number or a uuid'],
  [['accounts', 'unlock', 'Ada'], '<account> must be an e-mail address, a phone number or a uuid'],
  [['events', 'list', '--account', 'ada'], '--account must be an e-mail address, a phone number or a uuid'],
  [['messages', 'list', '--account', 'ada'], '--account must be an e-mail address, a phone number or a uuid'],
  [['limits', 'lift', 'zz'], '<identifier> must be an e-mail address, a phone number or a uuid'],
  [['events', 'list', '--since', 'yesterday'], '--since must be a time such as 2026-07-01'],
  [['events', 'list', '--until', '2026-02-30'], '--until must be a time such as 2026-07-01'],
  [
    ['events', 'list', '--actor-type', 'robot'],
    '--actor-type must be account, administrator, token, operator',
  ],
  [['events', 'follow', '--after', 'x'], '--after must be a whole number from 0'],
  [['messages', 'list', '--since', 'monday'], '--since must be a time such as 2026-07-01'],
  [['accounts', 'create', '--email', 'nope'], '--email must be an e-mail address such as ada@example.com'],
  [['accounts', 'create', '--phone', 'nope'], '--phone must be a phone number such as +33612345678'],
  [['accounts', 'create', '--phone', '+1'], '--phone must be a phone number such as +33612345678'],
  [
    ['accounts', 'invite', 'ada@example.com', '--lifetime', '31d'],
    '--lifetime must be a duration from 1m to 30d',
  ],
  [
    ['accounts', 'access-code', 'ada@example.com', '--lifetime', '2d'],
    '--lifetime must be a duration from 1m to 24h',
  ],
  [['accounts', 'access-code', 'ada@example.com', '--send', 'fax'], '--send must be email or sms'],
  [['upgrade', '--to', 'newest'], '--to must be a version such as 1.2.3'],
])('%p is refused with exit code 2 and what is taken, before anything is asked', async (args, expected) => {
  const write = spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const code = await run(commands, args)
    const printed = write.mock.calls.map(([text]) => String(text)).join('')
    expect([code, printed]).toEqual([2, expect.stringContaining(expected)])
    expect(printed.trimEnd()).toEndWith(`, not ${args.at(-1)}`)
  } finally {
    write.mockRestore()
  }
})

describe('a command that fails', () => {
  async function runFailing(error: Error) {
    const command = new Command('fail').action(() => {
      throw error
    })
    const write = spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      return {
        code: await run({ fail: async () => command }, ['fail']),
        printed: write.mock.calls.map(([text]) => text).join(''),
      }
    } finally {
      write.mockRestore()
    }
  }

  test('says why, with the exit code it chose', async () => {
    expect(await runFailing(new CommandFailure(1, 'no'))).toEqual({ code: 1, printed: 'no\n' })
    expect(await runFailing(new CommandFailure(2, ''))).toEqual({ code: 2, printed: '' })
  })

  test('in a way nobody foresaw says only the innermost cause, with exit code 1', async () => {
    const error = new Error('Failed query: … params: hunter2', { cause: new Error('connection refused') })
    expect(await runFailing(error)).toEqual({ code: 1, printed: 'poterne failed: connection refused\n' })
  })
})

describe('config check', () => {
  test('says that a valid configuration is valid, and which file it was', async () => {
    writeFileSync(join(directory, 'ok.toml'), '[server]\nport = 1')
    const { out, code } = await here(['config', 'check', '--config', 'ok.toml'], smtp)
    expect(code).toBe(0)
    expect(out).toContain('The configuration is valid')
    expect(out).toContain('ok.toml')
  })

  test('prints every error to stderr with exit code 2', async () => {
    const env = { ...smtp, POTERNE_SERVER_PORT: 'x', POTERNE_SERVER_SECRET: 'hunter2' }
    const { out, error, code } = await here(['config', 'check'], env)
    expect({ out, code }).toEqual({ out: '', code: 2 })
    expect(error).toBe(`2 errors in the configuration (no file):
  server.port = "x": expected an integer from 0 to 65535 (from POTERNE_SERVER_PORT)
  server.secret = "********": expected 32 bytes in hex or base64, as \`poterne secret\` prints them (from POTERNE_SERVER_SECRET)
`)
  })

  test('prints errors for programs with --json', async () => {
    const { out, error, code } = await here(['config', 'check', '--json'], {
      ...smtp,
      POTERNE_SERVER_PORT: 'x',
    })
    expect({ error, code }).toEqual({ error: '', code: 2 })
    expect(JSON.parse(out)).toEqual({
      valid: false,
      file: null,
      errors: [
        {
          key: 'server.port',
          value: '"x"',
          message: 'expected an integer from 0 to 65535 (from POTERNE_SERVER_PORT)',
        },
      ],
    })
  })

  test('wants a way to deliver, except with --dev', async () => {
    const without = await here(['config', 'check'])
    expect(without.code).toBe(2)
    expect(without.error).toContain('neither [smtp] nor a [[sms.gateways]] is set')
    expect((await here(['config', 'check', '--dev'])).code).toBe(0)
  })
})

describe('config show', () => {
  const toml = `[server]
base_url = "https://auth.example.com"
[database]
url = "postgres://poterne:hunter2@db.example.com/poterne?password=hunter2"
[smtp]
host = "smtp.example.com"
from = "a@example.com"
username = "u"
password = "hunter2"
[[sms.gateways]]
name = "acme"
url = "https://sms.example.com/hunter2"
headers = { authorization = "hunter2" }
body = { to = "{to}", text = "{text}", key = "hunter2" }
`
  const args = ['config', 'show', '--config', 'show.toml']
  const env = { POTERNE_SERVER_PORT: '9000', POTERNE_SERVER_SECRET: 'ab'.repeat(32) }

  test('prints the values that hold, masked, and where each comes from', async () => {
    writeFileSync(join(directory, 'show.toml'), toml)
    const { out, code } = await here(args, env)
    expect(code).toBe(0)
    expect(out).not.toContain('hunter2')
    expect(out).not.toContain('abab')
    for (const line of [
      /^host = "127\.0\.0\.1" +# default$/m,
      /^port = 9000 +# POTERNE_SERVER_PORT$/m,
      /^secret = "\*{8}" +# POTERNE_SERVER_SECRET$/m,
      /^base_url = "https:\/\/auth\.example\.com" +# file$/m,
      /^audience = "https:\/\/auth\.example\.com" +# default$/m,
      /^url = "postgres:\/\/\*{8}@db\.example\.com\/poterne\?\*{8}" +# file$/m,
      /^\[\[sms\.gateways\]\]$/m,
      /^headers = \{ authorization = "\*{8}" \} +# file$/m,
      /^# master is not set$/m,
    ]) {
      expect(out).toMatch(line)
    }
  })

  test('prints the same for programs with --json', async () => {
    writeFileSync(join(directory, 'show.toml'), toml)
    const { out } = await here([...args, '--json'], env)
    expect(out).not.toContain('hunter2')
    const shown: { file: string; settings: unknown[] } = JSON.parse(out)
    expect(shown.file).toEndWith('show.toml')
    expect(shown.settings).toContainEqual({
      key: 'server.port',
      value: 9000,
      origin: 'environment',
      variable: 'POTERNE_SERVER_PORT',
    })
    expect(shown.settings).toContainEqual({
      key: 'smtp.password',
      value: '********',
      origin: 'file',
      variable: null,
    })
    expect(shown.settings).toContainEqual({
      key: 'redis.url',
      value: null,
      origin: 'default',
      variable: null,
    })
  })

  test('shows the name that --dev gives', async () => {
    const { out } = await here(['config', 'show', '--dev'])
    expect(out).toMatch(/^base_url = "http:\/\/localhost:8080" +# --dev$/m)
  })
})

describe('config example', () => {
  test('prints the example, which config check accepts', async () => {
    const { out, code } = await here(['config', 'example'])
    expect(code).toBe(0)
    expect(out).toBe(configExample())
    writeFileSync(join(directory, 'example.toml'), out)
    expect((await here(['config', 'check', '--config', 'example.toml'], smtp)).code).toBe(0)
  })
})

test('an operator has the name of the login, of sudo, or of the user, also where USER is not set', () => {
  const { USER, SUDO_USER } = process.env
  const nameWith = (env: Record<string, string>) => {
    delete process.env.USER
    delete process.env.SUDO_USER
    Object.assign(process.env, env)
    return loginName()
  }
  try {
    expect(nameWith({ USER: 'ada' })).toBe('ada')
    expect(nameWith({ USER: 'root', SUDO_USER: 'ada' })).toBe('ada')
    expect(nameWith({})).toBe(execFileSync('id', ['-un'], { encoding: 'utf8' }).trim())
  } finally {
    nameWith({ ...(USER && { USER }), ...(SUDO_USER && { SUDO_USER }) })
  }
})
