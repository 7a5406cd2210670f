/**
 * The scripts of the Debian package, where /etc and /var/lib are directories of the test, and systemctl and poterne only
 * note their calls.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from '../helpers/run-directory.ts'

setDefaultTimeout(180_000)

const scripts = join(import.meta.dir, '../../scripts/debian')
/** The one that systemd gave a service for the time it ran. */
const FORMER_USER = 61_742
const mayInstall =
  process.getuid?.() === 0 &&
  Bun.which('useradd') !== null &&
  Bun.spawnSync(['unshare', '--mount', 'true']).success

function newMachine({ isActive = false } = {}) {
  const root = newDirectory('debian')
  chmodSync(root, 0o755)
  const [etc, lib, bin, calls] = ['etc', 'lib', 'bin', 'calls'].map((name) => join(root, name)) as [
    ...[string, string, string, string],
  ]
  for (const path of [etc, lib, bin]) mkdirSync(path, { mode: 0o755 })
  const files = ['passwd', 'group', 'shadow', 'gshadow', 'nsswitch.conf', 'login.defs']
  for (const file of [...files, 'pam.d', 'default', 'security'])
    if (existsSync(join('/etc', file))) cpSync(join('/etc', file), join(etc, file), { recursive: true })
  writeFileSync(calls, '')
  const stub = (name: string, answer: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> '${calls}'\n${answer}\n`, { mode: 0o755 })
  stub('systemctl', isActive ? 'exit 0' : 'case "$1" in is-active) exit 3 ;; esac')
  stub('poterne', 'exit 0')
  const run = (script: string, ...args: string[]) => {
    const mounts = `mount --bind '${etc}' /etc && mount --bind '${lib}' /var/lib`
    const command = `${mounts} && exec sh '${join(scripts, script)}' ${args.map((arg) => `'${arg}'`).join(' ')}`
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', command],
      { env: { PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` } },
    )
    return { code: exitCode, out: stdout.toString(), error: stderr.toString() }
  }
  const uidOfUser = () =>
    Number(/^poterne:[^:]*:(\d+):/m.exec(readFileSync(join(etc, 'passwd'), 'utf8'))?.[1] ?? Number.NaN)
  const takeCalls = () => {
    const taken = readFileSync(calls, 'utf8').split('\n').filter(Boolean)
    writeFileSync(calls, '')
    return taken.filter((call) => /^systemctl (is-active|stop|start|restart|try-restart)/.test(call))
  }
  return { lib, run, uidOfUser, takeCalls }
}

describe.skipIf(!mayInstall)('the Debian package', () => {
  test('makes a lasting user with a directory of its own, and leaves both at a purge', () => {
    const { lib, run, uidOfUser, takeCalls } = newMachine()
    expect(run('postinst', 'configure', '')).toMatchObject({ code: 0, error: '' })
    const uid = uidOfUser()
    expect(uid).toBeGreaterThan(0)
    const data = lstatSync(join(lib, 'poterne'))
    expect([data.isDirectory(), data.uid, data.mode & 0o777]).toEqual([true, uid, 0o700])
    expect(takeCalls()).toEqual(['systemctl restart poterne.service'])
    expect(run('postinst', 'configure', '0.1.0')).toMatchObject({ code: 0, error: '' })
    expect(takeCalls()).toEqual(['systemctl try-restart poterne.service'])
    writeFileSync(join(lib, 'poterne/secret'), '')
    expect(run('postrm', 'purge')).toMatchObject({ code: 0, error: '' })
    expect([uidOfUser(), existsSync(join(lib, 'poterne/secret'))]).toEqual([uid, true])
  })

  test.each([[true], [false]])(
    'moves the data of a user that existed only while the service ran (it runs: %p)',
    (isActive) => {
      const { lib, run, uidOfUser, takeCalls } = newMachine({ isActive })
      const former = join(lib, 'private/poterne')
      mkdirSync(join(lib, 'private'), { mode: 0o700 })
      mkdirSync(join(former, 'postgres'), { recursive: true, mode: 0o700 })
      writeFileSync(join(former, 'secret'), 'of before', { mode: 0o600 })
      symlinkSync('/etc/passwd', join(former, 'link'))
      for (const path of [former, join(former, 'postgres'), join(former, 'secret')])
        chownSync(path, FORMER_USER, FORMER_USER)
      symlinkSync('private/poterne', join(lib, 'poterne'))
      expect(run('postinst', 'configure', '0.1.0')).toMatchObject({ code: 0, error: '' })
      const uid = uidOfUser()
      const found = ['', 'postgres', 'secret', 'link'].map((name) => lstatSync(join(lib, 'poterne', name)))
      expect(found.map((each) => each.uid)).toEqual([uid, uid, uid, uid])
      expect([found[0]!.isDirectory(), found[2]!.mode & 0o777]).toEqual([true, 0o600])
      expect([readFileSync(join(lib, 'poterne/secret'), 'utf8'), existsSync(former)]).toEqual([
        ...['of before', false],
      ])
      expect(lstatSync('/etc/passwd').uid).toBe(0)
      expect(takeCalls()).toEqual(
        isActive
          ? [
              'systemctl is-active --quiet poterne.service',
              'systemctl stop poterne.service',
              'systemctl restart poterne.service',
            ]
          : ['systemctl is-active --quiet poterne.service', 'systemctl try-restart poterne.service'],
      )
    },
  )
})
