/** The data directory: whose it is, who may read it, and the server secret in it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  builtExecutable,
  makeDatabase,
  newStorage,
  runExecutable,
  spawnExecutable,
  startExecutable,
} from '../helpers/executable.ts'
import { newDirectory, newFastDirectory } from '../helpers/run-directory.ts'
import { longDescribe, longTest, soaking } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const NOBODY = 65534
const filesOf = (directory: string) =>
  (readdirSync(directory, { recursive: true }) as string[]).map((file) => join(directory, file))

function newDataDirectory() {
  const directory = newFastDirectory('data')
  const run = (args: string[]) => runExecutable(args, { env: { POTERNE_STORAGE_DATA_DIR: directory } })
  return { directory, run, secret: join(directory, 'secret') }
}

/** Many containers forbid one process to look into another. */
const mayTrace = Bun.spawnSync(['strace', '-qq', '-o', '/dev/null', 'true']).success

/** A tracer keeps signals to itself. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** Makes a database, and gives its calls that rename or flush files. */
async function traceFirstStart(env: Record<string, string>): Promise<string[]> {
  const calls = join(newDirectory('trace'), 'calls')
  const wrapper = ['strace', '-f', '-y', '-qq', '-e', 'trace=fsync,/^rename', '-o', calls]
  const started = await spawnExecutable(['serve', '--dev'], {
    env: { ...env, POTERNE_SERVER_PORT: '0' },
    wrapper,
  })
  await waitFor(() => started.stdout().includes('"listening"'), { timeoutMs: 60_000 })
  for (const pid of childrenOf(started.pid)) process.kill(pid, 'SIGTERM')
  await started.exited
  return readFileSync(calls, 'utf8').split('\n')
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

  longTest(
    'a new one is on the disk before it has its name, and one that is missing beside a database is not made anew',
    async () => {
      const { directory, run, secret } = newDataDirectory()
      const env = { POTERNE_STORAGE_DATA_DIR: directory }
      if (mayTrace) {
        const lines = await traceFirstStart(env)
        const isRename = (line: string) => line.includes(`rename`) && line.includes(`"${secret}"`)
        const named = lines.findIndex(isRename)
        const [, temporary] = /rename\w*\([^"]*"([^"]+)"/.exec(lines[named] ?? '') ?? []
        const written = lines.findIndex((line) => line.includes(`<${temporary}>`) && line.includes('fsync('))
        const kept = lines.findIndex(
          (line, at) => at > named && line.includes(`<${directory}>`) && line.includes('fsync('),
        )
        expect([written >= 0 && written < named, kept > named]).toEqual([true, true])
      } else await makeDatabase({ env })
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
    },
  )
})

describe('what is made in the data directory', () => {
  test('is for its owner alone, whatever the directory itself is', async () => {
    const { settings } = await newStorage('embedded')
    const directory = settings.storage?.data_dir as string
    mkdirSync(directory, { mode: 0o755 })
    chmodSync(directory, 0o755)
    const service = await startExecutable({ shape: 'embedded', storage: settings })
    // The entries of a directory that nobody else may enter are out of their reach.
    const entrances = filesOf(directory).filter(
      (file) => lstatSync(file).isDirectory() || dirname(file) === directory,
    )
    expect(entrances.length).toBeGreaterThan(10)
    expect(entrances.filter((file) => (lstatSync(file).mode & 0o077) !== 0)).toEqual([])
    if (soaking) {
      // An earlier version left it so.
      await service.kill('SIGTERM')
      chmodSync(join(directory, 'postgres'), 0o755)
      chmodSync(join(directory, 'secret'), 0o644)
      await service.start()
      expect(lstatSync(join(directory, 'postgres')).mode & 0o777).toBe(0o700)
      expect(lstatSync(join(directory, 'secret')).mode & 0o777).toBe(0o600)
    }
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
      const make = (wrapper: string[] = []) =>
        makeDatabase({
          ...{ directory, wrapper, executable: join(place, 'poterne') },
          env: { POTERNE_STORAGE_DATA_DIR: directory },
        })
      return { directory, run, make }
    }

    let madeByNobody: Promise<string> | undefined
    /** A directory of nobody, with a database that a service of nobody has made. */
    async function newPlaceOfNobody() {
      madeByNobody ??= (async () => {
        const { directory, make } = newPlace()
        chownSync(directory, NOBODY, NOBODY)
        await make(asNobody)
        return directory
      })()
      const { directory, run } = newPlace()
      Bun.spawnSync(['cp', '--archive', `${await madeByNobody}/.`, directory])
      return { directory, run }
    }

    test('takes on the owner as root, and leaves nothing behind that the service cannot open', async () => {
      const { directory, run } = await newPlaceOfNobody()
      expect(run(['keys', 'list'])).toEqual({ code: 0, error: '' })
      expect(filesOf(directory).filter((file) => lstatSync(file).uid !== NOBODY)).toEqual([])
      expect(run(['keys', 'list'], asNobody)).toEqual({ code: 0, error: '' })
    })

    /** private-directory.test.ts does this and the next where only root may pass to the directory as well. */
    longTest(
      'backs up to a directory of root, and restores a file of root, while the service is stopped',
      async () => {
        const { directory, run } = await newPlaceOfNobody()
        expect(run(['accounts', 'create', '--email', 'ada@example.com', '--verified']).error).toBe('')
        const own = mkdtempSync(join(place, 'root-'))
        chmodSync(own, 0o700)
        const [file, passphrase] = [join(own, 'auth.backup'), join(own, 'passphrase')]
        writeFileSync(passphrase, 'a passphrase of some length\n', { mode: 0o600 })
        const sealing = ['--passphrase-file', passphrase]
        expect(run(['backup', file, ...sealing, '--with-secret'])).toEqual({ code: 0, error: '' })
        expect([lstatSync(file).uid, lstatSync(file).mode & 0o777]).toEqual([0, 0o600])
        expect(run(['restore', file, ...sealing, '--replace', '--yes'])).toEqual({ code: 0, error: '' })
        expect(run(['accounts', 'show', 'ada@example.com'], asNobody)).toEqual({ code: 0, error: '' })
        expect(filesOf(directory).filter((each) => lstatSync(each).uid !== NOBODY)).toEqual([])
        expect(readdirSync(own).sort()).toEqual(['auth.backup', 'passphrase'])
      },
    )

    longDescribe('backs up as root beside a service of another user', () => {
      function newBackup() {
        const own = mkdtempSync(join(place, 'root-'))
        chmodSync(own, 0o700)
        const [file, passphrase] = [join(own, 'auth.backup'), join(own, 'passphrase')]
        writeFileSync(passphrase, 'a passphrase of some length\n', { mode: 0o600 })
        const backUp = async (socket: string) => {
          const words = ['backup', file, '--passphrase-file', passphrase, '--with-secret', '--allow-empty']
          const child = Bun.spawn([join(place, 'poterne'), ...words, '--socket', socket], {
            ...{ cwd: own, env: { PATH: process.env.PATH ?? '' }, stderr: 'pipe' },
          })
          return { error: await new Response(child.stderr).text(), code: await child.exited }
        }
        return { own, file, backUp }
      }

      longTest('to a directory of its own, and leaves no copy and no file of root', async () => {
        const { directory } = newPlace()
        chownSync(directory, NOBODY, NOBODY)
        const service = await spawnExecutable(['serve', '--dev'], {
          ...{ directory, wrapper: asNobody, executable: join(place, 'poterne') },
          env: { POTERNE_STORAGE_DATA_DIR: directory, POTERNE_SERVER_PORT: '0' },
        })
        await waitFor(() => service.stdout().includes('"listening"'))
        const { own, file, backUp } = newBackup()
        expect(await backUp(join(directory, 'admin.sock'))).toEqual({
          ...{ code: 0, error: 'warning: it holds no account\n' },
        })
        expect([lstatSync(file).uid, lstatSync(file).mode & 0o777]).toEqual([0, 0o600])
        expect(readdirSync(own).sort()).toEqual(['auth.backup', 'passphrase'])
        expect(readdirSync(directory).filter((name) => /^(snapshot|trial)-/.test(name))).toEqual([])
        expect(filesOf(directory).filter((each) => lstatSync(each).uid !== NOBODY)).toEqual([])
        service.signal('SIGTERM')
        await service.exited
      })

      /** A service that somebody else took over names what it likes. */
      test('and neither follows a link nor removes what is not of that user', async () => {
        const { directory } = await newPlaceOfNobody()
        const { own, file, backUp } = newBackup()
        const copy = join(directory, `snapshot-${crypto.randomUUID()}`)
        cpSync(join(directory, 'postgres'), copy, { recursive: true })
        for (const each of [copy, ...filesOf(copy)]) lchownSync(each, NOBODY, NOBODY)
        const precious = join(own, 'precious')
        copyFileSync(join(directory, 'secret'), precious)
        chmodSync(precious, 0o600)
        rmSync(join(directory, 'secret'))
        symlinkSync(precious, join(directory, 'secret'))
        const ofRoot = join(copy, 'of-root')
        mkdirSync(ofRoot, { mode: 0o700 })
        writeFileSync(join(ofRoot, 'file'), '')
        const socket = join(directory, 'fake.sock')
        const answer = { status: 200, directory: copy, refused: null }
        const server = Bun.serve({ unix: socket, fetch: () => Response.json(answer) })
        const { code, error } = await backUp(socket)
        await server.stop(true)
        expect([code, error]).toEqual([1, expect.stringContaining('cannot be read (EACCES)')])
        expect([existsSync(file), existsSync(join(ofRoot, 'file'))]).toEqual([false, true])
      })
    })

    test('reads no configuration and uses no socket that somebody else put into the current directory', async () => {
      const trap = mkdtempSync(join(place, 'trap-'))
      const env = { PATH: process.env.PATH ?? '' }
      const inTrap = (args: string[]) => {
        const { exitCode, stderr } = Bun.spawnSync([join(place, 'poterne'), ...args], { cwd: trap, env })
        return { code: exitCode, error: stderr.toString() }
      }
      const config = join(trap, 'config.toml')
      writeFileSync(config, '[server]\nport = 1\n')
      chownSync(config, NOBODY, NOBODY)
      for (const args of [
        ['accounts', 'list'],
        ['config', 'show'],
      ]) {
        const { code, error } = inTrap(args)
        expect([code, error]).toEqual([2, expect.stringContaining('belongs neither to root nor to the user')])
      }
      expect(inTrap(['config', 'show', '--config', 'config.toml']).code).toBe(0)
      rmSync(config)
      mkdirSync(join(trap, 'data'))
      const socket = join(trap, 'data/admin.sock')
      const asked: string[] = []
      const answer = ({ url }: Request) => {
        asked.push(url)
        return Response.json({ status: 200, items: [], next_cursor: null })
      }
      const listener = Bun.serve({ unix: socket, fetch: answer })
      chownSync(socket, NOBODY, NOBODY)
      const child = Bun.spawn([join(place, 'poterne'), 'accounts', 'list'], {
        cwd: trap,
        env,
        stderr: 'pipe',
      })
      expect(await new Response(child.stderr).text()).toBe(
        `${socket} belongs neither to root nor to the user who runs this: name it with --socket if you trust it\n`,
      )
      expect([await child.exited, asked]).toEqual([1, []])
      const named = Bun.spawn([join(place, 'poterne'), 'accounts', 'list', '--socket', socket], {
        cwd: trap,
        env,
      })
      expect([await named.exited, asked.length]).toEqual([0, 1])
      await listener.stop(true)
    })

    test('follows no link of the owner as root: what it leads to stays as it is', async () => {
      const { directory, run } = newPlace()
      chownSync(directory, NOBODY, NOBODY)
      const elsewhere = mkdtempSync(join(place, 'root-'))
      chmodSync(elsewhere, 0o755)
      writeFileSync(join(elsewhere, 'file'), '')
      const link = join(directory, 'postgres')
      symlinkSync(elsewhere, link)
      // Root's own link in a directory of somebody else could be another one a moment later.
      for (const owner of [NOBODY, 0]) {
        lchownSync(link, owner, owner)
        const { code, error } = run(['keys', 'list'])
        expect([code, error]).toEqual([
          1,
          expect.stringContaining('cannot be used by the user nobody (65534)'),
        ])
        expect(lstatSync(elsewhere).mode & 0o777).toBe(0o755)
        expect(
          filesOf(directory).filter((file) => file.startsWith(`${directory}/`) && file !== link),
        ).toEqual([join(link, 'file')])
      }
    })

    test('is refused with one line where it is not root', async () => {
      const { directory, run } = await newPlaceOfNobody()
      for (const each of filesOf(directory)) lchownSync(each, 0, 0)
      chmodSync(directory, 0o777)
      const { code, error } = run(['keys', 'list'], asNobody)
      expect(code).toBe(1)
      expect(error).toBe(
        `poterne failed: storage.data_dir: ${directory}/postgres belongs to the user root (0), but this is the user nobody ` +
          '(65534), whose files would keep the service from opening it: run the command as the user root (0), or as root\n',
      )
      const closed = join(directory, 'closed')
      mkdirSync(closed, { mode: 0o700 })
      const there = run(['keys', 'list'], [...asNobody, 'env', `POTERNE_STORAGE_DATA_DIR=${closed}`])
      expect(there.error).toContain(
        `${closed} cannot be used by the user nobody (65534) (EACCES): run it as root, or as the user of the service, which is the user root (0)`,
      )
    })

    test('is refused with the file that belongs to somebody else', async () => {
      const { directory, run } = await newPlaceOfNobody()
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
