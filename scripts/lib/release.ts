/**
 * Makes dist/release/: see scripts/release. Every step prints one line. `--rehearse EXECUTABLE` tries, packs, indexes,
 * sums and signs one that is there already, into dist/release-rehearsal/, so that a test can run these steps.
 */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../../package.json'
import { pinPackages, unpackPackages } from './debian-files.ts'
import { makeDebianPackage } from './debian-package.ts'
import { makeImage } from './image.ts'
import { writeManuals } from './manuals.ts'
import { packExecutable, sumAndSign, writeIndex } from './offer.ts'
import { run, timed } from './shell.ts'
import { readReleaseKey } from './signing.ts'
import { type TargetName, targets } from './targets.ts'
import { tryExecutable } from './trial.ts'

const root = join(import.meta.dir, '../..')
const dist = join(root, 'dist')
const work = join(dist, 'release-work')
const { version } = manifest

const {
  values: given,
  positionals: [asked],
} = parseArgs({
  allowPositionals: true,
  options: {
    'pin-image-packages': { type: 'boolean' },
    rehearse: { type: 'string' },
  },
})
const out = join(dist, given.rehearse ? 'release-rehearsal' : 'release')
if (given['pin-image-packages']) {
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
  // That of a build is for its owner alone, and a web server could not offer it.
  chmodSync(kept, 0o644)
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
  // One thread takes 0.7 GB of memory and needs no blocks, which pack less well. Two take 1.5 GB.
  run(['xz', '-9', '--threads=1', '--force', archive])
  packExecutable({ version, out }, target, executable)
}

/** The client package as npm publishes it. */
function packClient(): void {
  run([process.execPath, 'scripts/build-client.ts'], { cwd: root })
  run(['npm', 'pack', '--pack-destination', out], { cwd: join(dist, 'client') })
}

/** The emulated executable loads the libraries of the image. The oldest processor that Bun supports has no AVX. */
async function tryExecutables(executables: Record<string, string>): Promise<void> {
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

async function makeEverything(): Promise<TargetName[]> {
  const names = Object.keys(targets) as TargetName[]
  const database = await timed('embedded database', prepareDatabase)
  const built = new Map<TargetName, string>()
  for (const target of names)
    built.set(target, await timed(`executable for ${target}`, () => build(target, database)))
  const executables: Record<string, string> = {}
  for (const [target, executable] of built)
    if (targets[target].debian !== null) executables[targets[target].debian] = executable
  // An executable that fails ends the release before the slow steps.
  await tryExecutables(executables)
  for (const [target, executable] of built)
    await timed(`packed for ${target}`, () => pack(target, executable))
  copyFileSync(join(dist, 'poterne.cdx.json'), join(out, `poterne-${version}.cdx.json`))
  copyFileSync(join(dist, 'THIRD-PARTY.md'), join(out, 'THIRD-PARTY.md'))
  const manuals = join(work, 'manuals')
  await timed('man page and completions', () => writeManuals(manuals, new Date(Number(epoch) * 1000)))
  for (const [architecture, executable] of Object.entries(executables)) {
    const licences = join(dist, 'THIRD-PARTY.md')
    const file = await timed(`package for ${architecture}`, () =>
      makeDebianPackage({ executable, architecture, epoch, manuals, licences, out }),
    )
    await timed(`lintian for ${architecture}`, () =>
      run(['lintian', '--allow-root', '--fail-on', 'error,warning', file]),
    )
  }
  await timed('container image', () =>
    makeImage({ executables, commit, epoch: Number(epoch), work: join(work, 'debian'), out }),
  )
  return names
}

async function rehearse(executable: string): Promise<string[]> {
  const target = `${process.platform}-${process.arch}`
  await timed(`trial of ${target}`, () => tryExecutable({ executable, version }))
  packExecutable({ version, out }, target, executable)
  return [target]
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
await timed('client package', packClient)
const names = given.rehearse ? await rehearse(given.rehearse) : await makeEverything()
writeIndex({ version, out }, names, new Date(Number(epoch) * 1000))
sumAndSign({ version, out }, key)
console.log(`to publish the client package: npm publish ${out}/poterne-client-${version}.tgz --access public`)
if (!given.rehearse)
  console.log(
    `dist/release: poterne ${version}, built for darwin-arm64 too, which was not run and is not notarised`,
  )
