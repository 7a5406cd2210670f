/**
 * Moves the next transaction number of a stopped embedded database forward, as pg_resetwal does: in the control file and
 * in the record of the last checkpoint. PGlite's directory can be opened by no native tool.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SEGMENT_BYTES = 1024 * 1024
const SEGMENTS_OF_A_NAME = 2 ** 32 / SEGMENT_BYTES
/** These are offsets in ControlFileData, in CheckPoint inside it, and in XLogRecord. */
const CHECKPOINT_ADDRESS = 32
const CHECKPOINT_COPY = 40
const NEXT_XID = 24
const RECORD_HEADER = 24
const RECORD_CRC = 20
/** One file of pg_xact holds so many, at two bits each. */
const NUMBERS_IN_A_FILE = 32 * 8192 * 4
const STATUS_FILE_BYTES = 32 * 8192

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value >>> 0
})

function crc32c(...parts: Uint8Array[]): number {
  let value = 0xffffffff
  for (const part of parts) for (const byte of part) value = table[(value ^ byte) & 0xff]! ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}

/** `directory`: of PostgreSQL, closed properly. Gives the next number of now. */
export function skipTransactions(directory: string, count: number): bigint {
  const controlPath = join(directory, 'global', 'pg_control')
  const control = readFileSync(controlPath)
  const address = control.readBigUInt64LE(CHECKPOINT_ADDRESS)
  const next = control.readBigUInt64LE(CHECKPOINT_COPY + NEXT_XID) + BigInt(count)

  const segment = Number(address / BigInt(SEGMENT_BYTES))
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0')
  const logPath = join(
    directory,
    'pg_wal',
    `00000001${hex(Math.floor(segment / SEGMENTS_OF_A_NAME))}${hex(segment % SEGMENTS_OF_A_NAME)}`,
  )
  const log = readFileSync(logPath)
  const start = Number(address % BigInt(SEGMENT_BYTES))
  const record = log.subarray(start, start + log.readUInt32LE(start))
  const crcOfRecord = () => crc32c(record.subarray(RECORD_HEADER), record.subarray(0, RECORD_CRC))
  if (crcOfRecord() !== record.readUInt32LE(RECORD_CRC))
    throw new Error('the checkpoint record was not found')
  // One byte that says "short data follows", and one with its length.
  record.writeBigUInt64LE(next, RECORD_HEADER + 2 + NEXT_XID)
  record.writeUInt32LE(crcOfRecord(), RECORD_CRC)
  writeFileSync(logPath, log)

  let end = CHECKPOINT_COPY
  while (crc32c(control.subarray(0, end)) !== control.readUInt32LE(end)) end += 4
  control.writeBigUInt64LE(next, CHECKPOINT_COPY + NEXT_XID)
  control.writeUInt32LE(crc32c(control.subarray(0, end)), end)
  writeFileSync(controlPath, control)

  const file = Math.floor(Number(next % 2n ** 32n) / NUMBERS_IN_A_FILE)
  const statusPath = join(directory, 'pg_xact', file.toString(16).toUpperCase().padStart(4, '0'))
  if (!existsSync(statusPath)) writeFileSync(statusPath, new Uint8Array(STATUS_FILE_BYTES))
  return next
}
