/**
 * The types of the client package, src/client/api.ts, from docs/openapi.json: the routes of accounts with their bodies and
 * their good answers. What fails is a PoterneError, so refusals are left out.
 */
import openapiTypes, { astToString } from 'openapi-typescript'

type Json = Record<string, unknown>

const PREFIX = '/api/v1/auth/'
const HEAD = '/** Written from docs/openapi.json by `bun run fix`. */\n\n'

export async function clientTypes(openapi: string): Promise<string> {
  const document = JSON.parse(openapi, withoutExamples)
  const responses = document.components.responses as Record<string, Json>
  const paths = Object.entries(document.paths as Record<string, Json>)
    .filter(([path]) => path.startsWith(PREFIX))
    .map(([path, operations]) => [
      path.slice(PREFIX.length),
      mapValues(operations, (operation) => accepted(operation as Json, responses)),
    ])
  const schemas = used(document.components.schemas, JSON.stringify(paths))
  const reduced = { openapi: document.openapi, info: document.info, components: { schemas } }
  const nodes = await openapiTypes({ ...reduced, paths: Object.fromEntries(paths) } as never, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  })
  return HEAD + dense(astToString(nodes))
}

const withoutExamples = (name: string, value: unknown) =>
  name === 'example' || name === 'examples' || name === 'headers' ? undefined : value

const mapValues = (record: Json, change: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

const nameOf = (reference: unknown) => String(reference).split('/').at(-1) as string

/** The operation with the bodies of its good answers in place. */
function accepted(operation: Json, shared: Record<string, Json>): Json {
  const { operationId: _, ...rest } = operation
  if (rest.responses === undefined) return rest
  const good = Object.entries(rest.responses as Record<string, Json>).filter(([status]) =>
    status.startsWith('2'),
  )
  const inPlace = good.map(([status, response]) => [
    status,
    response.$ref === undefined ? response : shared[nameOf(response.$ref)],
  ])
  return { ...rest, responses: Object.fromEntries(inPlace) }
}

/** The schemas that are named there, and those that these name. */
function used(schemas: Record<string, Json>, text: string): Json {
  const found = new Map<string, Json>()
  const visit = (from: string): void => {
    for (const [, name] of from.matchAll(/#\/components\/schemas\/([^"]+)/g)) {
      if (found.has(name as string)) continue
      found.set(name as string, schemas[name as string] as Json)
      visit(JSON.stringify(schemas[name as string]))
    }
  }
  visit(text)
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Without the lines that say only that something is not there. */
const dense = (text: string): string =>
  text
    .replace(/^ *\w+\??: never;\n/gm, '')
    .replace(/^ *headers: \{\n *\[name: string\]: unknown;\n *\};\n/gm, '')
    .replace(/^ *parameters: \{\n *\};\n/gm, '')
    .replace(/^export type (webhooks|\$defs|operations) = .*\n/gm, '')
    .replace(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 4))
