/**
 * The shipped unit, read and done as systemd does it: directories, credentials, environment and user of their own, in a
 * mount namespace. Root's shell beside it then administers the service, with no other configuration.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { builtExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const unitFile = join(import.meta.dir, '../../scripts/poterne.service')

/** Returns the values behind `name=`, in order. */
function valuesOf(name: string): string[] {
  const [, section = ''] = readFileSync(unitFile, 'utf8').split('[Service]')
  return [...section.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}
const settingOf = (name: string) => valuesOf(name)[0] ?? ''

/** The number of the user of the unit here: no other user of this machine has it. */
const SERVICE_USER = 61_742
const STATE = '/var/lib'
const CREDENTIALS = '/run/credentials/poterne.service'
const expanded = (text: string) =>
  text.replaceAll('%S', STATE).replaceAll('${CREDENTIALS_DIRECTORY}', CREDENTIALS)

/** Containers without the right to mount cannot do it. */
const mayMount = Bun.spawnSync(['unshare', '--mount', 'true']).success

/** Another view of the file system, in which /etc, /run, /var/lib, /root and /usr/local/bin are directories of the test. */
async function startMachine() {
  const root = newDirectory('machine')
  chmodSync(root, 0o755)
  const place = (path: string) => join(root, path.replaceAll('/', '_'))
  cpSync('/etc/passwd', join(root, 'passwd'))
  for (const path of ['/etc', '/run', STATE, '/root', '/usr/local/bin'])
    mkdirSync(place(path), { mode: 0o755 })
  for (const file of ['passwd', 'group', 'nsswitch.conf', 'hosts'])
    cpSync(join('/etc', file), join(place('/etc'), file))
  cpSync(await builtExecutable(), join(place('/usr/local/bin'), 'poterne'))
  const mounts = ['/etc', '/run', STATE, '/root', '/usr/local/bin'].map(
    (path) => `mount --bind '${place(path)}' '${path}'`,
  )
  const holder = Bun.spawn(
    [
      'unshare',
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-c',
      `${mounts.join(' && ')} && echo ready && exec sleep 600`,
    ],
    { stdout: 'pipe' },
  )
  await holder.stdout.getReader().read()
  const inside = (directory: string, command: string[], env: Record<string, string>) =>
    Bun.spawn(
      [
        'nsenter',
        '-t',
        String(holder.pid),
        '-m',
        '--',
        'sh',
        '-c',
        `cd '${directory}' && exec "$0" "$@"`,
        ...command,
      ],
      {
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
  return { place, inside, end: () => holder.kill('SIGKILL') }
}

type Machine = Awaited<ReturnType<typeof startMachine>>

function installUnit({ place }: Machine, port: number): void {
  const etc = join(place('/etc'), 'poterne')
  mkdirSync(etc)
  const config = [
    '[server]',
    `port = ${port}`,
    '[smtp]',
    'host = "127.0.0.1"',
    'from = "a@example.com"',
    'username = "u"',
    'password = "${SMTP_PASSWORD}"',
  ]
  writeFileSync(join(etc, 'config.toml'), `${config.join('\n')}\n`, { mode: 0o600 })
  writeFileSync(join(etc, 'environment'), 'SMTP_PASSWORD=hunter22\n', { mode: 0o600 })
}

/** Starts the unit as systemd does. */
function startUnit({ place, inside }: Machine) {
  const make = (path: string, mode: string) => {
    mkdirSync(path, { recursive: true })
    chmodSync(path, Number.parseInt(mode || '755', 8))
    chownSync(path, SERVICE_USER, SERVICE_USER)
  }
  const state = join(place(STATE), settingOf('StateDirectory'))
  make(state, settingOf('StateDirectoryMode'))
  const runtime = settingOf('RuntimeDirectory')
  if (runtime !== '') make(join(place('/run'), runtime), settingOf('RuntimeDirectoryMode'))
  const credentials = join(place('/run'), CREDENTIALS.replace('/run/', ''))
  make(credentials, '700')
  for (const credential of valuesOf('LoadCredential')) {
    const [name = '', source = ''] = credential.split(':')
    const file = join(credentials, name)
    cpSync(join(place('/etc'), source.replace('/etc/', '')), file)
    chownSync(file, SERVICE_USER, SERVICE_USER)
  }
  const file = join(place('/etc'), settingOf('EnvironmentFile').replace('-/etc/', ''))
  const pairs = [...readFileSync(file, 'utf8').trim().split('\n'), ...valuesOf('Environment')]
  const env = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2))) as Record<
    string,
    string
  >
  for (const [name, value] of Object.entries(env)) env[name] = expanded(value)
  return inside(
    expanded(settingOf('WorkingDirectory')),
    [
      ...[
        'setpriv',
        `--reuid=${SERVICE_USER}`,
        `--regid=${SERVICE_USER}`,
        '--clear-groups',
        '--bounding-set=-all',
      ],
      ...expanded(settingOf('ExecStart')).split(' '),
    ],
    { ...env, CREDENTIALS_DIRECTORY: CREDENTIALS },
  )
}

if (process.getuid?.() === 0 && mayMount) {
  describe('beside the shipped unit', () => {
    let machine: Machine
    let service: ReturnType<typeof startUnit>
    let port = 0
    beforeAll(async () => {
      // A service that ran in this process before has taken every right from others; systemd does not.
      process.umask(0o022)
      machine = await startMachine()
      port = await freePort()
      installUnit(machine, port)
      service = startUnit(machine)
      await waitFor(
        async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
          return answer?.status === 200
        },
        { what: 'the service of the unit', timeoutMs: 60_000 },
      )
    })
    afterAll(async () => {
      service.kill('SIGKILL')
      await service.exited
      machine.end()
    })

    async function asRoot(args: string[], env: Record<string, string> = {}) {
      const child = machine.inside('/root', ['poterne', ...args], env)
      const [out, error] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      return { out, error, code: await child.exited }
    }
    const madeByRoot = () => readdirSync(machine.place('/root'))

    test('the socket is where the unit has a directory for it', () => {
      const socket = lstatSync(join(machine.place('/run'), 'poterne/admin.sock'))
      expect([socket.isSocket(), socket.uid, socket.mode & 0o777]).toEqual([true, SERVICE_USER, 0o600])
      expect(readdirSync(join(machine.place(STATE), 'poterne'))).not.toContain('admin.sock')
    })

    test("root's shell administers the service without a variable of its configuration", async () => {
      const email = 'ada@example.com'
      const made = await asRoot(['accounts', 'create', '--email', email, '--verified', '--json'])
      expect([made.code, made.error]).toEqual([0, ''])
      const { uuid } = JSON.parse(made.out)
      const listed = await asRoot(['accounts', 'list', '--json'])
      expect(JSON.parse(listed.out)).toMatchObject([{ uuid, email }])
      expect(await asRoot(['accounts', 'lock', email])).toEqual({
        code: 0,
        out: `${email} is locked\n`,
        error: '',
      })
      expect(await asRoot(['limits', 'lift', email])).toMatchObject({ code: 0 })
      expect((await asRoot(['keys', 'rotate', '--now'])).code).toBe(0)
      expect(JSON.parse((await asRoot(['keys', 'list', '--json'])).out)).toHaveLength(2)
      expect((await asRoot(['sms', 'report'])).code).toBe(0)
      expect((await asRoot(['tokens', 'create', '--name', 'x', '--scopes', 'accounts:read'])).code).toBe(0)
      const [event] = JSON.parse((await asRoot(['events', 'list', '--type', 'account.locked', '--json'])).out)
      expect(event.actor).toMatchObject({ type: 'operator', name: 'root' })
      expect(madeByRoot()).toEqual([])
    })

    longTest(
      'a backup is of the service and its secret, and what would need the service stopped makes nothing',
      async () => {
        writeFileSync(join(machine.place('/root'), 'passphrase'), 'a passphrase of some length\n', {
          mode: 0o600,
        })
        const sealing = ['--passphrase-file', '/root/passphrase', '--with-secret', '--json']
        const directory = `${STATE}/poterne/backups`
        const env = { SMTP_PASSWORD: 'hunter22', POTERNE_BACKUP_DIRECTORY: directory }
        const backup = await asRoot(['backup', ...sealing], env)
        expect([backup.code, backup.error]).toEqual([0, ''])
        const { file, ...made } = JSON.parse(backup.out)
        expect(made).toMatchObject({ accounts: 1, restored: true })
        for (const args of [['secret', 'revoke', '--yes'], ['secret', 'rotate'], ['migrate']]) {
          const { code, error } = await asRoot(args, env)
          expect([args, code]).toEqual([args, 1])
          expect(error).toContain('there is no database in /root/data')
        }
        expect(madeByRoot()).toEqual(['passphrase'])
        const files = readdirSync(join(machine.place(STATE), 'poterne'), { recursive: true }) as string[]
        const foreign = files.filter(
          (file) => lstatSync(join(machine.place(STATE), 'poterne', file)).uid !== SERVICE_USER,
        )
        // The service itself writes in that directory, too.
        expect(foreign.map((name) => join(STATE, 'poterne', name))).toEqual([file])
      },
    )

    longTest(
      'a configuration that names another database does not reach the service of the unit',
      async () => {
        const withPlace = (name: string, place: string) => {
          const mail = '[smtp]\nhost = "127.0.0.1"\nfrom = "a@example.com"\n'
          writeFileSync(join(machine.place('/root'), name), `${place}\n${mail}`)
          return ['accounts', 'list', '--json', '--config', `/root/${name}`]
        }
        const own = await asRoot(withPlace('own.toml', `[storage]\ndata_dir = "${STATE}/poterne"`))
        expect([own.code, JSON.parse(own.out).length]).toEqual([0, 1])
        const other = await asRoot(withPlace('other.toml', '[storage]\ndata_dir = "/root/other"'))
        expect([other.code, other.out]).toEqual([1, ''])
        expect(other.error).toContain('there is no database in /root/other')
        const secret = `[server]\nsecret = "${'ab'.repeat(32)}"`
        const url = `${secret}\n[database]\nurl = "postgres://u@127.0.0.1:1/elsewhere"`
        const server = await asRoot(withPlace('server.toml', url))
        expect([server.code, server.out]).toEqual([1, ''])
        const named = [...withPlace('other.toml', '[storage]\ndata_dir = "/root/other"')]
        const asked = await asRoot([...named, '--socket', '/run/poterne/admin.sock'])
        expect([asked.code, JSON.parse(asked.out).length]).toEqual([0, 1])
        for (const name of ['own.toml', 'other.toml', 'server.toml'])
          rmSync(join(machine.place('/root'), name))
      },
    )

    test('while it is stopped, a command says so instead of answering for an empty database', async () => {
      const madeBefore = madeByRoot()
      service.kill('SIGTERM')
      expect(await service.exited).toBe(0)
      for (const args of reduced(
        [['accounts', 'list']],
        [
          ['accounts', 'list'],
          ['keys', 'rotate', '--now'],
          ['secret', 'status'],
        ],
      )) {
        const { code, out, error } = await asRoot(args)
        expect([code, out]).toEqual([2, ''])
        expect(error).toContain('no service answers')
        const known = await asRoot(args, { SMTP_PASSWORD: 'hunter22' })
        expect([known.code, known.out]).toEqual([1, ''])
        expect(known.error).toContain('there is no database in /root/data')
      }
      expect(madeByRoot()).toEqual(madeBefore)
      const known =
        'set -a; . /etc/poterne/environment; POTERNE_STORAGE_DATA_DIR=/var/lib/poterne; poterne secret rotate'
      const rotating = machine.inside('/root', ['sh', '-c', known], {})
      expect([await new Response(rotating.stderr).text(), await rotating.exited]).toEqual(['', 0])
      expect(lstatSync(join(machine.place(STATE), 'poterne/secret')).uid).toBe(SERVICE_USER)
    })
  })
}
