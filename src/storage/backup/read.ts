/** Reads a sealed backup: checks all of it, or gives the rows of its parts. */
import type { FileHandle } from 'node:fs/promises'
import { isDeepStrictEqual, promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { BackupKey } from './keys.ts'
import { type Manifest, parseManifest, parsePart } from './manifest.ts'
import { readRecords, recordKinds } from './records.ts'
import { BackupRefused } from './refused.ts'
import { readSealedFile } from './sealed-file.ts'

const LINE_FEED = 10
const TAB = 9

interface BackupPart {
  name: string
  columns: string[]
  /** To be read to its end before the next part is asked for. */
  blocks: AsyncIterable<Uint8Array>
}

/** The parts in their order, then the manifest. */
export async function* readParts(
  source: string | FileHandle,
  keys: readonly BackupKey[],
): AsyncGenerator<{ part: BackupPart } | { manifest: Manifest }> {
  const records = readRecords(readSealedFile(source, keys))
  let { value: record, done } = await records.next()
  async function* blocks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      ;({ value: record, done } = await records.next())
      if (done || record.kind !== recordKinds.block) return
      yield await decompress(record.payload)
    }
  }
  try {
    while (!done) {
      const { kind, payload } = record
      if (kind === recordKinds.manifest) {
        // Reads to the end first: only then was the last chunk authenticated as the last.
        if (!(await records.next()).done)
          throw new BackupRefused('is damaged: something follows its manifest')
        yield { manifest: parseManifest(payload) }
        return
      }
      if (kind !== recordKinds.part) throw new BackupRefused('is damaged: a part is missing')
      yield { part: { ...parsePart(payload), blocks: blocks() } }
    }
  } finally {
    await records.return(undefined)
  }
  throw new BackupRefused('is damaged: it has no manifest')
}

/** A block holds less than 2 MiB; one that gives more was made to fill the memory. */
const DECOMPRESSED = { maxOutputLength: 8 * 1024 * 1024, chunkSize: 1024 * 1024 }
const decompressAtMost = promisify(zstdDecompress)

async function decompress(payload: Uint8Array): Promise<Uint8Array> {
  try {
    return await decompressAtMost(payload, DECOMPRESSED)
  } catch {
    throw new BackupRefused('is damaged: a block cannot be decompressed')
  }
}

/** Reads every part back, parses its rows, and compares counts and hashes with the manifest. Throws BackupRefused. */
export async function verifyBackup(
  source: string | FileHandle,
  keys: readonly BackupKey[],
  onBytes: (bytes: number) => void = () => {},
): Promise<Manifest> {
  const found: Manifest['parts'] = []
  let read = 0
  for await (const item of readParts(source, keys)) {
    if ('manifest' in item) {
      compare(found, item.manifest)
      return item.manifest
    }
    const { name, columns, blocks } = item.part
    const hash = new Bun.CryptoHasher('sha256')
    const rows = createRowCounter(columns.length)
    let bytes = 0
    for await (const block of blocks) {
      hash.update(block)
      rows.add(block)
      bytes += block.length
      read += block.length
      onBytes(read)
    }
    found.push({ name, columns, rows: rows.end(), bytes, sha256: hash.digest('hex') })
  }
  throw new BackupRefused('is damaged: it has no manifest')
}

function compare(found: Manifest['parts'], { parts }: Manifest): void {
  if (found.length !== parts.length) throw new BackupRefused('is damaged: a part is missing')
  for (const [index, part] of parts.entries()) {
    if (!isDeepStrictEqual(found[index], part))
      throw new BackupRefused(`is damaged: its part ${part.name} is not the one of its manifest`)
  }
}

/** The bound of one row; rows of poterne have a few kilobytes. */
const MAXIMUM_ROW_BYTES = 8 * 1024 * 1024

/** Counts rows, each of which must have that many fields. */
function createRowCounter(columns: number) {
  let [rows, tabs, unfinished] = [0, 0, 0]
  return {
    add(block: Uint8Array) {
      for (let at = 0; at < block.length; at++) {
        const byte = block[at]
        if (byte === TAB) tabs += 1
        else if (byte === LINE_FEED) {
          rows += 1
          if (tabs !== columns - 1) throw new BackupRefused('is damaged: a row lacks fields')
          tabs = 0
        }
      }
      const end = block.lastIndexOf(LINE_FEED) + 1
      unfinished = block.length - end + (end === 0 ? unfinished : 0)
      if (unfinished > MAXIMUM_ROW_BYTES) throw new BackupRefused('is damaged: a row is too long')
    },
    end(): number {
      if (unfinished > 0) throw new BackupRefused('is damaged: a row is cut off')
      return rows
    },
  }
}
