/**
 * Builds dist/poterne, an executable that needs no other file; with `--target linux-arm64` one for that platform beside
 * it. Identifiers keep their names (no `--minify`), because the router reads the parameters of handlers from their source.
 */
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import manifest from '../package.json'
import { argon2Packages, findArgon2Addon } from '../src/platform/bundled/argon2-packages.ts'
import { assetPaths } from '../src/platform/bundled/paths.ts'

const root = join(import.meta.dir, '..')
const dist = join(root, 'dist')
const host = `${process.platform}-${process.arch}`
const target = readTarget()
const outfile = join(dist, target === host ? 'poterne' : `poterne-${target}`)

/** The files that the prepared database directory depends on; making it takes seconds and a gigabyte of memory. */
const archiveSources = [
  'drizzle/**/*.sql',
  'scripts/prepare-embedded.ts',
  'src/platform/postgres/*.ts',
  'package.json',
]

async function hashOf(patterns: string[]): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const pattern of patterns)
    for (const file of (await Array.fromAsync(new Glob(pattern).scan({ cwd: root }))).sort())
      hasher.update(`${file}\n`).update(await Bun.file(join(root, file)).bytes())
  return hasher.digest('hex').slice(0, 16)
}

/** Runs in a process of its own, so that its memory is free again when the executable is built. */
async function prepareDatabase(): Promise<string> {
  const archive = join(dist, `embedded-${await hashOf(archiveSources)}.tar.zst`)
  if (existsSync(archive)) return archive
  for (const file of new Glob('embedded-*').scanSync({ cwd: dist })) rmSync(join(dist, file))
  const write = `const { prepareEmbedded } = await import('./scripts/prepare-embedded.ts')
    await Bun.write(${JSON.stringify(`${archive}.partial`)}, Bun.zstdCompressSync(await prepareEmbedded(), { level: 19 }))`
  const made = Bun.spawn([process.execPath, '-e', write], { cwd: root, stdout: 'inherit', stderr: 'inherit' })
  if ((await made.exited) !== 0) throw new Error('the embedded database could not be prepared')
  renameSync(`${archive}.partial`, archive)
  return archive
}

/** Makes a compressed copy in dist/ if there is none of this version of the file. */
async function compressed(path: string): Promise<string> {
  const bytes = await Bun.file(path).bytes()
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 16)
  const copy = join(dist, `${basename(path)}-${hash}.zst`)
  if (existsSync(copy)) return copy
  for (const file of new Glob(`${basename(path)}-*.zst`).scanSync({ cwd: dist })) rmSync(join(dist, file))
  await Bun.write(`${copy}.partial`, Bun.zstdCompressSync(bytes, { level: 19 }))
  renameSync(`${copy}.partial`, copy)
  return copy
}

/** The module that replaces src/platform/bundled/paths.ts; compressed files have a third of the size. */
async function assetModule(database: string): Promise<string> {
  const names = Object.keys(assetPaths) as (keyof typeof assetPaths)[]
  const copies = await Promise.all(names.map((name) => compressed(assetPaths[name])))
  const imports = [...copies, database].map(
    (file, index) => `import file${index} from ${JSON.stringify(file)} with { type: 'file' }`,
  )
  const addon = argon2Addon()
  if (addon !== null) imports.push(`import addon from ${JSON.stringify(addon)} with { type: 'file' }`)
  return `${imports.join('\n')}
    export const assetPaths = { ${names.map((name, index) => `${name}: file${index}`).join(', ')} }
    export const preparedDatabasePath = file${copies.length}
    export const argon2AddonPath = ${addon === null ? 'null' : 'addon'}`
}

/** The platform to build for: the value of `--target`, or this machine's. */
function readTarget(): string {
  const { target = host } = parseArgs({ options: { target: { type: 'string' } } }).values
  if (target === host || target in argon2Packages) return target
  throw new Error(`no build for ${target}; there are: ${Object.keys(argon2Packages).join(', ')}`)
}

/** The addon of the target, in the version of bun.lock; null for a platform without one, where Bun verifies. */
function argon2Addon(): string | null {
  const addon = findArgon2Addon(target)
  if (addon !== null || !(target in argon2Packages)) return addon
  throw new Error(
    `@node-rs/argon2 is not installed for ${target}: bun install --frozen-lockfile --os='*' --cpu='*'`,
  )
}

/** `check` throws at the end of the build if the replaced module was never loaded. */
function replaceAssetPaths(contents: string): Bun.BunPlugin & { check(): void } {
  let replaced = false
  return {
    name: 'bundled assets',
    setup: (build) => {
      build.onLoad({ filter: /\/bundled\/paths\.ts$/ }, () => {
        replaced = true
        return { contents, loader: 'ts' }
      })
    },
    check() {
      if (!replaced)
        throw new Error('src/platform/bundled/paths.ts was not replaced by the compressed assets')
    },
  }
}

/** The commit in the variable COMMIT, or that of the working tree; an image is built where git and its history are absent. */
function commitOf(): string {
  if (process.env.COMMIT) return process.env.COMMIT
  try {
    const { stdout, exitCode } = Bun.spawnSync(['git', 'rev-parse', '--short=7', 'HEAD'], { cwd: root })
    return (exitCode === 0 && stdout.toString().trim()) || 'unknown'
  } catch {
    return 'unknown'
  }
}

async function compile(assets: string): Promise<void> {
  const replacement = replaceAssetPaths(assets)
  const partial = `${outfile}.partial`
  await Bun.build({
    entrypoints: [join(root, 'src/main.ts')],
    target: 'bun',
    format: 'esm',
    splitting: true,
    bytecode: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: {
      'process.env.NODE_ENV': '"production"',
      POTERNE_COMMIT: JSON.stringify(commitOf()),
      POTERNE_BUILT_AT: JSON.stringify(new Date().toISOString()),
    },
    plugins: [replacement],
    compile: {
      ...(target === host ? {} : { target: `bun-${target}` as Bun.Build.CompileTarget }),
      outfile: partial,
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  })
  replacement.check()
  // One step: a running poterne keeps its file, and an interrupted build leaves no file that looks finished.
  renameSync(partial, outfile)
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  console.log(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return result
}

mkdirSync(dist, { recursive: true })
const database = await timed('embedded database', prepareDatabase)
const assets = await timed('bundled assets', () => assetModule(database))
await timed('executable', () => compile(assets))
const mebibytes = (file: string) => `${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`
console.log(
  `${relative(root, outfile)} ${manifest.version}: ${mebibytes(outfile)}, of which embedded database ${mebibytes(database)}`,
)
