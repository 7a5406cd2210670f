/** Where the executable unpacks its native addon, what it leaves behind, and what happens where it cannot. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newEmail } from '../helpers/api-client.ts'
import {
  builtExecutable,
  type ExecutableOptions,
  runExecutable,
  startExecutable,
} from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const FALLBACK = /^passwords are verified by Bun\.password/
const isRoot = process.getuid?.() === 0
/** It runs in a mount namespace of its own, as root of this machine or of a user namespace. */
const mounting = (commands: string): string[] => [
  'unshare',
  ...(isRoot ? [] : ['--user', '--map-root-user']),
  '--mount',
  'sh',
  '-c',
  `${commands} && exec "$0" "$@"`,
]

function temporaryDirectory() {
  const directory = newDirectory('temporary')
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o1777)
  return directory
}

/** Signs in rightly and wrongly, and says who verified. */
async function signInWith(options: ExecutableOptions) {
  const port = await freePort()
  const service = await startExecutable({
    shape: 'postgres',
    ...options,
    settings: { metrics: { listen: `127.0.0.1:${port}` } },
  })
  const person = await service.signUp(newEmail())
  const statuses = await Promise.all(
    [person, { ...person, password: 'another one' }, { ...person, identifier: newEmail() }].map((body) =>
      service.post('login', body).then(({ status }) => status),
    ),
  )
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const verifiers = new Set(
    [...metrics.matchAll(/^poterne_hash_wait_seconds_count\{verifier="(\w+)"\}/gm)].map(([, name]) => name),
  )
  const warnings = service.log().filter(({ msg }) => FALLBACK.test(String(msg)))
  return { service, statuses, verifiers: [...verifiers], reasons: warnings.map(({ reason }) => reason) }
}

const usesAddon = { statuses: [200, 401, 401], verifiers: ['addon'], reasons: [] }
const usesBun = { statuses: [200, 401, 401], verifiers: ['bun'], reasons: [expect.any(String)] }

test('the addon verifies, and leaves no file behind, however often the service starts or is killed', async () => {
  const TMPDIR = temporaryDirectory()
  const { service, ...found } = await signInWith({ env: { TMPDIR } })
  expect(found).toEqual(usesAddon)
  for (let start = 0; start < reduced(1, 3); start++) {
    await service.kill('SIGKILL')
    await service.start()
    expect((await service.post('login', { identifier: newEmail(), password: 'wrong' })).status).toBe(401)
  }
  expect(readdirSync(TMPDIR)).toEqual([])
  await service.close()
})

describe('the addon verifies', () => {
  test('from a read-only root with a temporary directory', async () => {
    const TMPDIR = temporaryDirectory()
    const wrapper = mounting(`mount -t tmpfs none '${TMPDIR}' && mount -o remount,bind,ro /`)
    const { service, ...found } = await signInWith({ env: { TMPDIR }, wrapper })
    expect(found).toEqual(usesAddon)
    await service.close()
  })

  // Only root can become two other users.
  if (isRoot) {
    test('for a user without rights, whatever another one has put into its temporary directory', async () => {
      const [own, other] = [61_001, 61_002]
      const place = mkdtempSync(join(tmpdir(), 'poterne-users-'))
      chmodSync(place, 0o755)
      const executable = join(place, 'poterne')
      copyFileSync(await builtExecutable(), executable)
      const TMPDIR = join(place, 'temporary')
      mkdirSync(TMPDIR)
      chmodSync(TMPDIR, 0o1777)
      // The names that Bun itself would use begin in this way; planted ones must not be loaded or removed.
      const planted = [`.bun-${own}-planted.node`, '.poterne-planted.node'].map((name) => join(TMPDIR, name))
      writeFileSync(planted[0] as string, 'not a library')
      symlinkSync('/lib/x86_64-linux-gnu/libm.so.6', planted[1] as string)
      for (const file of planted) lchownSync(file, other, other)
      const asOwn = ['setpriv', `--reuid=${own}`, `--regid=${own}`, '--clear-groups', '--no-new-privs']
      const { stdout } = Bun.spawnSync([...asOwn, executable, 'doctor', '--json'], {
        cwd: '/',
        env: {
          PATH: process.env.PATH ?? '',
          TMPDIR,
          POTERNE_SMTP_HOST: '127.0.0.1',
          POTERNE_SMTP_FROM: 'poterne@example.com',
        },
      })
      expect(verifierIn(stdout.toString())).toMatchObject({ level: 'ok' })
      expect(readdirSync(TMPDIR)).toHaveLength(2)
      rmSync(place, { recursive: true })
    })
  }
})

const verifierIn = (out: string) =>
  (JSON.parse(out) as { checks: { name: string; level: string; message: string }[] }).checks.find(
    ({ name }) => name === 'hash-verifier',
  )

describe('Bun.password verifies, with one warning in the log,', () => {
  const away = '/nowhere/at/all'
  const noexec = temporaryDirectory()
  const full = temporaryDirectory()
  const places: [string, ExecutableOptions][] = [
    [
      'with noexec on the temporary directory',
      { env: { TMPDIR: noexec }, wrapper: mounting(`mount -t tmpfs -o noexec none '${noexec}'`) },
    ],
    ['without a temporary directory', { env: { TMPDIR: away } }],
    [
      'when it is full',
      { env: { TMPDIR: full }, wrapper: mounting(`mount -t tmpfs -o size=64k none '${full}'`) },
    ],
    [
      'from a read-only root without one',
      { env: { TMPDIR: temporaryDirectory() }, wrapper: mounting('mount -o remount,bind,ro /') },
    ],
  ]

  test.each(reduced(places.slice(0, 1), places))('%s', async (_, options) => {
    const { service, ...found } = await signInWith(options)
    expect(found).toEqual(usesBun)
    await waitFor(() => service.log().some(({ msg }) => FALLBACK.test(String(msg))), { what: 'the warning' })
    const { out } = await runExecutable(['doctor', '--json', ...service.configArgs], options)
    expect(verifierIn(out)).toMatchObject({ level: 'warning', message: expect.stringContaining('TMPDIR') })
    await service.close()
  })

  test('and nothing has been left behind', () => {
    expect(existsSync(away)).toBe(false)
    expect([noexec, full].map((place) => readdirSync(place))).toEqual([[], []])
  })
})
