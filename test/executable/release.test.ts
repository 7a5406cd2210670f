/** Sums, signatures and trials of scripts/release; in a soak the steps that follow a build, and a whole release. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { sumAndSign } from '../../scripts/lib/offer.ts'
import { tryExecutable } from '../../scripts/lib/trial.ts'
import { builtExecutable } from '../helpers/executable.ts'
import { newSigningKey } from '../helpers/releases.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(400_000)

const root = join(import.meta.dir, '../..')
const rehearsed = join(root, 'dist/release-rehearsal')
const { version } = manifest
const key = newSigningKey()

afterAll(() => rmSync(rehearsed, { recursive: true, force: true }))

async function release(command: string[]) {
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...process.env, POTERNE_RELEASE_KEY: key.file },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, error }
}

function expectSigned(folder: string): void {
  for (const file of ['index.json', 'SHA256SUMS']) {
    const verified = Bun.spawnSync(['minisign', '-V', '-P', key.publicKey, '-m', join(folder, file)])
    expect(verified.exitCode).toBe(0)
  }
  const sums = Bun.spawnSync(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], { cwd: folder })
  expect([sums.exitCode, sums.stderr.toString()]).toEqual([0, ''])
}

longTest('the executable of the build is tried, packed, offered, summed and signed', async () => {
  const executable = await builtExecutable()
  const { code, error } = await release([
    process.execPath,
    'scripts/lib/release.ts',
    version,
    '--rehearse',
    executable,
  ])
  expect([code, error]).toEqual([0, ''])
  expectSigned(rehearsed)
  const target = `${process.platform}-${process.arch}`
  expect(readdirSync(rehearsed).sort()).toEqual([
    'SHA256SUMS',
    'SHA256SUMS.minisig',
    'index.json',
    'index.json.minisig',
    `poterne-${version}-${target}.zst`,
    `poterne-client-${version}.tgz`,
  ])
  const index = JSON.parse(readFileSync(join(rehearsed, 'index.json'), 'utf8'))
  expect([index.version, Object.keys(index.targets)]).toEqual([version, [target]])
})

test('the sums name every file, those of the image too', () => {
  const out = newDirectory('sums')
  mkdirSync(join(out, 'poterne-oci/blobs'), { recursive: true })
  writeFileSync(join(out, 'poterne-oci/blobs/layer'), 'a layer')
  sumAndSign({ version, out }, null)
  expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toMatch(
    /^[\da-f]{64} {2}poterne-oci\/blobs\/layer\n$/,
  )
})

/** A program that says "listening" and answers every path with `status`, after a hundred lines of its own; 0 kills it. */
function pretender(status: number): string {
  const path = join(newDirectory('pretender'), 'poterne')
  const source = `#!${process.execPath}
if (process.argv[2] === 'version') { console.log('{"version":"${version}"}'); process.exit(0) }
for (let line = 1; line <= 100; line++) console.log('line ' + line)
if (${status} === 0) process.kill(process.pid, 'SIGKILL')
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { status: ${status} }) })
console.log(JSON.stringify({ url: 'http://127.0.0.1:1/admin/', msg: 'administration listens' }))
console.log(JSON.stringify({ url: 'http://127.0.0.1:' + server.port, msg: 'listening' }))
`
  writeFileSync(path, source)
  chmodSync(path, 0o755)
  return path
}

test.each([
  [404, '/readyz answers 404'],
  [500, '/readyz answers 500'],
  [0, 'it ended with SIGKILL'],
])(
  'a trial that is answered %i (0: killed) ends at once, with the last lines of its log',
  async (status, reason) => {
    const started = performance.now()
    const executable = pretender(status)
    const failure = await tryExecutable({ executable, version }).catch((error: Error) => error.message)
    expect(failure).toContain(`${reason}\n`)
    expect(failure).not.toContain(status === 0 ? 'line 80\n' : 'line 82\n')
    expect(failure).toContain('line 83\n')
    expect(performance.now() - started).toBeLessThan(60_000)
  },
)

test('a service that its watchdog ends on an emulated processor is tried again', async () => {
  const folder = newDirectory('slow')
  const path = join(folder, 'poterne')
  const source = `#!${process.execPath}
const { existsSync, writeFileSync } = require('node:fs')
const command = process.argv[2]
if (command === 'version') console.log('{"version":"${version}"}')
if (command === 'doctor') console.log('{"checks":[{"message":"the native addon verifies passwords"}]}')
if (command !== 'serve') process.exit(0)
if (!existsSync('${folder}/tried')) { writeFileSync('${folder}/tried', ''); process.kill(process.pid, 'SIGKILL') }
process.on('SIGTERM', () => process.exit(0))
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
console.log(JSON.stringify({ url: 'http://127.0.0.1:' + server.port, msg: 'listening' }))
`
  writeFileSync(path, source, { mode: 0o755 })
  await tryExecutable({ executable: path, emulator: ['env'], version })
  rmSync(join(folder, 'tried'))
  await expect(tryExecutable({ executable: path, version })).rejects.toThrow('it ended with SIGKILL')
})

longTest(
  'a whole release',
  async () => {
    const { code, error } = await release(['scripts/release', version])
    expect([code, error]).toEqual([0, ''])
    const folder = join(root, 'dist/release')
    expectSigned(folder)
    expect(existsSync(join(folder, `poterne_${version}_amd64.deb`))).toBe(true)
  },
  3 * 3_600_000,
)
