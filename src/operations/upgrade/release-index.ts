/** The signed index of releases: which version is the newest, and where its executables are. */
import { readFile } from 'node:fs/promises'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isAddress, isHttpsOrLoopback } from '../../platform/config/formats.ts'
import { readBounded } from '../../platform/read-bounded.ts'
import { isSignedBy, type PublicKey } from './minisign.ts'

/** The message is one line that says what is wrong and what to do. */
export class UpgradeRefused extends Error {
  override name = 'UpgradeRefused'
}

const downloadSchema = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2048 }),
  /** The hash of the file at `url`, in hexadecimal. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** The size in bytes. */
  size: Type.Integer({ minimum: 1, maximum: 512 * 2 ** 20 }),
})
const indexSchema = Type.Object({
  version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
  /** RFC 3339. */
  expires: Type.String(),
  targets: Type.Record(Type.String(), downloadSchema),
})

export type Download = Static<typeof downloadSchema>
export type ReleaseIndex = Omit<Static<typeof indexSchema>, 'expires'> & { expires: Date }

const LARGEST_INDEX = 64 * 1024
const LARGEST_SIGNATURE = 4096
const TIMEOUT_MS = 30_000

/**
 * Reads the index and the signature beside it (`.minisig`). `location` is an https URL, an http URL on loopback, or a
 * file. Throws UpgradeRefused where it cannot be read or no key signed it; an index that expired is returned.
 */
export async function readIndex(location: string, keys: PublicKey[]): Promise<ReleaseIndex> {
  if (keys.length === 0) {
    throw new UpgradeRefused(
      'this executable knows no key of a release, because it was built without one: build it again, or install a released file',
    )
  }
  const content = await readSmall(location, LARGEST_INDEX)
  const signature = await readSmall(`${location}.minisig`, LARGEST_SIGNATURE)
  if (!isSignedBy(keys, content, new TextDecoder().decode(signature))) {
    throw new UpgradeRefused(
      `${location} is not signed by a key that this executable knows: nothing was changed`,
    )
  }
  const index = parseIndex(content)
  if (index === null) throw new UpgradeRefused(`${location} is signed, but it is no index of releases`)
  return index
}

function parseIndex(content: Uint8Array): ReleaseIndex | null {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(content))
    if (!Value.Check(indexSchema, parsed)) return null
    const expires = new Date(parsed.expires)
    return Number.isNaN(expires.getTime()) ? null : { ...parsed, expires }
  } catch {
    return null
  }
}

function readSmall(location: string, largest: number): Promise<Uint8Array> {
  const tooLarge = () => new UpgradeRefused(`${location} is larger than ${largest} bytes`)
  return readBounded(openLocation(location), largest, tooLarge)
}

/** The bytes at an https URL, an http URL on loopback, or of a file. No redirect leads to anything less safe. */
export async function* openLocation(location: string): AsyncGenerator<Uint8Array> {
  if (!isAddress(location)) {
    yield* fileChunks(location)
    return
  }
  const url = new URL(location)
  if (url.protocol === 'file:') {
    yield* fileChunks(url.pathname)
    return
  }
  requireSafe(url, location)
  const answer = await fetch(url, { redirect: 'follow', signal: AbortSignal.timeout(TIMEOUT_MS * 20) }).catch(
    (error: unknown) => {
      throw new UpgradeRefused(
        `${location} cannot be read: ${error instanceof Error ? error.message : error}`,
      )
    },
  )
  requireSafe(new URL(answer.url), location)
  if (!answer.ok || answer.body === null) throw new UpgradeRefused(`${location} answered ${answer.status}`)
  yield* answer.body
}

function requireSafe(url: URL, location: string): void {
  if (isHttpsOrLoopback(url)) return
  throw new UpgradeRefused(`${location}: expected https, http on loopback, or a file`)
}

async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new UpgradeRefused(`${path} cannot be read (${error.code ?? error.message})`)
  })
  yield content
}
