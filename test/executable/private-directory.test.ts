/**
 * A data directory below one that only root may pass, as systemd makes it for a user that exists while the service runs
 * (DynamicUser=yes): root's commands work there all the same, while the service runs and while it is stopped.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtExecutable, spawnExecutable } from '../helpers/executable.ts'
import { longTest, soaking } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(180_000)

const OWNER = 12_345
const mayMount = process.getuid?.() === 0 && Bun.spawnSync(['unshare', '--mount', 'true']).success

describe.skipIf(!mayMount)('where only root may pass to the data directory', () => {
  let place: string
  let data: string
  let own: string
  let passphrase: string
  let service: Awaited<ReturnType<typeof spawnExecutable>> | null = null

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'private-data-'))
    chmodSync(place, 0o755)
    copyFileSync(await builtExecutable(), join(place, 'poterne'))
    mkdirSync(join(place, 'private'), { mode: 0o700 })
    mkdirSync(join(place, 'private/poterne'), { mode: 0o700 })
    chownSync(join(place, 'private/poterne'), OWNER, OWNER)
    mkdirSync(join(place, 'seen'))
    data = join(place, 'data')
    symlinkSync('private/poterne', data)
    own = join(place, 'root')
    mkdirSync(own, { mode: 0o700 })
    passphrase = join(own, 'passphrase')
    writeFileSync(passphrase, 'a passphrase of some length\n', { mode: 0o600 })
    await start()
    const created = await run(['accounts', 'create', '--email', 'ada@example.com', '--verified'])
    expect([created.code, created.error]).toEqual([0, ''])
    await stop()
  })
  afterAll(async () => {
    await stop()
    rmSync(place, { recursive: true })
  })

  /** The service sees its directory where everybody may pass, as systemd shows it. */
  async function start() {
    const there = join(place, 'private')
    const steps = [
      `mount --bind '${there}/poterne' '${place}/seen'`,
      `mount -t tmpfs -o mode=755 none '${there}'`,
      `mkdir '${there}/poterne'`,
      `mount --bind '${place}/seen' '${there}/poterne'`,
      `exec setpriv --reuid=${OWNER} --regid=${OWNER} --clear-groups "$0" "$@"`,
    ]
    const wrapper = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', steps.join(' && ')]
    const started = await spawnExecutable(['serve', '--dev'], {
      ...{ directory: place, wrapper, executable: join(place, 'poterne') },
      env: { POTERNE_STORAGE_DATA_DIR: data, POTERNE_SERVER_PORT: '0' },
    })
    service = started
    await waitFor(() => started.stdout().includes('"listening"'), { timeoutMs: 60_000 })
  }
  async function stop() {
    service?.signal('SIGTERM')
    await service?.exited
    service = null
  }

  async function run(args: string[], env: Record<string, string> = { POTERNE_STORAGE_DATA_DIR: data }) {
    const child = Bun.spawn([join(place, 'poterne'), ...args], {
      cwd: own,
      env: { PATH: process.env.PATH ?? '', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, error] = await Promise.all([
      new Response(child.stdout).bytes().then((bytes) => Buffer.from(bytes).toString('latin1')),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, out, error }
  }
  const sealing = () => ['--passphrase-file', 'passphrase', '--with-secret']
  const foreign = () =>
    (readdirSync(join(place, 'private/poterne'), { recursive: true }) as string[]).filter(
      (file) => lstatSync(join(place, 'private/poterne', file)).uid !== OWNER,
    )
  const copies = () => readdirSync(data).filter((name) => /^(snapshot|trial)-/.test(name))

  test('while it runs, root administers it, and is told to stop it for the rest', async () => {
    await start()
    if (soaking) {
      // Only the unit says where its data is.
      const socket = ['--socket', join(data, 'admin.sock')]
      const backup = await run(['backup', 'running.backup', ...sealing(), ...socket], {})
      expect([backup.code, backup.error]).toEqual([0, ''])
      expect([lstatSync(join(own, 'running.backup')).uid, copies()]).toEqual([0, []])
    }
    expect((await run(['accounts', 'list'])).out).toContain('ada@example.com')
    for (const args of [['secret', 'revoke', '--yes'], ['migrate']]) {
      const { code, error } = await run(args)
      expect([code, error]).toEqual([1, expect.stringContaining('is in use by another poterne')])
    }
    expect(foreign()).toEqual([])
    await stop()
  })

  longTest('while it is stopped, root restores from a file of its own', async () => {
    const restored = await run(['restore', 'running.backup', ...sealing().slice(0, 2), '--replace', '--yes'])
    expect([restored.code, restored.error]).toEqual([0, ''])
    expect(restored.out).toContain('are restored')
    expect((await run(['accounts', 'list'])).out).toContain('ada@example.com')
    expect([foreign(), copies()]).toEqual([[], []])
  })

  longTest('while it is stopped, root backs up to standard output', async () => {
    const backup = await run(['backup', '-', ...sealing()])
    expect(backup.error).toContain('standard output: ')
    writeFileSync(join(own, 'stopped.backup'), backup.out, { encoding: 'latin1', mode: 0o600 })
    const verified = await run(['backup', 'verify', 'stopped.backup', ...sealing().slice(0, 2)])
    expect([verified.code, verified.error]).toEqual([0, ''])
    expect([foreign(), copies()]).toEqual([[], []])
  })

  longTest('while it is stopped, doctor finds the directory', async () => {
    // Its configuration, and what it names, are root's alone, and root's backup lies in the place of the service's.
    writeFileSync(join(own, 'smtp-password'), 'hunter22\n', { mode: 0o600 })
    const backups = join(data, 'backups')
    const lines = ['[storage]', `data_dir = "${data}"`, '[backup]', `directory = "${backups}"`]
    const mail = ['[smtp]', 'host = "127.0.0.1"', 'port = 9', 'from = "a@example.com"', 'username = "u"']
    writeFileSync(join(own, 'config.toml'), `${[...lines, ...mail].join('\n')}\n`, { mode: 0o600 })
    const env = { POTERNE_SMTP_PASSWORD_FILE: join(own, 'smtp-password') }
    mkdirSync(backups)
    chownSync(backups, OWNER, OWNER)
    writeFileSync(join(backups, 'poterne-20261123-050804-manual.backup'), '', { mode: 0o600 })
    const { out, error } = await run(['doctor', '--json', '--config', 'config.toml'], env)
    expect(error).toBe('')
    const { checks } = JSON.parse(out) as { checks: { name: string; level: string; message: string }[] }
    for (const name of ['secret-files', 'data-directory', 'database', 'disk'])
      expect(checks.find((check) => check.name === name)).toMatchObject({ level: 'ok' })
    rmSync(backups, { recursive: true })
    // The other commands have what the environment says.
    rmSync(join(own, 'config.toml'))
    expect([foreign(), copies()]).toEqual([[], []])
  })

  /** Each opens the embedded database in the same way, which takes seconds of a processor: a soak tries them all. */
  longTest.each<[string[], string]>([
    [['accounts', 'list'], 'ada@example.com'],
    [['migrate'], ''],
    [['config', 'check', '--connect', '--dev'], 'it answers'],
    [['secret', 'rotate'], 'kept in /'],
    [['backup', 'soak.backup', '--passphrase-file', 'passphrase'], 'restored on trial'],
    [['limits', 'lift', 'ada@example.com'], 'are lifted'],
    [['events', 'list', '--type', 'limits.lifted'], 'operator root'],
    [['secret', 'revoke', '--yes'], 'The former secret is of no use'],
  ])('while it is stopped, root runs %p', async (args, said) => {
    const { code, out, error } = await run(args)
    // Of the former key the log says that nothing opens it.
    expect([code, error.split('\n').length]).toEqual([0, args[1] === 'revoke' ? 2 : 1])
    expect(out).toContain(said)
    expect([foreign(), copies()]).toEqual([[], []])
  })

  longTest(
    'while it is stopped, root writes everybody to a file of its own, and reads it again',
    async () => {
      const exported = await run(['export', 'all.jsonl'])
      expect([exported.code, exported.error]).toEqual([0, expect.stringContaining('1 account exported')])
      const imported = await run(['import', 'all.jsonl', '--report', 'report.jsonl'])
      expect([imported.code, imported.error]).toEqual([0, ''])
      for (const file of ['all.jsonl', 'report.jsonl']) {
        expect(lstatSync(join(own, file))).toMatchObject({ uid: 0 })
        rmSync(join(own, file))
      }
      expect([foreign(), copies()]).toEqual([[], []])
    },
  )

  longTest('root may also start the service itself', async () => {
    const started = await spawnExecutable(['serve', '--dev'], {
      ...{ directory: own, executable: join(place, 'poterne') },
      env: { POTERNE_STORAGE_DATA_DIR: data, POTERNE_SERVER_PORT: '0' },
    })
    service = started
    await waitFor(() => started.stdout().includes('"listening"'), { timeoutMs: 60_000 })
    expect((await run(['accounts', 'list'])).out).toContain('ada@example.com')
    expect(foreign()).toEqual([])
    await stop()
  })
})
