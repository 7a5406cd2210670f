/** Releases for tests: keys made by minisign, executables of two versions, and a signed index that offers one of them. */
import { copyFileSync, cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { newDirectory, oncePerRun } from './run-directory.ts'

const root = join(import.meta.dir, '../..')

export interface SigningKey {
  file: string
  publicKey: string
}

export function newSigningKey(): SigningKey {
  const folder = newDirectory('release-key')
  const [file, publicFile] = [join(folder, 'release.key'), join(folder, 'release.pub')]
  run(['minisign', '-G', '-W', '-f', '-p', publicFile, '-s', file])
  return { file, publicKey: readFileSync(publicFile, 'utf8').trim().split('\n').at(-1) as string }
}

export const signFile = (path: string, { file }: SigningKey) =>
  run(['minisign', '-S', '-s', file, '-c', 'a test', '-t', 'a test', '-m', path])

export interface Offer {
  version: string
  /** The file that is offered for this machine. */
  executable: string
  expires?: Date
  /** The values of the index in place of the truth. */
  lies?: { sha256?: string; size?: number; url?: string }
}

/** Writes `index.json` and its signature into a folder of its own, and returns the path of the index. */
export function writeIndex({ version, executable, expires, lies }: Offer, key: SigningKey): string {
  const path = join(newDirectory('release-index'), 'index.json')
  const offer = { url: executable, ...describeFile(executable), ...lies }
  const at = expires ?? new Date(Date.now() + 86_400_000)
  const targets = { [`${process.platform}-${process.arch}`]: offer }
  writeFileSync(path, JSON.stringify({ version, expires: at.toISOString(), targets }))
  signFile(path, key)
  return path
}

const described = new Map<string, { sha256: string; size: number }>()

/** Every index offers the same few files of 130 MB. */
const describeFile = (path: string) =>
  described.getOrInsertComputed(path, () => {
    const bytes = readFileSync(path)
    const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    return { sha256, size: bytes.byteLength }
  })

/** Executables of the present version and of 9.9.9, which believe both keys. Built once a run, in some ten seconds. */
export const releasedVersions = (keys: SigningKey[]) =>
  oncePerRun('released versions', async () => {
    const folder = newDirectory('released-versions')
    const env = {
      POTERNE_RELEASE_KEYS: keys.map(({ publicKey }) => publicKey).join(','),
      ...preparedDatabase(),
    }
    const present = join(folder, 'present')
    run([process.execPath, join(root, 'scripts/build.ts'), '--out', present], { cwd: root, env })
    const sources = join(folder, 'sources')
    for (const part of ['src', 'drizzle', 'scripts'])
      cpSync(join(root, part), join(sources, part), { recursive: true })
    for (const file of ['bun.lock', 'bunfig.toml', 'tsconfig.json'])
      copyFileSync(join(root, file), join(sources, file))
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    writeFileSync(join(sources, 'package.json'), JSON.stringify({ ...manifest, version: '9.9.9' }))
    addMigration(join(sources, 'drizzle'))
    symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'))
    mkdirSync(join(sources, 'dist'))
    // Compressing the files of the embedded database anew would take longer than the build.
    for (const file of new Glob('*.zst').scanSync({ cwd: join(root, 'dist') }))
      copyFileSync(join(root, 'dist', file), join(sources, 'dist', file))
    const newer = join(folder, 'newer')
    run([process.execPath, 'scripts/build.ts', '--out', newer], { cwd: sources, env })
    return { present, newer }
  })

/** The migration that 9.9.9 has and the present version has not; the present one cannot run beside it. */
export const LATER_MIGRATION = '9999_later'

function addMigration(folder: string): void {
  const file = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { idx: number; tag: string }[] }
  const entries = [...journal.entries, { idx: journal.entries.length, tag: LATER_MIGRATION }]
  writeFileSync(file, JSON.stringify({ ...journal, entries }))
  writeFileSync(join(folder, `${LATER_MIGRATION}.sql`), 'create table later (id integer primary key)\n')
}

/** The newest archive of dist/, so that no test pays for another initdb. */
function preparedDatabase(): Record<string, string> {
  const dist = join(root, 'dist')
  const [newest] = [...new Glob('embedded-*.tar.zst').scanSync({ cwd: dist })]
    .map((file) => join(dist, file))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  return newest ? { POTERNE_PREPARED_DATABASE: newest } : {}
}

function run(
  command: string[],
  { cwd = root, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): void {
  const { exitCode, stderr } = Bun.spawnSync(command, {
    cwd,
    env: { ...process.env, ...env },
    stderr: 'pipe',
  })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`)
}
