/** The text that the description of administration has beside its operations: who may call each, and how. */

import type { InterfaceDescription } from '../../platform/http/described-interface.ts'
import { ERROR_CODES_KEY } from '../../platform/http/error-responses.ts'
import type { Tag } from '../../platform/http/openapi-tags.ts'
import { type ErrorCode, errorStatus } from '../../texts/errors.ts'
import type { AdminRoute } from './access.ts'

type Json = Record<string, unknown>

const tags: Tag[] = [
  { name: 'Accounts', description: 'Find, make, change, lock and erase accounts, and help their owners.' },
  { name: 'Messages', description: 'What was sent and what became of it; limits.' },
  { name: 'Audit trail', description: 'What happened.' },
  { name: 'Webhooks', description: 'How far your own programs were told what happens.' },
  { name: 'Applications', description: 'The applications that people are handed over to.' },
  { name: 'Overview', description: 'Numbers of the service.' },
  { name: 'Administrators', description: 'Who may sign in on the page.' },
  { name: 'Tokens', description: 'What scripts and back ends call with.' },
  { name: 'Keys', description: 'Signing keys and server secrets.' },
  { name: 'Session', description: 'Signing in on the page.' },
]

/** The tag of each operation, by the first word of its path. `bun run check` names the words that are missing here. */
export const tagOf: Record<string, string> = {
  accounts: 'Accounts',
  invitations: 'Accounts',
  groups: 'Accounts',
  messages: 'Messages',
  limits: 'Messages',
  sms: 'Messages',
  events: 'Audit trail',
  webhooks: 'Webhooks',
  applications: 'Applications',
  statistics: 'Overview',
  administrators: 'Administrators',
  tokens: 'Tokens',
  keys: 'Keys',
  secret: 'Keys',
  session: 'Session',
}

/** `accounts` of `/admin/v1/accounts/:uuid`. */
export const firstWord = (path: string) => path.split('/')[3] as string

const introduction = `Accounts, messages, the audit trail, tokens and administrators, for scripts, back ends and the page /admin/.

- A script sends \`Authorization: Bearer pot_adm_…\`. Each operation names the scope it asks for. What names none is for
  owners on the page, and no token reaches it; no token reaches an account that is an administrator.
- The page signs in with a cookie. Its writes carry \`X-CSRF-Token\`; what destroys something answers 403
  \`reauthentication_required\` when password and second factor are older than five minutes.
- A POST with an \`Idempotency-Key\` can be sent again for 24 hours: it makes nothing again, and answers the same without its
  secret (\`token\` and \`code\` are null).
- Lists take \`limit\` (default 50, at most 200) and \`cursor\`, and answer \`items\` and \`next_cursor\`.
- Errors have the form and the codes of the public interface. Fields and parameters that an operation does not name are 422
  \`unknown_field\`.`

const securitySchemes = {
  token: { type: 'http' as const, scheme: 'bearer', description: 'A token of administration' },
  page: {
    type: 'apiKey' as const,
    in: 'cookie' as const,
    name: '__Host-poterne_admin',
    description: 'The session of the page; without `admin.base_url` it is called `poterne_admin`',
  },
}

export const administrationInterface = (routes: readonly AdminRoute[]): InterfaceDescription => ({
  introduction,
  tags,
  securitySchemes,
  complete: (gathered) => describeAccess(gathered, routes),
})

/**
 * Adds to the description of each route: the scope, the refusals, the header of calls that can be sent again. What is for the
 * operator behind the socket alone is left out.
 */
function describeAccess(gathered: unknown, routes: readonly AdminRoute[]): Json {
  const document = JSON.parse(JSON.stringify(gathered)) as Json
  const table = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))
  for (const [path, operations] of Object.entries(document.paths as Record<string, Record<string, Json>>)) {
    const pattern = path.replace(/\{(\w+)\}/g, ':$1')
    for (const [method, operation] of Object.entries(operations)) {
      const route = table.get(`${method.toUpperCase()} ${pattern}`)
      if (route?.access === 'operator') delete operations[method]
      else if (route) describe(operation, route)
    }
    if (Object.keys(operations).length === 0) delete (document.paths as Json)[path]
  }
  return document
}

function describe(operation: Json, { method, path, access, destructive }: AdminRoute): void {
  const isByToken = access.includes(':')
  const page = access === 'open' ? [] : [{ page: [] }]
  const isRepeatable = method === 'POST' && access !== 'open' && access !== 'page'
  operation.tags = [tagOf[firstWord(path)]!]
  operation.security = isByToken ? [{ token: [] }, ...page] : page
  const asksFor = isByToken
    ? `Scope \`${access}\`.`
    : access === 'owner'
      ? 'For owners on the page.'
      : access === 'page'
        ? 'For the page.'
        : null
  operation.parameters = describeParameters(path, (operation.parameters ?? []) as Json[])
  const said = operation.description ?? `${operation.summary}.`
  operation.description = [said, asksFor].filter(Boolean).join(' ')
  if (isRepeatable) operation.parameters = [...(operation.parameters as Json[]), idempotencyKey]
  if (operation.requestBody)
    operation.requestBody = { ...operation.requestBody, description: 'Unknown fields are refused.' }
  addErrors(operation, [
    ...(access === 'open' || method !== 'GET' ? (['insufficient_scope'] as const) : []),
    ...(access === 'open' ? [] : (['invalid_token', 'insufficient_scope'] as const)),
    ...(isByToken ? (['token_expired', 'too_many_requests'] as const) : []),
    ...(destructive ? (['reauthentication_required'] as const) : []),
    ...(isRepeatable ? (['validation_failed', 'idempotency_key_reused', 'unavailable'] as const) : []),
  ])
}

const NUMBERED = /\/(messages|identities)\/:id/

const describeParameters = (path: string, parameters: Json[]): Json[] =>
  parameters.map((parameter) =>
    parameter.in === 'path' ? { ...parameter, ...pathParameter(path, parameter.name as string) } : parameter,
  )

/** The services read them: another text is an id of nothing. */
function pathParameter(path: string, name: string): Json {
  if (name === 'identifier')
    return { description: 'E-mail address or phone number', schema: { type: 'string', minLength: 1 } }
  if (name === 'name')
    return { description: 'As the configuration names it', schema: { type: 'string', minLength: 1 } }
  const description = name === 'uuid' ? 'The `uuid` of the account' : 'The `id` in the list'
  const form = name === 'id' && NUMBERED.test(path) ? { pattern: '^[0-9]{1,16}$' } : { format: 'uuid' }
  return { description, schema: { type: 'string', ...form } }
}

const idempotencyKey = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description: 'With it the call can be sent again for 24 hours',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function addErrors(operation: Json, codes: ErrorCode[]): void {
  const responses = (operation.responses ?? {}) as Record<string, Json>
  for (const code of codes) {
    const status = String(errorStatus[code])
    const declared = (responses[status]?.[ERROR_CODES_KEY] ?? []) as ErrorCode[]
    responses[status] = { [ERROR_CODES_KEY]: [...new Set([...declared, code])] }
  }
  operation.responses = responses
}
