/** The bounds of the fields of an account that administration sets. */
import { integer } from '../../../platform/http/schemas.ts'

const METADATA_BYTES = 4096

/** Fits a column of four bytes. */
export const roleBounds = { minimum: 0, maximum: 2 ** 31 - 1 }

/** In bodies. Elysia's own integer also takes texts, such as `0x10`. */
export const roleField = () => integer(roleBounds)
export const accountableField = () => integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** A JSON object, and no array. */
export const isMetadata = (value: unknown): value is Record<string, unknown> | undefined =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES)
