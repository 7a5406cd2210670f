/** The last steps of a release: the executables for `poterne upgrade`, the index that offers them, sums and signatures. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ReleaseKey, sign } from './signing.ts'

export interface Release {
  version: string
  /** The folder of what is published. */
  out: string
}

/** The days for which the index of a release is believed. */
const INDEX_DAYS = 180
const DAY_MS = 86_400_000

const packedName = (version: string, target: string) => `poterne-${version}-${target}.zst`

/** Writes the executable alone, as `poterne upgrade` takes it. */
export function packExecutable({ version, out }: Release, target: string, executable: string): void {
  const packed = Bun.zstdCompressSync(readFileSync(executable), { level: 9 })
  writeFileSync(join(out, packedName(version, target)), packed)
}

/** Writes the file that `poterne upgrade` reads: where each executable is, relative to POTERNE_RELEASE_URL. */
export function writeIndex({ version, out }: Release, names: string[], madeAt: Date): void {
  const base = process.env.POTERNE_RELEASE_URL ?? out
  if (base === out) console.log('POTERNE_RELEASE_URL is not set: the index names files of this machine')
  const offers = names.map((target) => {
    const file = packedName(version, target)
    const bytes = readFileSync(join(out, file))
    return [target, { url: `${base}/${file}`, sha256: hashOf(bytes), size: bytes.byteLength }]
  })
  const expires = new Date(madeAt.getTime() + INDEX_DAYS * DAY_MS).toISOString()
  const index = { version, expires, targets: Object.fromEntries(offers) }
  writeFileSync(join(out, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
}

/** Signs both lists. It comes last, since SHA256SUMS names every file, those of the image's folder too. */
export function sumAndSign({ version, out }: Release, key: ReleaseKey | null): void {
  const files = (readdirSync(out, { recursive: true }) as string[]).filter((file) =>
    statSync(join(out, file)).isFile(),
  )
  const lines = files.sort().map((file) => `${hashOf(readFileSync(join(out, file)))}  ${file}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
  if (key === null) console.log('POTERNE_RELEASE_KEY is not set: nothing was signed')
  else for (const file of ['index.json', 'SHA256SUMS']) sign(join(out, file), key, version)
}

const hashOf = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
