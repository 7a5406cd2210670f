/** What stands around the executable changes nothing, and nothing is read or asked that is not its own. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runExecutable, spawnExecutable, startExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { endProcesses } from '../helpers/processes.ts'
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
  const service = await startExecutable({ shape: 'embedded', directory, args: ['--dev'] })
  const { body } = await service.post('login', {})
  expect(body.message).toMatch(/[éè]|champ|requ/i)
  await service.close()
  expect(existsSync(join(directory, 'ran'))).toBe(false)
})

/** What the kernel saw: every file opened, every address connected to. */
async function trace(directory: string, work: (url: string) => Promise<void>) {
  const port = await freePort()
  const file = join(newDirectory('trace'), 'calls')
  const calls = 'trace=open,openat,openat2,connect,execve'
  const running = await spawnExecutable(['serve', '--dev'], {
    directory,
    env: { POTERNE_SERVER_PORT: String(port) },
    wrapper: ['strace', '-f', '-qq', '-e', calls, '-o', file],
  })
  const url = `http://127.0.0.1:${port}`
  await waitFor(async () => (await fetch(`${url}/readyz`)).ok, {
    timeoutMs: 60_000,
    what: 'the traced service',
  })
  await work(url)
  // The tracer and the traced have the same working directory.
  await endProcesses(directory)
  await running.exited
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

/** Where no tracer is installed, the kernel still says which files a process holds open. */
async function heldOpen(directory: string, work: (url: string) => Promise<void>) {
  const service = await startExecutable({ shape: 'embedded', directory, args: ['--dev'] })
  await work(service.url)
  const { pid } = service.process()
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8')
  const opened = [...new Set([...maps.matchAll(/ (\/\S+)$/gm)].map(([, path]) => path as string))]
  await service.close()
  return { opened, tried: [] as string[], connected: [] as string[], executed: [] as string[] }
}

describe('in an empty directory', () => {
  test('no file is read but its own data and the system, nobody is called, and nothing else is run', async () => {
    const directory = newDirectory('empty')
    const look = Bun.which('strace') === null ? heldOpen : trace
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
      const mailbox = async () =>
        (await (await fetch(`${url}/dev/mailbox.json`)).json()) as { code: string }[]
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
        !path.startsWith('/$bunfs') &&
        path !== directory &&
        !path.startsWith(`${directory}/data`),
    )
    expect(foreign).toEqual([])
    // Of its directory: the configuration it looks for, and its data.
    const own = tried.filter((path) => path.startsWith(directory) || !path.startsWith('/'))
    expect(own.filter((path) => /\.env|bunfig|package\.json|tsconfig|node_modules/.test(path))).toEqual([])
    expect(connected).toEqual([])
    expect(executed.filter((path) => !ITSELF.test(path))).toEqual([])
    expect(readdirSync(directory)).toEqual(['data'])
  }, 90_000)
})
