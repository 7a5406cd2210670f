/** Every number and time that the two documents name, with values that other readers accept. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { adminOpenapiPage, openapiPage } from '../../scripts/openapi-page.ts'
import { adminRoutes } from '../../src/compose/admin-app.ts'
import { AppError } from '../../src/texts/errors.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, registration } from '../helpers/api-client.ts'
import { resolveReference } from '../helpers/openapi.ts'
import { expectInvalid } from '../helpers/refusals.ts'
import { differingShapes, ruleOn } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is read by paths, its type would be the whole of OpenAPI
type Node = any
interface Field {
  method: string
  path: string
  name: string
  kind: 'number' | 'time' | 'text'
}

const hostileNumbers = [
  '',
  ' 5',
  '5 ',
  '+5',
  '-7',
  '0x10',
  '1e2',
  '5.0',
  '١',
  '5,',
  'NaN',
  'Infinity',
  '9'.repeat(17),
]
const hostileTimes = [
  ...[
    '',
    '0',
    '2026',
    '2026-07',
    '0000-01-01',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+14:00',
    '+012026-01-01',
  ],
  ...[
    '2026-02-31',
    '2026-02-29',
    '2026-13-01',
    '2026-00-01',
    '2026-11-22 (x)',
    '2026-11-22T24:00:00Z',
    '10000-01-01',
  ],
  ...[
    '2026-11-22T10:60:00Z',
    '2026-11-22T10:00:61Z',
    '2026-11-22T10:00:00+24:00',
    '2026-11-22T10:00:00 02:00',
  ],
  ...[
    '2026-11-22T10',
    '2026-11-22T10:00:00+0200',
    'Sun Nov 22 2026',
    'now',
    '2026-11-22T10:00:00Z\u0000',
    '294276-01-01',
  ],
]

function fieldsOf(document: Node): { queries: Field[]; bodies: Field[] } {
  const found: { queries: Field[]; bodies: Field[] } = { queries: [], bodies: [] }
  for (const [path, methods] of Object.entries<Node>(document.paths))
    for (const [method, operation] of Object.entries<Node>(methods)) {
      const of = { method: method.toUpperCase(), path }
      for (const parameter of operation.parameters ?? [])
        if (parameter.in === 'query')
          found.queries.push({ ...of, name: parameter.name, kind: kindOf(parameter) })
      const body = operation.requestBody?.content?.['application/json']?.schema
      // A role is named by its number or its name, which begins with a letter.
      for (const [name, schema] of Object.entries<Node>(resolveReference(document, body)?.properties ?? {}))
        if ([schema, ...(schema.anyOf ?? [])].some(({ type }) => type === 'integer' || type === 'number'))
          found.bodies.push({ ...of, name, kind: 'number' })
    }
  return found
}

const kindOf = ({ schema, description }: Node): Field['kind'] =>
  schema.pattern?.startsWith('^[0-9]{1,16}$')
    ? 'number'
    : (description ?? schema.description)?.includes('RFC 3339')
      ? 'time'
      : 'text'

describe.each(differingShapes)('hostile numbers and times on %s', (shape) => {
  const rule = ruleOn(shape)
  const service = useService({ shape })
  let uuid: string
  let bearer: string
  beforeAll(async () => {
    ;({ bearer, uuid } = await service.signedIn())
  })
  const call = async (method: string, path: string, body?: unknown) => {
    const there = path.replace('{uuid}', uuid)
    if (there.startsWith('/admin/v1/'))
      return operatorOf(service)(method as 'GET', there.slice('/admin/v1/'.length), body)
    return service.call(method, there, body, { bearer })
  }

  rule('no number or time of a query is read in another way than as digits, or as RFC 3339', async () => {
    const documents = [await adminOpenapiPage(), await openapiPage()].map((page) => JSON.parse(page))
    const queries = documents.flatMap((document) => fieldsOf(document).queries)
    const named = (kind: Field['kind']) => [
      ...new Set(queries.filter((one) => one.kind === kind).map(({ name }) => name)),
    ]
    expect(named('number').sort()).toEqual(['after', 'days', 'limit', 'role_id', 'wait'])
    expect(named('time').sort()).toEqual(['created_after', 'created_before', 'since', 'until'])
    // A new one of these is either text, or belongs to one of the lists above.
    const looksCounted = /(_at|_after|_before|(?<!^client)_id|since|until|limit|days|_count|page|offset)$/
    expect(named('text').filter((name) => looksCounted.test(name))).toEqual([])
    for (const { method, path, name, kind } of queries.filter((one) => one.kind !== 'text'))
      for (const value of kind === 'number' ? hostileNumbers : hostileTimes) {
        const beside = name === 'wait' ? '&after=0' : ''
        const answer = await call(method, `${path}?${name}=${encodeURIComponent(value)}${beside}`)
        expect([path, name, value, answer.status]).toEqual([path, name, value, 422])
        expect(answer.body.errors.map(({ field }: { field: string }) => field)).toContain(name)
      }
  })

  rule('no parameter is given twice', async () => {
    const documents = [await adminOpenapiPage(), await openapiPage()].map((page) => JSON.parse(page))
    for (const { path, name, kind } of documents.flatMap((document) => fieldsOf(document).queries)) {
      if (kind === 'text') continue
      const value = kind === 'number' ? '1' : '2026-07-01'
      const beside = name === 'wait' ? '&after=0' : ''
      expectInvalid(await call('GET', `${path}?${name}=${value}&${name}=${value}${beside}`), {
        [name]: 'invalid_value',
      })
    }
  })

  rule('no number of a body is read from a text, and none is stored beyond its bounds', async () => {
    const documents = [await adminOpenapiPage(), await openapiPage()].map((page) => JSON.parse(page))
    const bodies = documents.flatMap((document) => fieldsOf(document).bodies)
    expect(bodies.map(({ path, name }) => `${path} ${name}`).sort()).toEqual([
      '/admin/v1/accounts accountable_id',
      '/admin/v1/accounts role_id',
      '/admin/v1/accounts/{uuid} accountable_id',
      '/admin/v1/accounts/{uuid} role_id',
      '/admin/v1/invitations expires_in',
      '/admin/v1/invitations uses',
      '/admin/v1/webhooks/{name}/retry event',
    ])
    for (const { method, path, name } of bodies)
      for (const value of ['16', '0x10', '1e2', '', -7, 1.5, 2 ** 53, true, [1], { a: 1 }, null]) {
        const answer = await call(method, path, { email: newEmail(), [name]: value })
        expect([path, name, value, answer.status]).toEqual([path, name, value, 422])
      }
  })

  rule.each([
    ['{"plan\\u0000": 1}', 'metadata', 'invalid_characters'],
    ['{"deep": {"plan\\ud800": 1}}', 'metadata.deep', 'invalid_characters'],
    ['{"toString": 1}', 'metadata.toString', 'invalid_value'],
    ['{"deep": [{"valueOf": 1}]}', 'metadata.deep.0.valueOf', 'invalid_value'],
    ['{"__proto__": {"plan": 1}}', 'metadata.__proto__', 'invalid_value'],
    ['{"plan": 1e400}', 'metadata.plan', 'invalid_value'],
    ['{"plan": [-1e999]}', 'metadata.plan.0', 'invalid_value'],
  ])('metadata %s is refused by name, and its key is free at once', async (metadata, field, code) => {
    const headers = {
      'x-operator': 'root',
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    }
    const make = async (value: string) => {
      const body = `{"email":"${newEmail()}","metadata":${value}}`
      const address = 'http://administration/admin/v1/accounts'
      const answer = await service.inside.administration.handle(
        new Request(address, {
          method: 'POST',
          headers: { ...headers, 'content-length': String(body.length) },
          body,
        }),
      )
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Node }
    }
    expectInvalid(await make(metadata), { [field]: code as 'invalid_value' })
    expect((await make('{"plan": {"constructor": 1e300}}')).body.account.metadata).toEqual({
      plan: { constructor: 1e300 },
    })
  })

  const wrongShapes: [object, Record<string, 'invalid_type' | 'too_long' | 'invalid_value'>][] = [
    ...['x', [1], 5, true].map((profile): [object, Record<string, 'invalid_type'>] => [
      { profile },
      { profile: 'invalid_type' },
    ]),
    [{ profile: { name: ['x'] } }, { 'profile.name': 'invalid_type' }],
    [{ groups: 'staff' }, { groups: 'invalid_type' }],
    [{ groups: ['ok', 5] }, { 'groups.1': 'invalid_type' }],
    [{ groups: ['ok', 'x'.repeat(65)] }, { 'groups.1': 'too_long' }],
    [{ metadata: [1] }, { metadata: 'invalid_value' }],
  ]

  rule.each(wrongShapes)(
    '%j is refused by its place, and is no value that is left out',
    async (part, fields) => {
      const { bearer, account } = await service.signedIn()
      const calls = [
        call('POST', '/admin/v1/accounts', { email: newEmail(), ...part }),
        call('PATCH', `/admin/v1/accounts/${account.uuid}`, part),
      ]
      if ('profile' in part) {
        const patch = service.call('PATCH', '/api/v1/auth/me', part, { bearer })
        calls.push(patch, service.post('register', { ...registration(newEmail()), ...part }))
      }
      for (const answer of await Promise.all(calls)) expectInvalid(answer, fields)
      if ('groups' in part) {
        const add = { groups: { add: part.groups } }
        const placed = Object.entries(fields).map(([field, code]) => [
          field.replace('groups', 'groups.add'),
          code,
        ])
        const answer = await call('PATCH', `/admin/v1/accounts/${account.uuid}`, add)
        expectInvalid(answer, Object.fromEntries(placed))
      }
    },
  )

  test('whole numbers beyond 2^53 − 1 are refused by name, and those of fields that nobody reads are ignored', async () => {
    const { bearer } = await service.signedIn()
    const send = (base: string, path: string, body: string, headers = {}) =>
      fetch(`${base}${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      })
    const ignored = await send(service.url, '/api/v1/auth/logout', '{"sent_at": 9007199254740993}', {
      authorization: `Bearer ${bearer}`,
    })
    expect(ignored.status).toBe(200)
    const make = async (fields: string) => {
      const body = `{"email": "${newEmail()}", ${fields}}`
      const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
      const request = new Request('http://administration/admin/v1/accounts', {
        method: 'POST',
        headers,
        body,
      })
      const answer = await service.inside.administration.handle(request)
      return { status: answer.status, body: (await answer.json()) as Node }
    }
    for (const [fields, field] of [
      ['"metadata": {"id": 9007199254740993}', 'metadata.id'],
      ['"metadata": {"ids": [1, -9007199254740992]}', 'metadata.ids.1'],
      ['"accountable_id": 9007199254740993', 'accountable_id'],
      ['"role_id": 9007199254740993', 'role_id'],
    ] as const)
      expectInvalid(await make(fields), { [field]: 'invalid_value' })
    const kept = await make('"metadata": {"id": 9007199254740991, "text": "90071992547409931"}')
    expect(kept.body.account.metadata).toEqual({ id: 9007199254740991, text: '90071992547409931' })
  })

  rule(
    'administration refuses fields and parameters that it does not know, and names the nearest',
    async () => {
      const create = { email: newEmail(), password_digest: 'x' }
      const refused = await call('POST', '/admin/v1/accounts', create)
      expectInvalid(refused, { password_digest: 'unknown_field' })
      expect(refused.body.errors[0].message).toContain('password')
      expect((await call('GET', `/admin/v1/accounts?query=${create.email}`)).body.items).toEqual([])
      expectInvalid(await call('GET', '/admin/v1/accounts?group=staff'), { group: 'unknown_field' })
      const { account } = await service.signedIn()
      const path = `/admin/v1/accounts/${account.uuid}`
      expectInvalid(await call('PATCH', path, { profile: { nmae: 'x' }, groups: { ad: ['x'] }, role: 7 }), {
        'profile.nmae': 'unknown_field',
        'groups.ad': 'unknown_field',
        role: 'unknown_field',
      })
      // One answer names the field that is missing and the one that is unknown.
      expectInvalid(await call('POST', '/admin/v1/administrators', { acount: account.uuid, role: 'owner' }), {
        account: 'required',
        acount: 'unknown_field',
      })
      expectInvalid(await call('DELETE', `${path}/sessions?id=1`), { id: 'unknown_field' })
    },
  )

  rule('every route of administration refuses a parameter and a field that it does not know', async () => {
    const routes = adminRoutes.filter(({ access }) => access !== 'page' && access !== 'open')
    for (const { method, path } of routes) {
      const target = path.replace(':uuid', crypto.randomUUID()).replace(/:\w+/g, '999')
      const answer = await call(
        method,
        `${target}?no_such_name=1`,
        method === 'GET' ? undefined : { nobody: 1 },
      )
      const errors =
        answer.body.errors?.filter(({ code }: { code: string }) => code === 'unknown_field') ?? []
      const fields = errors.map(({ field }: { field: string }) => field)
      expect([path, method, fields]).toEqual([
        path,
        method,
        method === 'GET' ? ['no_such_name'] : ['nobody', 'no_such_name'],
      ])
    }
  })

  test('a call that the database refuses gives its Idempotency-Key back at once', async () => {
    const idempotency = service.inside.services.idempotency
    const refused = Object.assign(new Error('unsupported Unicode escape sequence'), { code: '22P05' })
    const fails = {
      headers: { 'idempotency-key': crypto.randomUUID() },
      caller: { type: 'operator', id: 'root' },
      path: '/x',
      make: () => Promise.reject(refused),
      repeat: () => Promise.reject(new AppError('account_not_found')),
    }
    await expect(idempotency.run(fails)).rejects.toBe(refused)
    const works = { ...fails, make: async (id: string) => ({ id, answer: { status: 201 } }) }
    const startedAt = performance.now()
    expect(await idempotency.run(works)).toEqual({ status: 201 })
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  rule.each([
    ['2026-11-22', '2026-11-22T00:00:00.000Z'],
    ['2026-11-22T10:30:00', '2026-11-22T10:30:00.000Z'],
    ['2026-11-22t10:30:00.123456z', '2026-11-22T10:30:00.123Z'],
    ['2026-11-22T10:30:00+02:00', '2026-11-22T08:30:00.000Z'],
    ['2024-02-29T23:59:60-00:30', '2024-03-01T00:30:00.000Z'],
  ])('the time %s is %s, whatever the zone of the machine', async (text, expected) => {
    const { parseTime } = await import('../../src/platform/http/read-values.ts')
    expect(parseTime(text)?.toISOString()).toBe(expected)
    expect((await call('GET', `/admin/v1/accounts?created_after=${encodeURIComponent(text)}`)).status).toBe(
      200,
    )
  })
})
