/**
 * A sealed file: a line that names the format, a line of JSON about the key, and then chunks of 64 KiB, each sealed
 * with AES-256-GCM. It follows the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár 2015), which age and Tink
 * use as well. The nonce is the number of the chunk and a byte that marks the last one, and every chunk is bound to the
 * header. So no chunk can be changed, moved, left out or cut off without notice, whatever the size of the file, and
 * nothing is given out before it was authenticated.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { type BackupKey, findFileKey, type KeyHeader, makeFileKey } from './keys.ts'
import { BackupRefused, cannotWrite } from './refused.ts'

const MAGIC = 'poterne backup '
const FORMAT = 1
const CHUNK = 64 * 1024
const TAG = 16
const MAXIMUM_HEADER = 4096

function nonceOf(number: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

export type SealedWriter = Awaited<ReturnType<typeof createSealedFile>>

/** Makes the file, which must not exist, for its owner alone. It and its functions throw BackupRefused. */
export async function createSealedFile(path: string, key: BackupKey) {
  const { fileKey, header } = makeFileKey(key)
  const clear = Buffer.from(`${MAGIC}${FORMAT}\n${JSON.stringify(header)}\n`)
  const refuse = (error: unknown) => {
    throw cannotWrite(error)
  }
  const file = await open(path, 'wx', 0o600).catch(refuse)
  let waiting: Uint8Array[] = [clear]
  let waitingBytes = 0
  const chunk = Buffer.alloc(CHUNK)
  let filled = 0
  let number = 0

  async function flush(): Promise<void> {
    const bytes = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    await file.writeFile(bytes).catch(refuse)
  }
  async function seal(isLast: boolean): Promise<void> {
    const cipher = createCipheriv('aes-256-gcm', fileKey, nonceOf(number, isLast)).setAAD(clear)
    const sealed = [cipher.update(chunk.subarray(0, filled)), cipher.final(), cipher.getAuthTag()]
    number += 1
    filled = 0
    waiting.push(...sealed)
    waitingBytes += CHUNK
    if (waitingBytes >= 16 * CHUNK) await flush()
  }
  return {
    async write(bytes: Uint8Array): Promise<void> {
      for (let at = 0; at < bytes.length; ) {
        // A full chunk is sealed only when more follows, since the last one is marked.
        if (filled === CHUNK) await seal(false)
        const taken = bytes.subarray(at, at + CHUNK - filled)
        chunk.set(taken, filled)
        filled += taken.length
        at += taken.length
      }
    },
    /** Seals the last chunk; the file is on the disk when it returns. */
    async end(): Promise<void> {
      await seal(true)
      await flush()
      await file.sync().catch(refuse)
    },
    /** Closes the file, whatever is in it. */
    close: () => file.close(),
  }
}

/**
 * Opens the file so that it can be read more than once, also by a process that may not open it any more. Throws
 * BackupRefused.
 */
export async function openSealedFile(path: string): Promise<FileHandle> {
  const refuse = (error: NodeJS.ErrnoException) => {
    throw new BackupRefused(`cannot be read (${error.code})`)
  }
  // It is read twice, and a pipe that nobody writes to would be waited for.
  const found = await stat(path).catch(refuse)
  if (!found.isFile()) throw new BackupRefused('is no file')
  return open(path, 'r').catch(refuse)
}

/**
 * The content, chunk by chunk, of a path or of a file that stays open. Throws BackupRefused for a file that is none, is
 * newer, damaged, or sealed otherwise.
 */
export async function* readSealedFile(
  source: string | FileHandle,
  keys: readonly BackupKey[],
): AsyncGenerator<Uint8Array> {
  const file = typeof source === 'string' ? await openSealedFile(source) : source
  try {
    const start = Buffer.alloc(MAXIMUM_HEADER)
    const { bytesRead } = await file.read(start, 0, MAXIMUM_HEADER, 0)
    const { header, clear } = parseHeader(start.subarray(0, bytesRead))
    const fileKey = findFileKey(header, keys)
    const { size } = await file.stat()
    const block = Buffer.alloc(16 * (CHUNK + TAG))
    let position = clear.length
    let number = 0
    while (position < size) {
      const { bytesRead: got } = await file.read(block, 0, block.length, position)
      if (got === 0) break
      position += got
      for (let at = 0; at < got; at += CHUNK + TAG) {
        const sealed = block.subarray(at, Math.min(at + CHUNK + TAG, got))
        const isLast = position >= size && at + CHUNK + TAG >= got
        yield openChunk(fileKey, sealed, { number, isLast, clear })
        number += 1
      }
    }
    if (number === 0) throw new BackupRefused('is damaged or cut off')
  } finally {
    if (typeof source === 'string') await file.close()
  }
}

function openChunk(
  fileKey: Uint8Array,
  sealed: Uint8Array,
  { number, isLast, clear }: { number: number; isLast: boolean; clear: Uint8Array },
): Uint8Array {
  try {
    const decipher = createDecipheriv('aes-256-gcm', fileKey, nonceOf(number, isLast)).setAAD(clear)
    decipher.setAuthTag(sealed.subarray(-TAG))
    const content = decipher.update(sealed.subarray(0, -TAG))
    decipher.final()
    return content
  } catch {
    throw new BackupRefused('is damaged or cut off')
  }
}

function parseHeader(start: Buffer): { header: KeyHeader; clear: Uint8Array } {
  const firstEnd = start.indexOf('\n')
  const first = firstEnd < 0 ? '' : start.toString('latin1', 0, firstEnd)
  if (!first.startsWith(MAGIC) || !/^\d+$/.test(first.slice(MAGIC.length)))
    throw new BackupRefused('is no backup of poterne')
  if (Number(first.slice(MAGIC.length)) > FORMAT)
    throw new BackupRefused('was made by a newer poterne: restore it with that version')
  const secondEnd = start.indexOf('\n', firstEnd + 1)
  const header = parseKeyHeader(start.toString('utf8', firstEnd + 1, Math.max(secondEnd, 0)))
  if (secondEnd < 0 || header === null) throw new BackupRefused('is damaged or cut off')
  return { header, clear: Buffer.from(start.subarray(0, secondEnd + 1)) }
}

function parseKeyHeader(text: string): KeyHeader | null {
  try {
    const header = JSON.parse(text) as KeyHeader
    const isHex = (value: unknown) => typeof value === 'string' && /^([\da-f]{2})+$/.test(value)
    const isKnown = header.key === 'secret' || header.key === 'passphrase'
    const isCost = header.scrypt === undefined || (Number.isInteger(header.scrypt) && header.scrypt > 0)
    return isKnown && isCost && isHex(header.salt) && isHex(header.check) ? header : null
  } catch {
    return null
  }
}
