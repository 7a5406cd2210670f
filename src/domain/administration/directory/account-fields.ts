/** The bounds of the fields of an account that administration sets. */
import { Type } from '@sinclair/typebox'
import { integer, optionalField } from '../../../platform/http/schemas.ts'
import { roleBounds } from '../../accounts/accounts/roles.ts'

const METADATA_BYTES = 4096

/** Bodies name a role by number or by name. Elysia's own integer also takes texts, such as `0x10`. */
export const roleField = () =>
  Type.Union([integer(roleBounds), Type.String({ pattern: '^[A-Za-z]', maxLength: 64 })], {
    description: 'The number of a role, or its name in `[roles]`',
    examples: [7, 'editor'],
  })
export const accountableField = () => integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

export const usernameField = () =>
  optionalField(
    Type.String({
      maxLength: 100,
      examples: ['ada'],
      description:
        'Two to 32 letters, digits, and . _ -; kept in lower case. It goes to nobody else, also after null took it away',
    }),
  )
export const groupNames = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, examples: [['staff']] })

/** A JSON object, and no array. */
export const isMetadata = (value: unknown): value is Record<string, unknown> | undefined =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES)
