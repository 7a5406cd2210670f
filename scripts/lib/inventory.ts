/**
 * The list of everything inside the executable: the packages that Bun put into the bundle, the runtime, and PostgreSQL.
 * Written as CycloneDX 1.6 (ECMA-424) for programs, and as one page with every licence for people.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'

const root = join(import.meta.dir, '../..')

export interface Component {
  name: string
  version: string
  /** An SPDX expression. */
  licence: string
  /** The whole text. */
  text: string
  /** The package URL, where a registry has it. */
  purl: string | null
  /** SHA-512 in base64, as the lock file has it. */
  integrity: string | null
}

interface RuntimePart {
  key: keyof typeof process.versions
  licence: string
  /** The file in scripts/licences that holds the text, which has to come with the executable. */
  text?: string
}

/** Names and versions of what Bun consists of that have a licence of their own; the rest is covered by Bun's. */
const runtimeParts: Record<string, RuntimePart> = {
  'JavaScriptCore (WebKit)': {
    key: 'webkit' as never,
    licence: 'LGPL-2.0-or-later AND BSD-2-Clause',
    text: 'LGPL-2.0.txt',
  },
  BoringSSL: { key: 'boringssl' as never, licence: 'Apache-2.0' },
  mimalloc: { key: 'mimalloc' as never, licence: 'MIT' },
  uWebSockets: { key: 'uwebsockets' as never, licence: 'Apache-2.0' },
  zlib: { key: 'zlib', licence: 'Zlib' },
  zstd: { key: 'zstd' as never, licence: 'BSD-3-Clause' },
  'c-ares': { key: 'ares' as never, licence: 'MIT' },
  libarchive: { key: 'libarchive' as never, licence: 'BSD-2-Clause' },
  ICU: { key: 'icu' as never, licence: 'Unicode-3.0' },
  SQLite: { key: 'sqlite' as never, licence: 'blessing' },
  TinyCC: { key: 'tinycc' as never, licence: 'LGPL-2.1-or-later', text: 'LGPL-2.1.txt' },
}

const RELINKING = `The executable contains JavaScriptCore, which is part of WebKit, under version 2 of the GNU Library General Public
License, and TinyCC, under version 2.1 of the GNU Lesser General Public License. Both texts follow below, each with its
library. Their sources, at the commits named here, and the scripts that build and link Bun with them are at
https://github.com/oven-sh/WebKit, https://github.com/oven-sh/tinycc and https://github.com/oven-sh/bun. To relink: build
Bun with your own copy of these libraries, then build poterne with that Bun (\`bun run build\` in poterne's sources);
nothing in poterne prevents it.`

/** One component for each folder of node_modules from which Bun took a file. `inputs` are the paths of the metafile. */
export async function bundledPackages(inputs: string[]): Promise<Component[]> {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== null))
  const lock = await Bun.file(join(root, 'bun.lock')).text()
  const found = await Promise.all([...folders].map((folder) => readPackage(join(root, folder), lock)))
  const byName = new Map(found.map((component) => [`${component.name}@${component.version}`, component]))
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** `node_modules/a/node_modules/@b/c/lib/d.js` → `node_modules/a/node_modules/@b/c`. */
function packageFolder(path: string): string | null {
  const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)
  return match ? (match[1] as string) : null
}

async function readPackage(folder: string, lock: string): Promise<Component> {
  const about = await Bun.file(join(folder, 'package.json')).json()
  const { name, version } = about as { name: string; version: string }
  const licence = typeof about.license === 'string' ? about.license : (about.license?.type ?? 'MIT')
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry))
  const text = file ? await Bun.file(join(folder, file)).text() : `${name} is under the licence ${licence}.`
  const escaped = `${name}@${version}`.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  const integrity = new RegExp(`"${escaped}",.*"(sha512-[^"]+)"`).exec(lock)?.[1] ?? null
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { name, version, licence, text: text.trim(), purl, integrity }
}

export function runtimeComponents(): Component[] {
  const versions = process.versions as Record<string, string | undefined>
  const bun: Component = {
    name: 'Bun',
    version: Bun.version,
    licence: 'MIT',
    text: `Bun is under the MIT licence, Copyright (c) Oven and its contributors: https://github.com/oven-sh/bun\n\n${RELINKING}`,
    purl: `pkg:npm/bun@${Bun.version}`,
    integrity: null,
  }
  const parts = Object.entries(runtimeParts).map(([name, { key, licence, text }]) => ({
    name,
    version: versions[key] ?? 'unknown',
    licence,
    text: [`A part of Bun, under ${licence}.`, ...(text ? [readLicence(text)] : [])].join('\n\n'),
    purl: null,
    integrity: null,
  }))
  return [bun, ...parts]
}

const readLicence = (file: string): string =>
  readFileSync(join(root, 'scripts/licences', file), 'utf8').trimEnd()

/** The engine of the embedded database, which PGlite compiled to WebAssembly. It says its version itself. */
export async function postgresComponent(wasm: string): Promise<Component> {
  const text = new TextDecoder('latin1').decode(await Bun.file(wasm).bytes())
  const version = /PostgreSQL (\d+\.\d+)/.exec(text)?.[1]
  if (version === undefined) throw new Error('pglite.wasm does not say its version of PostgreSQL')
  return {
    name: 'PostgreSQL',
    version,
    licence: 'PostgreSQL',
    text: 'PostgreSQL is under the PostgreSQL License, Copyright (c) The PostgreSQL Global Development Group: https://www.postgresql.org/about/licence/',
    purl: null,
    integrity: null,
  }
}

/** A bill of materials in CycloneDX 1.6. It holds no time and no random number: two builds of one commit are the same. */
export function billOfMaterials(components: Component[], commit: string): string {
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': 'poterne',
        name: manifest.name,
        version: manifest.version,
        licenses: [{ license: { id: manifest.license } }],
        properties: [{ name: 'poterne:commit', value: commit }],
      },
    },
    components: components.map(({ name, version, licence, purl, integrity }) => ({
      type: 'library',
      'bom-ref': purl ?? `${name}@${version}`,
      name,
      version,
      licenses: [/ (AND|OR|WITH) /.test(licence) ? { expression: licence } : { license: { id: licence } }],
      ...(purl && { purl }),
      ...(integrity && { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] }),
    })),
    dependencies: [
      {
        ref: 'poterne',
        dependsOn: components.map(({ name, version, purl }) => purl ?? `${name}@${version}`),
      },
    ],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

const hexOf = (integrity: string) => Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')

/** Every licence text, as `poterne licenses` prints it. */
export function thirdPartyPage(components: Component[]): string {
  const own = `poterne ${manifest.version} is under the ${manifest.license} licence. It contains the work of others, whose licences follow.`
  const parts = components.map(
    ({ name, version, licence, text }) => `## ${name} ${version} (${licence})\n\n${text}`,
  )
  return `# Licences of what poterne contains\n\n${own}\n\n${parts.join('\n\n')}\n`
}
