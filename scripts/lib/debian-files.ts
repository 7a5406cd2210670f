/** Files of Debian's packages for the container image, each package by version and hash, for any processor. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './shell.ts'

const root = join(import.meta.dir, '../..')

/** The packages inside the image, beside poterne. The native addon that verifies passwords needs libgcc. */
const wanted = ['libc6', 'libgcc-s1', 'ca-certificates', 'tzdata', 'base-files']

interface Pinned {
  name: string
  version: string
  sha256: string
}

/** The keys are Debian's name of the processor. */
type PinnedPackages = Record<string, Pinned[]>

const listFile = join(root, 'scripts/lib/image-packages.json')

/** Returns the folders into which the packages were unpacked. Throws where Debian gives other bytes than the list says. */
export function unpackPackages(architecture: string, work: string): string[] {
  const pinned = (JSON.parse(readFileSync(listFile, 'utf8')) as PinnedPackages)[architecture] ?? []
  const apt = prepareApt(architecture, work)
  return pinned.map(({ name, version, sha256 }) => {
    const folder = join(work, architecture, name)
    const file = fetchPackage(apt, name, version, join(work, architecture))
    if (hashOf(file) !== sha256)
      throw new Error(`${name} ${version} (${architecture}) is not the file of image-packages.json`)
    mkdirSync(folder, { recursive: true })
    run(['dpkg-deb', '--extract', file, folder])
    return folder
  })
}

/** Writes the list anew, with what Debian has now. */
export function pinPackages(work: string): void {
  const pinned: PinnedPackages = {}
  for (const architecture of ['amd64', 'arm64']) {
    const apt = prepareApt(architecture, work)
    pinned[architecture] = wanted.map((name) => {
      const version = /^Version: (.*)$/m.exec(
        run(['apt-cache', ...apt, 'show', '--no-all-versions', name]),
      )?.[1] as string
      return { name, version, sha256: hashOf(fetchPackage(apt, name, version, join(work, architecture))) }
    })
  }
  writeFileSync(listFile, `${JSON.stringify(pinned, null, 2)}\n`)
}

/** A state of apt for another processor, which leaves that of the machine alone. Returns the options that select it. */
function prepareApt(architecture: string, work: string): string[] {
  const state = join(work, architecture, 'apt')
  for (const folder of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(state, folder), { recursive: true })
  writeFileSync(join(state, 'status'), '')
  const options = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures::=${architecture}`,
    `Dir::State::Lists=${state}/lists`,
    `Dir::Cache=${state}/cache`,
    `Dir::State::status=${state}/status`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option])
  if (!existsSync(join(state, 'updated'))) {
    run(['apt-get', ...options, 'update'])
    writeFileSync(join(state, 'updated'), '')
  }
  return options
}

function fetchPackage(apt: string[], name: string, version: string, folder: string): string {
  const before = run(['apt-get', ...apt, 'download', '--print-uris', `${name}=${version}`])
  const file = join(folder, /'[^']*' (\S+)/.exec(before)?.[1] as string)
  if (!existsSync(file)) run(['apt-get', ...apt, 'download', `${name}=${version}`], { cwd: folder })
  return file
}

function hashOf(file: string): string {
  return new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')
}
