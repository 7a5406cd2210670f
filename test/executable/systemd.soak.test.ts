/**
 * A machine with systemd: docs/install.md is typed there, people register, root's commands meet the service
 * in each of its states, and an upgrade goes forth and back.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { newSigningKey, releasedVersions, writeIndex } from '../helpers/releases.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { notHere } from '../helpers/soak.ts'
import { bootMachine, type SystemdMachine } from '../helpers/systemd-machine.ts'

setDefaultTimeout(900_000)

const root = join(import.meta.dir, '../..')
/** Containers without the right to mount cannot do it. */
const mayBoot =
  existsSync('/lib/systemd/systemd') &&
  process.getuid?.() === 0 &&
  Bun.spawnSync(['unshare', '--mount', '--cgroup', 'mount', '-t', 'cgroup2', 'none', '/mnt']).success
if (!mayBoot) console.log('systemd.soak.test.ts does not run: no systemd can be started here')
const systemdTest = mayBoot ? test : notHere

const CONFIGURATION = `
[server]
base_url = "https://auth.example.com"
secret = "${'ab'.repeat(32)}"
[storage]
data_dir = "/var/lib/poterne"
[smtp]
host = "127.0.0.1"
from = "a@example.com"
[upgrade]
index = "/mnt/index.json"
[backup]
directory = "/var/lib/poterne/backups"
`

let machine: SystemdMachine

beforeAll(async () => {
  if (!mayBoot) return
  const [shared, key] = [newDirectory('shared'), newSigningKey()]
  const { present, newer } = await releasedVersions([key])
  copyFileSync(present, join(shared, 'poterne'))
  copyFileSync(newer, join(shared, 'newer'))
  copyFileSync(join(root, 'config.example.toml'), join(shared, 'config.example.toml'))
  copyFileSync(join(root, 'scripts/poterne.service'), join(shared, 'poterne.service'))
  writeFileSync(join(shared, 'own.toml'), CONFIGURATION)
  const index = writeIndex({ version: '9.9.9', executable: newer, lies: { url: '/mnt/newer' } }, key)
  for (const end of ['', '.minisig']) copyFileSync(`${index}${end}`, join(shared, `index.json${end}`))
  machine = await bootMachine(shared)
})
afterAll(() => machine?.end())

/** Each line must succeed. */
async function succeed(lines: string): Promise<string> {
  const ran = await machine.run(lines)
  expect({ lines, ...ran }).toMatchObject({ code: 0 })
  return ran.out
}
const ready = 'poterne health --wait 2m >/dev/null'
const restart = `systemctl daemon-reload; systemctl reset-failed poterne; systemctl restart poterne; ${ready}`

async function post(path: string, body: object): Promise<number> {
  const url = `http://127.0.0.1:8080/api/v1/auth/${path}`
  const data = `-H 'content-type: application/json' -d '${JSON.stringify(body)}'`
  return Number(await succeed(`curl -s -o /dev/null -w '%{http_code}' ${url} ${data}`))
}
const password = 'a long enough phrase'
const logIn = (name: string) => post('login', { identifier: `${name}@example.com`, password })
async function register(name: string): Promise<void> {
  const email = `${name}@example.com`
  expect(await post('register', { email, password, password_confirmation: password })).toBe(201)
  await succeed(`poterne accounts verify ${email}`)
  expect(await logIn(name)).toBe(200)
}

const commands = [
  'accounts list',
  'events list',
  'keys list',
  'secret status',
  'backup',
  'backup /root/a.backup',
  'backup - | cat >/root/b.backup',
  'backup verify /root/b.backup',
]
const succeedAll = (all: string[]) => succeed(all.map((command) => `poterne ${command}`).join('\n'))

systemdTest('the file is installed as the document says, and a first person registers', async () => {
  const page = readFileSync(join(root, 'docs/install.md'), 'utf8')
  const [, block = ''] = /^## The file\n+```sh\n(.*?)^```$/ms.exec(page) ?? []
  const lines = block
    .replaceAll('sudo ', '')
    .replace(/^tar .*$/m, 'cd /mnt')
    .replace(/^editor .*$/m, 'cat own.toml >/etc/poterne/config.toml')
  expect(await succeed(`${lines}\n${ready}\npoterne accounts list`)).toContain('There is no account yet')
  await register('ada')
})

systemdTest('root reaches the data while the service runs, is stopped, and starts', async () => {
  await succeedAll(commands)
  await succeed('systemctl stop poterne')
  await succeedAll([...commands, 'migrate', 'restore /root/a.backup --replace --yes'])
  await succeed('systemctl start poterne; poterne accounts list')
  const met = 'systemctl stop poterne; poterne backup & sleep 0.5; systemctl start poterne; wait $!'
  expect(await succeed(`${met}; ${ready}; systemctl show -P NRestarts poterne`)).toEndWith('\n0\n')
  expect(await succeed('find /var/lib/poterne ! -user poterne ! -name "*-manual.backup"')).toBe('')
  expect(await logIn('ada')).toBe(200)
})

systemdTest('and so it is where somebody keeps DynamicUser=yes', async () => {
  const dropIn = '/etc/systemd/system/poterne.service.d/dynamic.conf'
  await succeed(`mkdir -p /etc/systemd/system/poterne.service.d
    printf '[Service]\\nDynamicUser=yes\\n' >${dropIn}; ${restart}
    test -L /var/lib/poterne`)
  await succeedAll(commands)
  await succeed('systemctl stop poterne')
  await succeedAll([...commands, 'restore /root/a.backup --replace --yes'])
  await succeed(`rm ${dropIn}; ${restart}; test ! -L /var/lib/poterne`)
  expect(await logIn('ada')).toBe(200)
})

systemdTest('SIGHUP ends nothing, and a configuration that is wrong keeps the unit down', async () => {
  await succeed('kill -s HUP $(systemctl show -P MainPID poterne); sleep 1; systemctl is-active poterne')
  await succeed("sed -i '1i nonsense = 1' /etc/poterne/config.toml; systemctl restart poterne; sleep 8")
  expect((await machine.run('systemctl is-active poterne')).out).toBe('failed\n')
  await succeed(`sed -i 1d /etc/poterne/config.toml; ${restart}`)
})

systemdTest('an upgrade goes forth, and back with what was written before it', async () => {
  const upgrade = 'poterne upgrade --restart poterne'
  const back = 'poterne upgrade --back --restart poterne'
  expect(await succeed(upgrade)).toContain('poterne 9.9.9 is installed and ready')
  await register('late')
  const asked = await machine.run(back)
  expect([asked.code, asked.error]).toEqual([
    1,
    expect.stringContaining('--back --yes puts the database back'),
  ])
  expect(await succeed(`${back} --yes`)).toContain('1 new accounts')
  expect(await succeed('poterne version')).toContain(manifest.version)
  expect([await logIn('ada'), await logIn('late')]).toEqual([200, 401])

  await succeed(upgrade)
  const dropIn = '/etc/systemd/system/poterne.service.d/fails.conf'
  await succeed(`printf '[Service]\\nExecStartPre=/bin/false\\n' >${dropIn}; systemctl daemon-reload`)
  const failed = await machine.run(`${back} --yes`)
  expect([failed.code, failed.error]).toEqual([1, expect.stringContaining('poterne did not start')])
  expect(failed.out).toContain('The executable from before is back')
  await succeed(`rm ${dropIn}; ${restart}`)
  expect(await logIn('ada')).toBe(200)
})
