/** The data directory: whose it is, who may read it, and the server secret in it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtExecutable, newStorage, runExecutable, startExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'

setDefaultTimeout(30_000)

const NOBODY = 65534
const filesOf = (directory: string) =>
  (readdirSync(directory, { recursive: true }) as string[]).map((file) => join(directory, file))

function newDataDirectory() {
  const directory = newDirectory('data')
  const run = (args: string[]) => runExecutable(args, { env: { POTERNE_STORAGE_DATA_DIR: directory } })
  return { directory, run, secret: join(directory, 'secret') }
}

describe('the server secret in the data directory', () => {
  test.each([
    ['nothing', ''],
    ['base64', 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=\n'],
    ['half of one', 'ab'.repeat(16)],
  ])('a file that holds %s is refused, and stays as it is', async (_, text) => {
    const { run, secret } = newDataDirectory()
    writeFileSync(secret, text)
    const { code, error } = await run(['serve', '--dev'])
    expect(code).toBe(1)
    expect(error).toStartWith(
      `poterne failed: ${secret} does not hold a server secret (expected 64 hex characters`,
    )
    expect(error.trimEnd()).not.toContain('\n')
    expect(readFileSync(secret, 'utf8')).toBe(text)
  })

  test('a missing one beside a database is an error that names the file, and none is made', async () => {
    const { directory, run, secret } = newDataDirectory()
    expect((await run(['migrate'])).code).toBe(0)
    expect(readFileSync(secret, 'utf8')).toMatch(/^[\da-f]{64}\n$/)
    rmSync(secret)
    for (const args of [
      ['serve', '--dev'],
      ['keys', 'list'],
    ]) {
      const { code, error } = await run(args)
      expect(code).toBe(1)
      expect(error).toStartWith(`poterne failed: ${secret} is missing`)
    }
    expect(readdirSync(directory)).not.toContain('secret')
  })
})

/** Many containers forbid one process to look into another. */
const mayTrace = Bun.spawnSync(['strace', '-qq', '-o', '/dev/null', 'true']).success

if (mayTrace) {
  test('a new secret is on the disk before it has its name, and then its name is', async () => {
    const { directory } = newDataDirectory()
    const calls = join(newDirectory('trace'), 'calls')
    const wrapper = ['strace', '-f', '-y', '-qq', '-e', 'trace=fsync,/^rename', '-o', calls]
    const env = { POTERNE_STORAGE_DATA_DIR: directory }
    expect((await runExecutable(['migrate'], { env, wrapper })).code).toBe(0)
    const lines = readFileSync(calls, 'utf8').split('\n')
    const isRename = (line: string) => line.includes(`rename`) && line.includes(`"${directory}/secret"`)
    const named = lines.findIndex(isRename)
    const [, temporary] = /rename\w*\([^"]*"([^"]+)"/.exec(lines[named] ?? '') ?? []
    const written = lines.findIndex((line) => line.includes(`<${temporary}>`) && line.includes('fsync('))
    const kept = lines.findIndex(
      (line, at) => at > named && line.includes(`<${directory}>`) && line.includes('fsync('),
    )
    expect([written >= 0 && written < named, kept > named]).toEqual([true, true])
  })
}

describe('what is made in the data directory', () => {
  test('is for its owner alone, whatever the directory itself is', async () => {
    const { settings } = await newStorage('embedded')
    const directory = settings.storage?.data_dir as string
    mkdirSync(directory, { mode: 0o755 })
    chmodSync(directory, 0o755)
    const service = await startExecutable({ shape: 'embedded', storage: settings })
    // What is inside a directory that nobody else may enter is out of their reach.
    const entrances = filesOf(directory).filter(
      (file) => lstatSync(file).isDirectory() || dirname(file) === directory,
    )
    expect(entrances.length).toBeGreaterThan(10)
    expect(entrances.filter((file) => (lstatSync(file).mode & 0o077) !== 0)).toEqual([])
    // As an earlier version left it.
    await service.kill('SIGTERM')
    chmodSync(join(directory, 'postgres'), 0o755)
    chmodSync(join(directory, 'secret'), 0o644)
    await service.start()
    expect(lstatSync(join(directory, 'postgres')).mode & 0o777).toBe(0o700)
    expect(lstatSync(join(directory, 'secret')).mode & 0o777).toBe(0o600)
    await service.close()
  })
})

/** Only root can make what belongs to somebody else. The directory and the executable are where everybody may go. */
if (process.getuid?.() === 0) {
  describe('a command of another user', () => {
    let place: string
    beforeAll(async () => {
      place = mkdtempSync(join(tmpdir(), 'poterne-users-'))
      chmodSync(place, 0o755)
      copyFileSync(await builtExecutable(), join(place, 'poterne'))
    })
    afterAll(() => rmSync(place, { recursive: true }))

    const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

    function newPlace() {
      const directory = mkdtempSync(join(place, 'data-'))
      const run = (args: string[], wrapper: string[] = []) => {
        const { exitCode, stderr } = Bun.spawnSync([...wrapper, join(place, 'poterne'), ...args], {
          cwd: directory,
          env: { PATH: process.env.PATH ?? '', POTERNE_STORAGE_DATA_DIR: directory },
        })
        return { code: exitCode, error: stderr.toString() }
      }
      return { directory, run }
    }

    test('takes on the owner as root, and leaves nothing behind that the service cannot open', () => {
      const { directory, run } = newPlace()
      chownSync(directory, NOBODY, NOBODY)
      expect(run(['migrate'], asNobody)).toEqual({ code: 0, error: '' })
      expect(run(['keys', 'list'])).toEqual({ code: 0, error: '' })
      expect(filesOf(directory).filter((file) => lstatSync(file).uid !== NOBODY)).toEqual([])
      expect(run(['keys', 'list'], asNobody)).toEqual({ code: 0, error: '' })
    })

    test('is refused with one line where it is not root', () => {
      const { directory, run } = newPlace()
      expect(run(['migrate'])).toEqual({ code: 0, error: '' })
      chmodSync(directory, 0o777)
      const { code, error } = run(['keys', 'list'], asNobody)
      expect(code).toBe(1)
      expect(error).toBe(
        `poterne failed: storage.data_dir: ${directory}/postgres belongs to the user root (0), but this is the user nobody ` +
          '(65534), whose files would keep the service from opening it: run the command as the user root (0), or as root\n',
      )
    })

    test('is refused with the file that belongs to somebody else', () => {
      const { directory, run } = newPlace()
      chownSync(directory, NOBODY, NOBODY)
      expect(run(['migrate'], asNobody)).toEqual({ code: 0, error: '' })
      const file = join(directory, 'postgres/PG_VERSION')
      chownSync(file, 0, 0)
      chmodSync(file, 0o600)
      const { code, error } = run(['keys', 'list'], asNobody)
      expect(code).toBe(1)
      expect(error).toContain(`${file} belongs to the user root (0), but this is the user nobody (65534)`)
    })
  })
}

test('a directory that cannot be made is refused with its key, its whole path and the user', async () => {
  const directory = newDirectory('working')
  writeFileSync(join(directory, 'data'), 'a file')
  const { code, error } = await runExecutable(['serve', '--dev'], { directory })
  expect(code).toBe(1)
  expect(error).toMatch(
    /^poterne failed: storage\.data_dir: \/.*\/data cannot be used by the user \w+ \(\d+\) \(ENOTDIR\)/,
  )
})
