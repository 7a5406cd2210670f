/**
 * Builds dist/poterne, an executable that needs no other file: `bun scripts/build.ts [--target linux-arm64] [--out
 * FILE]`. POTERNE_PREPARED_DATABASE names the archive of the embedded database to put inside instead of a new one,
 * which makes two builds of one commit the same bytes. POTERNE_RELEASE_KEYS holds the public keys (minisign) that
 * `poterne upgrade` believes, with a comma between them. Identifiers keep their names (no `--minify`), because the
 * router reads the parameters of handlers from their source.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import manifest from '../package.json'
import { findArgon2Addon } from '../src/platform/bundled/argon2-packages.ts'
import { assetPaths } from '../src/platform/bundled/paths.ts'
import {
  billOfMaterials,
  bundledPackages,
  type Component,
  postgresComponent,
  runtimeComponents,
  thirdPartyPage,
} from './lib/inventory.ts'
import { timed } from './lib/shell.ts'
import { installTarget, isTarget, modulesOf, type TargetName, targets } from './lib/targets.ts'

const root = join(import.meta.dir, '..')
const dist = join(root, 'dist')

const { values: options } = parseArgs({ options: { target: { type: 'string' }, out: { type: 'string' } } })
const outfile = options.out ? resolve(options.out) : join(dist, 'poterne')

/** The files that the prepared database directory depends on; making it takes seconds and a gigabyte of memory. */
const archiveSources = [
  'drizzle/**/*.sql',
  'scripts/prepare-embedded.ts',
  'src/platform/postgres/*.ts',
  'src/storage/embedded/*.ts',
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
  const given = process.env.POTERNE_PREPARED_DATABASE
  // The names of chunks depend on the paths of the files: from another place, the same archive would give other bytes.
  if (given) {
    const copy = join(dist, 'given-database.tar.zst')
    if (resolve(given) !== copy) copyFileSync(given, copy)
    return copy
  }
  const archive = join(dist, `embedded-${await hashOf(archiveSources)}.tar.zst`)
  if (existsSync(archive)) return archive
  for (const file of new Glob('embedded-*').scanSync({ cwd: dist })) rmSync(join(dist, file))
  const write = `const { prepareEmbedded } = await import('./scripts/prepare-embedded.ts')
    await Bun.write(${JSON.stringify(`${archive}.partial`)}, await prepareEmbedded())`
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
async function assetModule(
  database: string,
  inventory: Inventory,
  target: TargetName | null,
): Promise<string> {
  const names = Object.keys(assetPaths) as (keyof typeof assetPaths)[]
  const copies = await Promise.all(names.map((name) => compressed(assetPaths[name])))
  const files = [...copies, database, inventory.billOfMaterials, inventory.licences]
  const imports = files.map(
    (file, index) => `import file${index} from ${JSON.stringify(file)} with { type: 'file' }`,
  )
  const own = copies.length
  const addon = argon2Addon(target)
  if (addon !== null) imports.push(`import addon from ${JSON.stringify(addon)} with { type: 'file' }`)
  return `${imports.join('\n')}
    export const assetPaths = { ${names.map((name, index) => `${name}: file${index}`).join(', ')} }
    export const preparedDatabasePath = file${own}
    export const argon2AddonPath = ${addon === null ? 'null' : 'addon'}
    export const inventoryPaths = { billOfMaterials: file${own + 1}, licences: file${own + 2} }`
}

/** The addon of the target, in the version of bun.lock; null on a machine for which there is none: there Bun verifies. */
function argon2Addon(target: TargetName | null): string | null {
  if (target === null) return findArgon2Addon(`${process.platform}-${process.arch}`)
  const addon = findArgon2Addon(target, modulesOf(target))
  if (addon === null) throw new Error(`@node-rs/argon2 has no addon for ${target}`)
  return addon
}

interface Inventory {
  billOfMaterials: string
  licences: string
}

/** Bundles once without compiling, to learn which packages are inside, and writes what the executable says of them. */
async function takeInventory(target: TargetName | null): Promise<Inventory> {
  const { metafile } = await Bun.build({ ...bundling, metafile: true })
  const addon = argon2Addon(target)
  const inputs = [...Object.keys(metafile?.inputs ?? {}), ...(addon ? [relative(root, addon)] : [])]
  const components: Component[] = [
    ...(await bundledPackages(inputs)),
    ...runtimeComponents(),
    await postgresComponent(assetPaths.pgliteWasm),
  ]
  const written = { billOfMaterials: join(dist, 'poterne.cdx.json'), licences: join(dist, 'THIRD-PARTY.md') }
  await Bun.write(written.billOfMaterials, billOfMaterials(components, commitOf()))
  await Bun.write(written.licences, thirdPartyPage(components))
  return {
    billOfMaterials: await compressed(written.billOfMaterials),
    licences: await compressed(written.licences),
  }
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
const commitOf = () => process.env.COMMIT || askGit('rev-parse', '--short=7', 'HEAD') || 'unknown'

/** It returns null without git, and outside of a checkout. */
function askGit(...command: string[]): string | null {
  try {
    const { stdout, exitCode } = Bun.spawnSync(['git', ...command], { cwd: root })
    return exitCode === 0 ? stdout.toString().trim() || null : null
  } catch {
    return null
  }
}

/** The time of the commit, so that two builds of one commit are the same bytes; SOURCE_DATE_EPOCH where git is absent. */
function builtAt(): string {
  const epoch = process.env.SOURCE_DATE_EPOCH ?? askGit('log', '-1', '--format=%ct')
  const seconds = Number(epoch ?? Math.floor(Date.now() / 1000))
  return new Date(seconds * 1000).toISOString()
}

const bundling: Bun.BuildConfig = {
  entrypoints: [join(root, 'src/main.ts'), join(root, 'src/storage/embedded/thread-entry.ts')],
  target: 'bun',
  format: 'esm',
  splitting: true,
}

async function compile(
  assets: string,
  target: TargetName | null,
  executablePath: string | null,
): Promise<void> {
  const replacement = replaceAssetPaths(assets)
  const partial = `${outfile}.partial`
  const runtime = target &&
    executablePath && { target: targets[target].runtime as Bun.Build.CompileTarget, executablePath }
  await Bun.build({
    ...bundling,
    bytecode: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: {
      'process.env.NODE_ENV': '"production"',
      POTERNE_RELEASE_KEYS: JSON.stringify(process.env.POTERNE_RELEASE_KEYS ?? ''),
      POTERNE_COMMIT: JSON.stringify(commitOf()),
      POTERNE_BUILT_AT: JSON.stringify(builtAt()),
      // pino, thread-stream and ioredis hold the path of the checkout otherwise, and two builds would differ.
      __dirname: '"/poterne"',
    },
    plugins: [replacement],
    compile: { ...runtime, outfile: partial, autoloadDotenv: false, autoloadBunfig: false },
  })
  replacement.check()
  // One step: a running poterne keeps its file, and an interrupted build leaves no file that looks finished.
  renameSync(partial, outfile)
}

const { target = null } = options
if (target !== null && !isTarget(target)) {
  console.error(`unknown target ${target}: expected one of ${Object.keys(targets).join(', ')}`)
  process.exit(2)
}
mkdirSync(dist, { recursive: true })
const runtimePath = target && installTarget(target)
const database = await timed('embedded database', prepareDatabase)
const inventory = await timed('inventory', () => takeInventory(target))
const assets = await timed('bundled assets', () => assetModule(database, inventory, target))
await timed('executable', () => compile(assets, target, runtimePath))
const mebibytes = (file: string) => `${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`
console.log(
  `${outfile} ${manifest.version}: ${mebibytes(outfile)}, of which embedded database ${mebibytes(database)}`,
)
