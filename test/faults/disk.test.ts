/** A disk that fills under the embedded store: by a file size limit, which needs no privileges, and by its reserve. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { sql } from 'drizzle-orm'
import { reasonOf } from '../../src/compose/store-watch.ts'
import { checks } from '../../src/operations/doctor/checks.ts'
import { examine } from '../../src/operations/doctor/examine.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { DatabaseUnavailable } from '../../src/platform/postgres/failure.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { type Executable, runExecutable, startExecutable } from '../helpers/executable.ts'
import { createStorage } from '../helpers/service.ts'
import { longTest, measureBelow } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

/** No file of the process may grow beyond this, nor be written beyond it: as if the disk were full. */
const limitFiles = ({ process }: Executable, limit: string) =>
  execFileSync('prlimit', [`--fsize=${limit}:`, '--pid', String(process().pid)])

describe('a disk that takes nothing more', () => {
  test('writes are refused in shape, the process lives, nothing is lost, and it serves again by itself', async () => {
    const service = await startExecutable({ shape: 'embedded' })
    const acknowledged: string[] = []
    const register = async () => {
      const email = newEmail()
      const answer = await service.post('register', registration(email))
      if (answer.status === 201) acknowledged.push(email)
      return answer
    }
    for (let i = 0; i < 5; i++) expect((await register()).status).toBe(201)
    const fillAndFree = async () => {
      limitFiles(service, '200000')
      const refused = await waitFor(
        async () => {
          const answer = await register()
          return answer.status !== 201 && answer
        },
        { what: 'the disk to be full', timeoutMs: 30_000, intervalMs: 1 },
      )
      expect([refused.status, refused.body.status, refused.body.code]).toEqual([503, 503, 'unavailable'])
      // It must hold a second time, too: PostgreSQL panics at the first, and must not be asked again.
      let slowestMs = 0
      for (let i = 0; i < 20; i++) {
        const startedAt = performance.now()
        expect((await register()).body.code).toBe('unavailable')
        slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      }
      expect((await service.call('GET', '/healthz')).status).toBe(200)
      expect((await service.call('GET', '/readyz')).status).toBe(503)
      expect((await service.call('GET', '/.well-known/jwks.json')).status).toBe(200)
      limitFiles(service, 'unlimited')
      const freedAt = performance.now()
      await waitFor(async () => (await register()).status === 201, {
        what: 'the space to be used',
        timeoutMs: 30_000,
      })
      return Math.max(slowestMs, performance.now() - freedAt)
    }
    expect(await measureBelow(5000, fillAndFree, 3)).toBeLessThan(5000)
    expect((await service.call('GET', '/readyz')).status).toBe(200)
    const check = async () => {
      for (const email of acknowledged)
        expect((await service.post('login', { identifier: email, password: PASSWORD })).body.code).toBe(
          'account_unconfirmed',
        )
    }
    await check()
    const otp = await service.inbox.nextCode(acknowledged.at(-1) as string)
    expect((await service.post('verify-account', { identifier: acknowledged.pop(), otp })).status).toBe(201)
    await service.kill('SIGKILL')
    await service.start()
    await check()
    await service.close()
  })

  test('at the start is said in one line', async () => {
    const { code, error } = await runExecutable(['serve', '--dev'], {
      wrapper: ['prlimit', '--fsize=200000'],
    })
    expect(code).toBe(1)
    expect(error).toMatch(/^poterne failed: .*data cannot be written to: make space on its disk[^\n]*\n$/)
  })

  test('at the start is said in one line also where it is mounted read-only', async () => {
    const calls = 'unlink,unlinkat,open,openat'
    const { code, error } = await runExecutable(['serve', '--dev'], {
      wrapper: [
        ...['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-P', 'data/trial'],
        ...['-e', `trace=${calls}`, '-e', `inject=${calls}:error=EROFS`],
      ],
    })
    expect(code).toBe(1)
    expect(error).toMatch(/^poterne failed: .*data cannot be written to: .* or mount it for writing\n$/)
  })
})

describe('a disk that is nearly full', () => {
  const write = statement(sql`insert into notes values ('x')`)
  const read = statement<Record<string, never>, { notes: number }>(
    sql`select count(*)::int as notes from notes`,
  )

  longTest('is only read from, until there is enough again', async () => {
    let free = 1e12
    const { settings } = await createStorage('embedded')
    const database = await openEmbedded(settings.storage?.data_dir as string, { freeBytes: () => free })
    await database.all({ text: 'create table notes (text text)', params: [] }, {})
    await database.all(write, {})
    free = 1e6
    await waitFor(async () => (await database.ping().catch((error) => error)) instanceof DatabaseUnavailable)
    await expect(database.all(write, {})).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(database.transaction((inside) => inside.all(write, {}))).rejects.toBeInstanceOf(
      DatabaseUnavailable,
    )
    expect(await database.first(read, {})).toEqual({ notes: 1 })
    const error = await database.ping().catch((thrown) => thrown)
    expect(reasonOf(error)).toBe('the disk of the database is full')
    const config = { storage: { dataDir: settings.storage?.data_dir } }
    const findings = await examine(checks, 'database', { config, clock: systemClock, database } as never)
    const found = (name: string) => findings.find((finding) => finding.name === name)?.message
    expect(found('database')).toBe('its disk is full (53100): make space on its disk, or raise its quota')
    expect(found('disk')).toContain('free for ')
    expect(found('migrations')).toBe('not checked, because database failed')
    free = 1e12
    await waitFor(() => database.ping().then(() => true), { timeoutMs: 5000 })
    await database.all(write, {})
    expect(await database.first(read, {})).toEqual({ notes: 2 })
    await database.close()
  })
})
