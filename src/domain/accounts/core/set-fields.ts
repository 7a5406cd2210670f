/** The fields of an account that administration sets, and the team's own program that admits people. */
import { Type } from '@sinclair/typebox'
import { integer } from '../../../platform/http/schemas.ts'
import { roleBounds } from './roles.ts'

/** Bodies name a role by number or by name. Elysia's own integer also takes texts, such as `0x10`. */
export const roleField = () =>
  Type.Union([integer(roleBounds), Type.String({ pattern: '^[A-Za-z]', maxLength: 64 })], {
    description: 'The number of a role, or its name in `[roles]`',
    examples: [7, 'editor'],
  })
export const groupNames = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, examples: [['staff']] })

const METADATA_BYTES = 4096

/** A JSON object, and no array. */
export const isMetadata = (value: unknown): value is Record<string, unknown> | undefined =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES)
