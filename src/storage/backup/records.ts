/** The inside of a sealed backup: records, each with its kind and its length. */
import { BackupRefused } from './refused.ts'

export const recordKinds = { part: 1, block: 2, manifest: 3 } as const
type RecordKind = (typeof recordKinds)[keyof typeof recordKinds]

/**
 * The bound of one record; a longer one is none that poterne wrote: a block has less than 2 MiB before it is
 * compressed.
 */
const MAXIMUM_BYTES = 8 * 1024 * 1024
const HEAD_BYTES = 5

export function encodeRecord(kind: RecordKind, payload: Uint8Array): Uint8Array[] {
  const head = Buffer.alloc(HEAD_BYTES)
  head[0] = kind
  head.writeUInt32BE(payload.length, 1)
  return [head, payload]
}

interface BackupRecord {
  kind: number
  payload: Uint8Array
}

export async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<BackupRecord> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  let wanted = HEAD_BYTES
  for await (const chunk of chunks) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < wanted) continue
    const joined = Buffer.concat(waiting)
    let at = 0
    wanted = HEAD_BYTES
    while (joined.length - at >= HEAD_BYTES) {
      const length = joined.readUInt32BE(at + 1)
      if (length > MAXIMUM_BYTES) throw new BackupRefused('is damaged: a record is too long')
      wanted = HEAD_BYTES + length
      if (joined.length - at < wanted) break
      yield { kind: joined[at]!, payload: joined.subarray(at + HEAD_BYTES, at + wanted) }
      at += wanted
      wanted = HEAD_BYTES
    }
    waiting = [joined.subarray(at)]
    bytes = joined.length - at
  }
  if (bytes > 0) throw new BackupRefused('is damaged: it ends within a record')
}
