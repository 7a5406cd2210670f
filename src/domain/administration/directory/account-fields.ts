/** What no schema says of the fields of an account that administration sets. */

const METADATA_BYTES = 4096

/** Fits a column of four bytes. */
export const isInt = (number: number) => Number.isInteger(number) && Math.abs(number) < 2 ** 31

/** A JSON object, and no array. */
export const isMetadata = (value: unknown): value is Record<string, unknown> | undefined =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES)

interface Fields {
  role_id?: number | undefined
  accountable_id?: number | undefined
  metadata?: unknown
}

/** The names of those that cannot be stored. */
export const wrongFields = ({ role_id, accountable_id, metadata }: Fields): string[] => [
  ...(role_id === undefined || isInt(role_id) ? [] : ['role_id']),
  ...(accountable_id === undefined || Number.isSafeInteger(accountable_id) ? [] : ['accountable_id']),
  ...(isMetadata(metadata) ? [] : ['metadata']),
]
