/** Makes dist/release/: see scripts/release. Every step prints one line. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import manifest from '../../package.json'
import { pinPackages, unpackPackages } from './debian-files.ts'
import { makeDebianPackage } from './debian-package.ts'
import { makeImage } from './image.ts'
import { writeManuals } from './manuals.ts'
import { run, timed } from './shell.ts'
import { readReleaseKey, sign } from './signing.ts'
import { type TargetName, targets } from './targets.ts'
import { tryExecutable } from './trial.ts'

const root = join(import.meta.dir, '../..')
const dist = join(root, 'dist')
const out = join(dist, 'release')
const work = join(dist, 'release-work')
const { version } = manifest

/** The days for which the index of a release is believed. */
const INDEX_DAYS = 180
const DAY_MS = 86_400_000

const [asked] = process.argv.slice(2)
if (asked === '--pin-image-packages') {
  pinPackages(work)
  process.exit(0)
}
if (asked !== version) {
  console.error(`scripts/release VERSION: package.json says ${version}, not ${asked ?? 'nothing'}`)
  process.exit(2)
}

const epoch = process.env.SOURCE_DATE_EPOCH ?? run(['git', 'log', '-1', '--format=%ct'], { cwd: root }).trim()
const commit = process.env.COMMIT ?? run(['git', 'rev-parse', '--short=7', 'HEAD'], { cwd: root }).trim()
const key = readReleaseKey('POTERNE_RELEASE_KEY')
const next = readReleaseKey('POTERNE_RELEASE_NEXT_KEY')

/** The archive of the embedded database, which initdb makes anew with other numbers each time: one for all targets. */
function prepareDatabase(): string {
  const given = process.env.POTERNE_PREPARED_DATABASE
  if (!given) run([process.execPath, 'scripts/build.ts'], { cwd: root })
  const made = given ?? join(dist, readdirSync(dist).find((file) => file.startsWith('embedded-')) as string)
  const kept = join(out, `poterne-${version}-database.tar.zst`)
  copyFileSync(made, kept)
  return kept
}

function build(target: TargetName, database: string): string {
  const executable = join(work, target, 'poterne')
  mkdirSync(join(work, target), { recursive: true })
  run([process.execPath, 'scripts/build.ts', '--target', target, '--out', executable], {
    cwd: root,
    env: {
      SOURCE_DATE_EPOCH: epoch,
      COMMIT: commit,
      POTERNE_PREPARED_DATABASE: database,
      POTERNE_RELEASE_KEYS: [key, next].flatMap((each) => (each ? [each.publicKey] : [])).join(','),
    },
  })
  return executable
}

/** `poterne-VERSION-TARGET.tar.xz` for people, and the executable alone (`.zst`) for `poterne upgrade`. */
async function pack(target: TargetName, executable: string): Promise<void> {
  const folder = join(work, target)
  const also = ['LICENSE', 'config.example.toml', 'scripts/poterne.service']
  for (const file of also) copyFileSync(join(root, file), join(folder, basename(file)))
  copyFileSync(join(dist, 'THIRD-PARTY.md'), join(folder, 'THIRD-PARTY.md'))
  const fixed = [
    '--sort=name',
    `--mtime=@${epoch}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=ustar',
  ]
  const archive = join(out, `poterne-${version}-${target}.tar`)
  run(['tar', ...fixed, '--mode=u=rwX,go=rX', '-C', folder, '-cf', archive, '.'])
  // Blocks of a fixed size, so that the bytes do not depend on the number of processors.
  run(['xz', '-6', '--threads=2', '--block-size=32MiB', '--force', archive])
  const packed = Bun.zstdCompressSync(readFileSync(executable), { level: 9 })
  writeFileSync(join(out, `poterne-${version}-${target}.zst`), packed)
}

/** Writes the file that `poterne upgrade` reads: where each executable is, relative to POTERNE_RELEASE_URL. */
function writeIndex(): void {
  const base = process.env.POTERNE_RELEASE_URL ?? out
  const names = Object.keys(targets) as TargetName[]
  const offers = names.map((target) => {
    const file = `poterne-${version}-${target}.zst`
    const bytes = readFileSync(join(out, file))
    return [target, { url: `${base}/${file}`, sha256: hashOf(bytes), size: bytes.byteLength }]
  })
  const expires = new Date(Number(epoch) * 1000 + INDEX_DAYS * DAY_MS).toISOString()
  const index = { version, expires, targets: Object.fromEntries(offers) }
  writeFileSync(join(out, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
}

function writeSums(): void {
  const files = readdirSync(out).filter((file) => statSync(join(out, file)).isFile())
  const lines = files.sort().map((file) => `${hashOf(readFileSync(join(out, file)))}  ${file}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}

/** The emulated executable loads the libraries of the image. The oldest processor that Bun supports has no AVX. */
async function tryExecutables(): Promise<void> {
  const image = join(work, 'debian/arm64/image')
  mkdirSync(image, { recursive: true })
  for (const folder of unpackPackages('arm64', join(work, 'debian'))) run(['cp', '-a', `${folder}/.`, image])
  const trials: [what: string, architecture: string, emulator: string[]][] = [
    ['linux-x64', 'amd64', []],
    ['linux-x64 on a processor of 2008', 'amd64', ['qemu-x86_64-static', '-cpu', 'Nehalem']],
    ['linux-arm64', 'arm64', ['qemu-aarch64-static', '-L', image]],
  ]
  for (const [what, architecture, emulator] of trials) {
    const executable = executables[architecture] as string
    await timed(`trial of ${what}`, () => tryExecutable({ executable, emulator, version }))
  }
}

const hashOf = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const database = await timed('embedded database', prepareDatabase)
const executables: Record<string, string> = {}
for (const target of Object.keys(targets) as TargetName[]) {
  const executable = await timed(`executable for ${target}`, () => build(target, database))
  await timed(`packed for ${target}`, () => pack(target, executable))
  const { debian } = targets[target]
  if (debian !== null) executables[debian] = executable
}
copyFileSync(join(dist, 'poterne.cdx.json'), join(out, `poterne-${version}.cdx.json`))
copyFileSync(join(dist, 'THIRD-PARTY.md'), join(out, 'THIRD-PARTY.md'))
const manuals = join(work, 'manuals')
await timed('man page and completions', () => writeManuals(manuals, new Date(Number(epoch) * 1000)))
for (const [architecture, executable] of Object.entries(executables)) {
  const licences = join(dist, 'THIRD-PARTY.md')
  await timed(`package for ${architecture}`, () =>
    makeDebianPackage({ executable, architecture, epoch, manuals, licences, out }),
  )
}
await timed('container image', () =>
  makeImage({ executables, commit, epoch: Number(epoch), work: join(work, 'debian'), out }),
)
await tryExecutables()
writeIndex()
writeSums()
if (key === null) console.log('POTERNE_RELEASE_KEY is not set: nothing was signed')
else for (const file of ['index.json', 'SHA256SUMS']) sign(join(out, file), key, version)
console.log(
  `dist/release: poterne ${version}, built for darwin-arm64 too, which was not run and is not notarised`,
)
