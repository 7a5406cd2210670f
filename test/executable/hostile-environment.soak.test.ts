/** The surroundings of the executable change nothing, and it reads and asks nothing that is not its own. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runExecutable, spawnExecutable, startExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { endProcesses, processesUnder } from '../helpers/processes.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** Files that Bun, Node.js or a shell would take to heart. */
function hostileDirectory(): string {
  const directory = newDirectory('hostile')
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
  const trap = `require('node:fs').writeFileSync(${JSON.stringify(join(directory, 'ran'))}, 'x'); process.exit(99)`
  write('trap.js', trap)
  write('trap.ts', trap)
  write(
    'bunfig.toml',
    'preload = ["./trap.ts"]\n[run]\npreload = ["./trap.ts"]\n[serve.static]\nplugins = ["./trap.ts"]\n',
  )
  for (const name of ['.env', '.env.local', '.env.production', '.env.production.local'])
    write(
      name,
      'POTERNE_SERVER_PORT=1\nPOTERNE_SERVER_LANGUAGE=en\nPOTERNE_UNKNOWN_KEY=1\nNODE_OPTIONS=--require=./trap.js\n',
    )
  write(
    'package.json',
    '{ "name": "trap", "type": "module", "main": "trap.js", "imports": { "#a": "./trap.js" } }',
  )
  write(
    'tsconfig.json',
    '{ "compilerOptions": { "paths": { "*": ["./trap.ts"] } }, "extends": "./nowhere.json" }',
  )
  write('.npmrc', 'registry=http://127.0.0.1:1/')
  return directory
}

test('a hostile .env, bunfig.toml and package.json in its directory change nothing', async () => {
  const directory = hostileDirectory()
  const clean = await runExecutable(['config', 'show', '--json'])
  expect((await runExecutable(['config', 'show', '--json'], { directory })).out).toBe(clean.out)
  const service = await startExecutable({ shape: 'postgres', directory, args: ['--dev'] })
  const { body } = await service.post('login', {})
  expect(body.message).toBe('Some fields are not valid.')
  await service.close()
  expect(existsSync(join(directory, 'ran'))).toBe(false)
})

test('a working directory that was deleted is named, and nothing begins in it', async () => {
  const wrapper = ['sh', '-c', 'rmdir "$PWD" && exec "$0" "$@"']
  const { code, out, error } = await runExecutable(['serve', '--dev'], {
    directory: newDirectory('deleted'),
    wrapper,
  })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(error).toMatch(/^error: The current working directory was deleted[^\n]*\n$/)
})

/** From its start in that directory, asked for everything by `work`, to its end. */
async function serveIn(
  directory: string,
  wrapper: string[],
  work: (service: { pid: number; port: number }) => Promise<void>,
) {
  const port = await freePort()
  const env = { POTERNE_SERVER_PORT: String(port) }
  const running = await spawnExecutable(['serve', '--dev'], { directory, env, wrapper })
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  await waitFor(isReady, { timeoutMs: 60_000, what: 'the service' })
  await work({ pid: running.pid, port })
  // A tracer and the traced have the same working directory.
  await endProcesses(directory)
  await running.exited
}

/** Returns the calls that the kernel saw: every file opened, every address connected to. */
async function trace(directory: string, work: (url: string) => Promise<void>) {
  const file = join(newDirectory('trace'), 'calls')
  const calls = 'trace=open,openat,openat2,connect,execve'
  const wrapper = ['strace', '-f', '-qq', '-e', calls, '-o', file]
  await serveIn(directory, wrapper, ({ port }) => work(`http://127.0.0.1:${port}`))
  const text = readFileSync(file, 'utf8')
  const opened = [...text.matchAll(/open(?:at|at2)?\((?:AT_FDCWD, |\d+, )?"([^"]+)"[^\n]*\) += (-?\d+)/g)]
  return {
    opened: opened.filter(([, , result]) => Number(result) >= 0).map(([, path]) => path as string),
    tried: opened.map(([, path]) => path as string),
    connected: text.split('\n').filter((line) => /connect\(.*AF_INET/.test(line)),
    executed: [...text.matchAll(/execve\("([^"]+)"[^\n]*= 0/g)].map(([, path]) => path as string),
  }
}

const SYSTEM = /^(\/proc|\/sys|\/dev|\/etc|\/lib|\/lib64|\/usr)(\/|$)/
const ITSELF = /\/dist\/poterne$/
/** The addon that verifies passwords: unpacked into a file that loses its name before it is written. */
const ADDON = /^\/tmp\/\.poterne-[0-9a-f-]{36}\.node( \(deleted\))?$/

/** Many containers forbid one process to look into another. */
const mayTrace = () =>
  Bun.which('strace') !== null && Bun.spawnSync(['strace', '-qq', '-o', '/dev/null', 'true']).success

/** Returns the open files of a process, but for the three it was given; those closed meanwhile are left out. */
function linksOf(pid: number): string[] {
  const linkOf = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return null
    }
  }
  const given = ['0', '1', '2'].map(linkOf)
  const links = readdirSync(`/proc/${pid}/fd`).map(linkOf)
  return links.filter((link) => link !== null && !given.includes(link)) as string[]
}

/** The state of a socket that listens, as the kernel writes it. */
const LISTENS = '0A'

/** The foreign ends of its sockets, as the kernel lists them, but for those that clients connected to its port. */
function connectionsOf(pid: number, port: number): string[] {
  const links = linksOf(pid)
  const tables = ['tcp', 'tcp6', 'udp', 'udp6'].map((name) => `/proc/${pid}/net/${name}`).filter(existsSync)
  const lines = tables.flatMap((table) => readFileSync(table, 'utf8').trim().split('\n').slice(1))
  return lines.flatMap((line) => {
    const [, local = '', foreign = '', state, , , , , , inode] = line.trim().split(/\s+/)
    const isIts = state !== LISTENS && links.includes(`socket:[${inode}]`)
    return isIts && Number.parseInt(local.split(':')[1] ?? '', 16) !== port ? [foreign] : []
  })
}

/**
 * Holds the process where nothing may be traced, and reads what the kernel says it holds at the end. It is not seen
 * that the process closed a file again, or looked for one in vain. Shows the files that it keeps, the peers that it is
 * connected with and the programs that it runs.
 */
async function hold(directory: string, work: (url: string) => Promise<void>) {
  const found = { opened: [''], tried: [''], connected: [''], executed: [''] }
  await serveIn(directory, [], async ({ pid, port }) => {
    await work(`http://127.0.0.1:${port}`)
    const mapped = readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/ (\/\S+)$/gm)
    found.opened = [...mapped].map(([, path]) => path as string).concat(linksOf(pid))
    found.tried = found.opened
    found.connected = connectionsOf(pid, port)
    found.executed = processesUnder(directory)
      .filter((one) => one !== pid)
      .map(String)
  })
  return found
}

/** The second serves where nothing may be traced; it is tried in any case, so that it is not found broken there. */
const looks = {
  ...(mayTrace() && { 'traced call by call': trace }),
  'looked at in the end': hold,
}

describe.each(Object.entries(looks))('in an empty directory, %s', (_name, look) => {
  test('no file is read but its own data and the system, nobody is called, and nothing else is run', async () => {
    const directory = newDirectory('empty')
    const { opened, tried, connected, executed } = await look(directory, async (url) => {
      expect((await fetch(`${url}/swagger`)).status).toBe(200)
      const post = (operation: string, body: object) =>
        fetch(`${url}/api/v1/auth/${operation}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      const password = 'correct horse battery'
      await post('register', { email: 'ada@example.com', password, password_confirmation: password })
      const key = () => readFileSync(join(directory, 'data', 'dev-key'), 'utf8').trim()
      const mailbox = async () =>
        (await (await fetch(`${url}/dev/mailbox.json?key=${key()}`)).json()) as { code: string }[]
      const mail = await waitFor(async () => (await mailbox())[0])
      expect((await post('verify-account', { identifier: 'ada@example.com', otp: mail.code })).status).toBe(
        201,
      )
      expect((await post('login', { identifier: 'ada@example.com', password })).status).toBe(200)
    })
    const foreign = opened.filter(
      (path) =>
        path.startsWith('/') &&
        !SYSTEM.test(path) &&
        !ITSELF.test(path) &&
        !ADDON.test(path) &&
        !path.startsWith('/$bunfs') &&
        path !== directory &&
        !path.startsWith(`${directory}/data`),
    )
    expect(foreign).toEqual([])
    // The files of its directory: the configuration it looks for, and its data.
    const own = tried.filter((path) => path.startsWith(directory) || !path.startsWith('/'))
    expect(own.filter((path) => /\.env|bunfig|package\.json|tsconfig|node_modules/.test(path))).toEqual([])
    expect(connected).toEqual([])
    expect(executed.filter((path) => !ITSELF.test(path))).toEqual([])
    expect(readdirSync(directory)).toEqual(['data'])
  }, 90_000)
})
