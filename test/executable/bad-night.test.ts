/**
 * docs/bad-night.md: its blocks are run by a shell beside the executable, where systemctl stops and starts the service of
 * the test. `upgrade.soak.test.ts` goes back to a version before. A soak alone restores a backup and replaces a secret here, which
 * `domain/backups.test.ts` and `secret-commands.test.ts` do in each run.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Command } from 'commander'
import { commands } from '../../src/operations/commands/commands.ts'
import { loadProgram } from '../../src/operations/commands/run.ts'
import { newEmail } from '../helpers/api-client.ts'
import { builtExecutable, type Executable, startExecutable } from '../helpers/executable.ts'
import { newFastDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(300_000)

const root = join(import.meta.dir, '../..')
const page = readFileSync(join(root, 'docs/bad-night.md'), 'utf8')

const blocksOf = (text: string) => [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)

function sectionOf(heading: string): string {
  const section = page.split(`\n## ${heading}\n`)[1]
  if (section === undefined) throw new Error(`there is no ${heading}`)
  return section.split('\n## ')[0]!
}

/** What the page calls /etc/poterne and /var/lib/poterne, and the commands of the machine. */
const machine = newFastDirectory('machine')
const [etc, lib, bin] = ['etc', 'lib', 'bin'].map((name) => join(machine, name)) as [string, string, string]
const backups = join(lib, 'backups')
const environment = join(etc, 'environment')
const secretLines = () => readFileSync(environment, 'utf8').match(/^SERVER_SECRET=[\da-f]{64}$/gm)

let service: Executable
let systemctl: Bun.Server<undefined>
let starting: Promise<unknown> = Promise.resolve()

beforeAll(async () => {
  for (const directory of [etc, lib, bin]) mkdirSync(directory, { mode: 0o700 })
  writeFileSync(environment, `SERVER_SECRET=${'ab'.repeat(32)}\n`)
  service = await startExecutable({
    shape: 'embedded',
    storage: { storage: { data_dir: lib } },
    settings: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the file.
      server: { secret: '${SERVER_SECRET}' },
      backup: { at: '03:30', directory: backups },
    },
    wrapper: ['sh', '-c', `set -a; . ${environment}; exec "$0" "$@"`],
  })
  symlinkSync(service.configArgs[1]!, join(etc, 'config.toml'))
  symlinkSync(await builtExecutable(), join(bin, 'poterne'))
  systemctl = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 255,
    async fetch({ url }) {
      const verb = new URL(url).pathname.slice(1)
      await starting
      if (verb !== 'start') await service.kill('SIGTERM')
      // As systemd does, it does not wait until the service is ready.
      if (verb !== 'stop') starting = start()
      return new Response()
    },
  })
  const stub = (name: string, line: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  stub('systemctl', `[ "$2" = poterne ] && exec curl --silent --fail "${systemctl.url}$1"`)
  for (const name of ['journalctl', 'timedatectl']) stub(name, ':')
})

afterAll(async () => {
  await systemctl?.stop(true)
  await service?.close()
})

/** Each line must succeed. */
async function run(block: string) {
  const own = block.replaceAll('/etc/poterne', etc).replaceAll('/var/lib/poterne', lib)
  const shell = Bun.spawn(['bash', '-ec', own], {
    cwd: machine,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: machine },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error] = await Promise.all([
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
  ])
  return { code: await shell.exited, out, error }
}

/** On a busy machine it takes longer than the helper waits. */
const start = () =>
  service.start().catch(() =>
    waitFor(async () => (await fetch(`${service.url}/readyz`)).ok, {
      what: 'the start',
      timeoutMs: 120_000,
    }),
  )

const variables = blocksOf(page)[0]!.split('\n')[0]!

/** `doctor` and `config check` may fail for what this machine has not. */
async function runSection(heading: string) {
  const [block] = blocksOf(sectionOf(heading))
  const lines = block!.replace(/^(poterne (?:doctor|config check) .*)$/gm, '$1 || [ $? = 1 ]')
  const ran = await run(`${variables}\n${lines}`)
  expect({ heading, ...ran }).toMatchObject({ heading, code: 0 })
  await starting
  return ran.out
}

const codeOfLogin = async (person: { identifier: string; password: string }) =>
  (await service.post('login', person)).body.code

longTest('a backup is restored', async () => {
  const [ada, config] = [await service.signUp(newEmail()), join(etc, 'config.toml')]
  const made = await run(`${variables}\npoterne backup --config ${config}`)
  expect([made.error, made.code]).toEqual(['', 0])
  const later = await service.signUp(newEmail())
  expect(await runSection('Restore a backup')).toMatch(
    /its seal, parts and counts are right\n.* rows as they were at/s,
  )
  expect([await codeOfLogin(ada), await codeOfLogin(later)]).toEqual([undefined, 'invalid_credentials'])
})

const losses: [string, boolean][] = [
  ['The server secret is lost', true],
  ['The server secret leaked', false],
]

longTest.each(losses)('%s: everybody signs in again, and the next backup opens', async (heading, isLost) => {
  const person = await service.signUp(newEmail())
  const { refresh_token } = await service.logIn(person)
  const before = secretLines()
  if (isLost) writeFileSync(environment, '')
  const kept = readdirSync(backups)
  await runSection(heading)
  expect(secretLines()).toHaveLength(1)
  expect(secretLines()).not.toEqual(before)
  expect((await service.post('refresh', { refresh_token })).body.code).toBe('invalid_token')
  expect(await codeOfLogin(person)).toBeUndefined()
  const [file] = readdirSync(backups).filter((name) => !kept.includes(name))
  const verified = await run(
    `${variables}\npoterne backup verify ${join(backups, file!)} --config ${join(etc, 'config.toml')}`,
  )
  expect([verified.error, verified.code]).toEqual(['', 0])
})

longTest('a full disk: the oldest backups go', async () => {
  const old = ['d', 'c', 'b', 'a'].map((name) => `${name}-manual.backup`)
  mkdirSync(backups, { recursive: true })
  old.forEach((name, index) => {
    writeFileSync(join(backups, name), '')
    utimesSync(join(backups, name), 4 - index, 4 - index)
  })
  const newest = readdirSync(backups).filter((name) => name.startsWith('poterne-'))
  expect(newest).toHaveLength(1 + losses.length)
  expect(await runSection('The disk is full')).toMatch(/ok +disk/)
  expect(readdirSync(backups).sort()).toEqual([...newest, ...old].slice(0, 3).sort())
})

test('the database refuses: what the page quotes is what poterne says', async () => {
  expect(await runSection('The database refuses, or is refused')).toMatch(/ok +database/)
  const quoted = [...sectionOf('The database refuses, or is refused').matchAll(/^\| `(.*?)` \|/gm)].map(
    ([, said]) => said!,
  )
  expect(quoted.length).toBeGreaterThan(4)
  const sources = [...new Glob('src/**/*.ts').scanSync({ cwd: root })].map((file) =>
    readFileSync(join(root, file), 'utf8'),
  )
  expect(quoted.filter((said) => !sources.some((source) => source.includes(said)))).toEqual([])
})

longTest('a wrong clock: what was made meanwhile is replaced', async () => {
  const out = await runSection('The clock was wrong')
  expect(out).toMatch(/ok +future-dates/)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
})

test('every command of poterne on the page has the options that it is given', async () => {
  const program = await loadProgram(commands)
  const lines = blocksOf(page)
    .join('\n')
    .replaceAll('\\\n', '')
    .split(/[\n;]/)
    .flatMap((line) => line.match(/(?:^|\s)poterne(?::[\d.]+)? ([a-z].*)$/)?.[1] ?? [])
    .filter((line) => !/^-/.test(line))
  expect(lines.length).toBeGreaterThan(12)
  for (const line of lines) {
    let command: Command = program
    for (const word of line.split(' '))
      command = command.commands.find((each) => each.name() === word) ?? command
    const known = command.options.map(({ long }) => long)
    const given = line.match(/--[a-z-]+/g) ?? []
    expect([line, command === program, given.filter((option) => !known.includes(option))]).toEqual([
      line,
      false,
      [],
    ])
  }
})
