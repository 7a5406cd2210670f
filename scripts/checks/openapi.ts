/** docs/openapi.json is what the routes say, and says of each operation what a reader and a generator need. */
import { clientTypes } from '../client-types.ts'
import { openapiPage } from '../openapi-page.ts'
import { type Check, readFiles } from './source-files.ts'

interface Operation {
  operationId?: string
  tags?: string[]
  summary?: string
  description?: string
  responses?: Record<string, { description?: string; content?: Record<string, { schema?: object }> }>
}

export const checkOpenapi: Check = async () => {
  const [file] = await readFiles('docs/openapi.json')
  const page = await openapiPage()
  const [types] = await readFiles('src/client/api.ts')
  const { paths } = JSON.parse(page) as { paths: Record<string, Record<string, Operation>> }
  return [
    ...(file?.text === page ? [] : ['docs/openapi.json is not what the routes say: bun run fix writes it']),
    ...(types?.text === (await clientTypes(page))
      ? []
      : ['src/client/api.ts is not what docs/openapi.json says: bun run fix writes it']),
    ...Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        missingIn(operation).map(
          (part) => `docs/openapi.json: ${method.toUpperCase()} ${path} has no ${part}`,
        ),
      ),
    ),
  ]
}

function missingIn({ operationId, tags, summary, description, responses = {} }: Operation): string[] {
  const detail = { operationId, 'tags of a group': tags?.[0], summary, description }
  return [
    ...Object.entries(detail).flatMap(([part, text]) => (text ? [] : [part])),
    ...Object.entries(responses).flatMap(([status, answer]) => {
      const [body] = Object.values(answer.content ?? {})
      if (!status.startsWith('2') || body === undefined) return []
      return [
        ...(answer.description ? [] : [`description of its ${status}`]),
        ...(body.schema && '$ref' in body.schema ? [] : [`name for its ${status}: use answer('Name', …)`]),
      ]
    }),
  ]
}
