/** Moves the named schemas of a document to its components, and makes an example of what is described. */
import { COMPONENT_KEY } from './components.ts'

export type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export type Components = ReturnType<typeof createComponents>

export function createComponents() {
  const named = new Map<string, Json>()

  /** The schema with a reference in place of each named part, itself included. */
  function hoist(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(hoist)
    if (!isObject(schema)) return schema
    const { [COMPONENT_KEY]: name, ...rest } = schema
    const hoisted = Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [key, key === 'examples' ? value : hoist(value)]),
    )
    if (typeof name !== 'string') return hoisted
    const known = named.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(hoisted)) {
      throw new Error(`two schemas are named ${name}`)
    }
    named.set(name, hoisted)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** A value that the schema describes: its own example, or one put together from its parts. */
  function exampleOf(schema: unknown): unknown {
    if (!isObject(schema)) return null
    if (typeof schema.$ref === 'string') return exampleOf(named.get(schema.$ref.split('/').at(-1) as string))
    if (Array.isArray(schema.examples)) return schema.examples[0]
    if ('const' in schema) return schema.const
    if (Array.isArray(schema.enum)) return schema.enum[0]
    if (Array.isArray(schema.anyOf)) return exampleOf(schema.anyOf[0])
    return exampleOfType(schema)
  }

  /** Makes an example. A list gets one item, unless it must be empty. */
  function exampleOfType(schema: Json): unknown {
    switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
      case 'object': {
        const required = (schema.required ?? []) as string[]
        const properties = Object.entries((schema.properties ?? {}) as Json)
        const shown = properties.filter(([name]) => required.includes(name))
        return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
      }
      case 'array':
        return schema.maxItems === 0 ? [] : [exampleOf(schema.items)]
      case 'integer':
      case 'number':
        return 1
      case 'boolean':
        return true
      case 'null':
        return null
      default:
        return exampleText(schema.format)
    }
  }

  return {
    hoist,
    exampleOf,
    /** All that were hoisted, by name. */
    all: (): Json => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

function exampleText(format: unknown): string {
  if (format === 'date-time') return '2026-11-22T10:15:30.000Z'
  if (format === 'uuid') return '0f8f1e52-3c7a-4b1d-9a60-5e2f7c8d9b01'
  return 'text'
}
