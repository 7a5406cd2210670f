/**
 * The directory of the embedded database: one of another engine, one that lost its PG_VERSION or is gone, and one whose lock
 * was removed. With TEST_OLDER_ENGINE=/path/of/poterne, built on another major version of PGlite, the upgrade is tried
 * from that one.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENGINE_VERSION } from '../../src/storage/embedded/directory.ts'
import { newEmail, registration } from '../helpers/api-client.ts'
import { builtExecutable, type Executable, runExecutable, startExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'
import { use } from '../helpers/use-service.ts'

/** The older engine makes a backup, which comes after whatever else a busy machine does. */
setDefaultTimeout(300_000)

const older = process.env.TEST_OLDER_ENGINE
const dataDirOf = ({ storage }: Executable) => storage.storage!.data_dir as string
const lines = (text: string) => text.trimEnd().split('\n')

/** The present executable, which believes that its engine is the older one that the copy names. */
async function pretendOlder(): Promise<string> {
  const path = join(newDirectory('older'), 'poterne')
  const copy = `$(sed -n 's/^data_dir = "\\(.*\\)"$/\\1/p' "$4")`
  writeFileSync(
    path,
    `#!/bin/sh\necho ${ENGINE_VERSION} > "${copy}/postgres/PG_VERSION"\nexec ${await builtExecutable()} "$@"\n`,
  )
  chmodSync(path, 0o700)
  return path
}

describe('a database of an older engine', () => {
  longTest(
    'is refused in one line that says what to do, which keeps accounts, sessions and secret',
    async () => {
      const before = await startExecutable({
        shape: 'embedded',
        ...(older && { executable: older }),
      })
      const dataDir = dataDirOf(before)
      const person = await before.signUp(newEmail())
      const session = await before.logIn(person)
      const waiting = newEmail()
      expect((await before.post('register', registration(waiting))).status).toBe(201)
      const otp = await before.inbox.nextCode(waiting)
      await before.kill('SIGTERM')
      const versionFile = join(dataDir, 'postgres', 'PG_VERSION')
      if (!older) {
        expect(readFileSync(versionFile, 'utf8').trim()).toBe(ENGINE_VERSION)
        writeFileSync(versionFile, '17\n')
      }
      const engine = readFileSync(versionFile, 'utf8').trim()
      const secret = readFileSync(join(dataDir, 'secret'), 'utf8')

      for (const args of [['serve'], ['accounts', 'list'], ['backup', join(dataDir, 'x.backup')]]) {
        const { code, error } = await runExecutable([...args, ...before.configArgs])
        expect(code, args[0]).not.toBe(0)
        if (args[0] !== 'serve') continue
        expect(lines(error)).toHaveLength(1)
        expect(error).toContain(`was made by PostgreSQL ${engine}`)
        expect(error).toContain('poterne upgrade --from')
      }

      const from = older ?? (await pretendOlder())
      const broken = await runExecutable(['upgrade', '--from', '/bin/false', ...before.configArgs])
      expect(broken.code).toBe(1)
      expect(lines(broken.error)).toEqual(['/bin/false made no backup of the database: it ended with 1'])
      expect(readFileSync(versionFile, 'utf8').trim()).toBe(engine)

      const upgrade = await runExecutable(['upgrade', '--from', from, ...before.configArgs])
      expect(upgrade.error).toBe('')
      expect(upgrade.code).toBe(0)
      expect(upgrade.out).toContain(`postgres.${engine}`)
      expect(readFileSync(join(dataDir, 'secret'), 'utf8')).toBe(secret)
      expect(readdirSync(dataDir).filter((name) => name.startsWith('upgrade-'))).toEqual([])
      expect(existsSync(join(dataDir, `postgres.${engine}`, 'PG_VERSION'))).toBe(true)

      const { inbox, smtp, gateway } = before
      const after = await startExecutable({ storage: before.storage, smtp, gateway })
      expect((await after.post('login', person)).status).toBe(200)
      expect((await after.post('refresh', { refresh_token: session.refresh_token })).status).toBe(200)
      expect((await after.post('verify-account', { identifier: waiting, otp })).status).toBe(201)
      expect(inbox).toBeDefined()
      await after.close()

      const again = await runExecutable(['upgrade', '--from', from, ...before.configArgs])
      expect([again.code, again.out]).toEqual([0, 'The database is of this engine already.\n'])
      await before.close()
    },
  )
})

describe('a directory of which something was removed', () => {
  const service = use(() => startExecutable({ shape: 'embedded' }))

  test('the lock of the name that people remove may go: a second process is refused all the same', async () => {
    rmSync(join(dataDirOf(service), 'lock'))
    const { code, error } = await runExecutable(['serve', ...service.configArgs], {
      env: { POTERNE_SERVER_PORT: '0' },
    })
    expect(code).toBe(1)
    expect(error).toContain('is in use by another poterne')
  })

  longTest(
    'if all of the lock is removed, the process ends within two seconds, and nothing acknowledged is lost',
    async () => {
      const person = await service.signUp(newEmail())
      for (const name of ['lock', 'in-use-do-not-remove'])
        rmSync(join(dataDirOf(service), name), { force: true })
      const removedAt = performance.now()
      expect(await service.process().exited).toBe(1)
      expect(performance.now() - removedAt).toBeLessThan(3000)
      expect(lines(service.process().stderr())).toHaveLength(1)
      expect(service.process().stderr()).toContain('was removed')
      await service.start()
      expect((await service.post('login', person)).status).toBe(200)
    },
  )

  longTest(
    'without PG_VERSION, or of an older engine, is refused in one line, and nothing in it changes',
    async () => {
      const person = await service.signUp(newEmail())
      await service.kill('SIGTERM')
      const versionFile = join(dataDirOf(service), 'postgres', 'PG_VERSION')
      rmSync(versionFile)
      const { code, error } = await runExecutable(['serve', ...service.configArgs])
      expect(code).toBe(1)
      expect(lines(error)).toHaveLength(1)
      expect(error).toContain('its PG_VERSION cannot be read (ENOENT), so that nothing was changed there')
      expect(existsSync(versionFile)).toBe(false)
      writeFileSync(versionFile, '')
      const emptied = await runExecutable(['serve', ...service.configArgs])
      expect(emptied.error).toContain('its PG_VERSION names no version')
      writeFileSync(versionFile, '17\n')
      const older = await runExecutable(['serve', ...service.configArgs])
      expect([older.code, lines(older.error)]).toEqual([
        1,
        [expect.stringContaining('poterne upgrade --from')],
      ])
      expect(older.error).toContain('was made by PostgreSQL 17')
      writeFileSync(versionFile, `${ENGINE_VERSION}\n`)
      await service.start()
      expect((await service.post('login', person)).status).toBe(200)
    },
  )

  longTest('a secret without a database beside it is said', async () => {
    await service.kill('SIGTERM')
    rmSync(join(dataDirOf(service), 'postgres'), { recursive: true })
    await service.start()
    const said = service.log().filter(({ msg }) => String(msg).includes('but no database any more'))
    expect(said).toHaveLength(1)
  })
})

test('links that somebody planted in the data directory are not followed', async () => {
  const dataDir = newDirectory('data')
  const victim = join(newDirectory('victim'), 'file')
  const links = ['trial', 'secret.partial']
  writeFileSync(victim, 'not yours')
  for (const name of links) symlinkSync(victim, join(dataDir, name))
  const service = await startExecutable({ storage: { storage: { data_dir: dataDir } } })
  expect(readFileSync(victim, 'utf8')).toBe('not yours')
  await service.close()
  rmSync(join(dataDir, 'in-use-do-not-remove'))
  symlinkSync(victim, join(dataDir, 'in-use-do-not-remove'))
  const { code } = await runExecutable(['serve', ...service.configArgs])
  expect(code).toBe(1)
  expect(readFileSync(victim, 'utf8')).toBe('not yours')
})
