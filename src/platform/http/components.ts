/** Names for schemas, under which the OpenAPI document lists them once and refers to them everywhere. */

import type { TProperties } from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'

/** The key under which a schema carries its name to openapi-components.ts. */
export const COMPONENT_KEY = 'x-component'

/**
 * The same schema, which the document calls `name` (generated clients name a type after it). Two schemas of one name
 * must be the same. A `description` serves as the description of the answer, and `examples` as its example.
 */
export function component<Schema extends TSchema>(name: string, schema: Schema): Schema {
  return { ...schema, [COMPONENT_KEY]: name }
}

/** An object of that name, such as an answer; of one, `description` says what it means that it came. */
export const namedObject = <Fields extends TProperties>(name: string, fields: Fields, description: string) =>
  component(name, t.Object(fields, { description }))
