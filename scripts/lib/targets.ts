/** The targets of the build, and where the runtime of another processor comes from: the lock file pins them all. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

interface Target {
  /** The name that npm and Bun give the system and the processor. */
  os: string
  cpu: string
  /** The npm package that holds Bun for it. */
  runtime: string
  /**
   * The name that Debian and the registries of images give the processor; null if neither a package nor an image is
   * made.
   */
  debian: string | null
}

export const targets = {
  'linux-x64': { os: 'linux', cpu: 'x64', runtime: 'bun-linux-x64', debian: 'amd64' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', runtime: 'bun-linux-aarch64', debian: 'arm64' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64', runtime: 'bun-darwin-aarch64', debian: null },
} as const satisfies Record<string, Target>

export type TargetName = keyof typeof targets

export const isTarget = (name: string): name is TargetName => Object.hasOwn(targets, name)

/**
 * The folder in which the dependencies of a target are installed. It is null for this machine's own, in node_modules.
 */
export function modulesOf(target: TargetName | null): string {
  return target === null ? join(root, 'node_modules') : join(root, 'dist/targets', target, 'node_modules')
}

/**
 * Installs the dependencies of a target by bun.lock, which holds the hash of each package, into a folder of its own.
 * Returns the path of its runtime, which becomes the body of the executable.
 */
export function installTarget(name: TargetName): string {
  const { os, cpu, runtime } = targets[name]
  const folder = join(root, 'dist/targets', name)
  const program = join(folder, 'node_modules/@oven', runtime, 'bin/bun')
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'bun.lock', 'bunfig.toml'])
    copyFileSync(join(root, file), join(folder, file))
  const command = [
    process.execPath,
    'install',
    '--frozen-lockfile',
    '--ignore-scripts',
    '--os',
    os,
    '--cpu',
    cpu,
  ]
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder })
  if (exitCode !== 0 || !existsSync(program)) {
    throw new Error(`the runtime for ${name} could not be installed: ${stderr.toString().trim()}`)
  }
  return program
}
