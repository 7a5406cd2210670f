/**
 * Sends generated requests to every operation of the OpenAPI document of the running service, thousands in all. Every
 * answer is documented, in shape, and holds nothing it should not.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { type Settings, startService, type TestService } from '../helpers/service.ts'
import { socialSettings } from '../helpers/social.ts'
import { type AnswerCheck, createAnswerCheck, type GivenAnswer } from './answers.ts'
import { createPeople, type People } from './people.ts'
import { type GeneratedRequest, type Held, type Operation, requestTo, type Value } from './requests.ts'
import { seed, soaking, stepsOf } from './seed.ts'
import { stalledMs } from './stalls.ts'

setDefaultTimeout(soaking ? 3_600_000 : 120_000)

type Json = Record<string, unknown>

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** With all of them, the first statements of a busy machine run into their limit of three seconds, and 503 is answered. */
const OPERATIONS_AT_ONCE = 24

interface Schema {
  properties?: Record<string, { enum?: unknown[]; anyOf?: { const?: unknown }[] }>
}

/** Every operation there is now, as the service itself describes it. */
function operationsOf(document: Json): Operation[] {
  const paths = document.paths as Record<string, Record<string, Json>>
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const content = (operation.requestBody as { content: Record<string, { schema: Schema }> } | undefined)
        ?.content
      const [type = 'application/json'] = Object.keys(content ?? {})
      const properties = content?.[type]?.schema.properties ?? {}
      const parameters = (operation.parameters ?? []) as { in: string; name: string }[]
      const enums = Object.entries(properties).flatMap(([name, { enum: listed = [], anyOf = [] }]) => {
        const all = [...listed, ...anyOf.flatMap((one) => one.const ?? [])]
        return all.length > 0 ? [[name, all]] : []
      })
      return {
        method: method.toUpperCase(),
        path,
        fields: Object.keys(properties),
        enums: Object.fromEntries(enums),
        form: type === FORM_TYPE,
        parameters: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        secured: operation.security !== undefined,
      }
    }),
  )
}

const isHeld = (value: Value): value is Held => 'held' in value

/** Answers 200 to these change nothing that later requests stand on. */
const HARMLESS = /\/(register|login|resend-\w+|request-otp|forgot|me|sessions|healthz|readyz|jwks\.json)$/

function createSender(service: TestService, people: People) {
  const plain = (value: Value): unknown =>
    isHeld(value) ? people.resolve(value) : 'json' in value ? value.json : value.text

  /** It is not JSON.stringify of an object, because a name may stand there twice. */
  const bodyOf = ({ body, form }: GeneratedRequest): string | Uint8Array | undefined => {
    if (body === null) return undefined
    if ('bytes' in body) return Buffer.from(body.bytes, 'hex')
    if (form) {
      const pairs = body.fields.map(([name, value]): [string, string] => [name, text(plain(value))])
      return new URLSearchParams(pairs).toString()
    }
    const fields = body.fields.map(
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(plain(value) ?? null)}`,
    )
    return `{${fields.join(',')}}`
  }

  /** The server of Bun answers by itself beyond 16 KB of line and headers. */
  const pathOf = ({ segments }: GeneratedRequest) =>
    segments
      .map((part) =>
        typeof part === 'string' ? part : encodeURIComponent(text(plain(part)).slice(0, 1000).toWellFormed()),
      )
      .join('/')

  function headersOf(request: GeneratedRequest, body: unknown): [string, string][] {
    const headers = [...request.headers]
    if (body !== undefined && !headers.some(([name]) => name === 'content-type'))
      headers.push(['content-type', request.form ? FORM_TYPE : 'application/json'])
    const token = request.bearer && text(plain(request.bearer))
    if (token && /^[\x20-\x7e]{1,8000}$/.test(token)) headers.push(['authorization', `Bearer ${token}`])
    return headers
  }

  return async (request: GeneratedRequest) => {
    const body = request.method === 'GET' || request.method === 'HEAD' ? undefined : bodyOf(request)
    const path = pathOf(request)
    const [startedAt, stalledBefore] = [performance.now(), stalledMs()]
    const response = await fetch(service.url + path + request.query, {
      method: request.method,
      headers: headersOf(request, body),
      redirect: 'manual',
      ...(body !== undefined && { body: body as string }),
    })
    const answer: GivenAnswer = {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      ms: performance.now() - startedAt - (stalledMs() - stalledBefore),
    }
    const fields = request.body !== null && 'fields' in request.body ? request.body.fields : []
    const sent = fields.map(([, value]) => plain(value)).filter((value) => typeof value === 'string')
    return { answer, path: new URL(service.url + path).pathname, sent }
  }
}

/** Well-formed, as encodeURIComponent wants it. */
function text(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()
}

function peopleOf(request: GeneratedRequest): number[] {
  const values =
    request.body !== null && 'fields' in request.body ? request.body.fields.map(([, value]) => value) : []
  const all = [...values, ...request.segments.filter((part) => typeof part !== 'string'), request.bearer]
  return [...new Set(all.flatMap((value) => (value && isHeld(value) ? [value.person] : [])))]
}

function suite(name: string, settings: Settings, requestsEach: number) {
  describe(name, () => {
    let service: TestService
    let people: People
    let answerCheck: AnswerCheck
    let operations: Operation[]
    let provider: PretendProvider

    beforeAll(async () => {
      provider = await startPretendProvider()
      service = await startService({
        settings: {
          ...socialSettings(provider.issuer),
          passkeys: { rp_id: 'example.com' },
          server: { trusted_proxies: ['127.0.0.1'] },
          limits: { enabled: false },
          ...settings,
        },
      })
      people = await createPeople(service)
      const document = (await service.call('GET', '/swagger/json')).body
      operations = operationsOf(document)
      answerCheck = createAnswerCheck(document)
    })
    afterAll(async () => {
      await service.close()
      await provider.stop()
    })

    test(`whatever is asked, the answer is a documented one, in shape (TEST_SEED=${seed})`, async () => {
      const send = createSender(service, people)
      const statuses = new Map<string, number>()
      const loggedOf = ({ headers }: GivenAnswer) =>
        service.log.filter((line) => line.includes(headers.get('x-request-id') ?? 'none')).join('')
      const renewals = new Set<Promise<void>>()
      const checkOne = (operation: Operation) =>
        fc.assert(
          fc.asyncProperty(requestTo(operation), async (request) => {
            await Promise.all(renewals)
            const { answer, path, sent } = await send(request)
            const { status } = answer
            const key = `${operation.method} ${operation.path} ${status}`
            statuses.set(key, (statuses.get(key) ?? 0) + 1)
            const problems = answerCheck.check(
              { method: request.method, path, sent },
              answer,
              people.secrets(),
            )
            if (problems.length > 0)
              throw new Error([problems.join('; '), answer.text.slice(0, 500), loggedOf(answer)].join('\n'))
            if (status < 300 && !HARMLESS.test(path)) {
              for (const person of peopleOf(request)) {
                const renewal = people.renew(person).finally(() => renewals.delete(renewal))
                renewals.add(renewal)
              }
            }
          }),
          {
            seed,
            numRuns: requestsEach,
            includeErrorInReport: true,
            interruptAfterTimeLimit: soaking ? 3_000_000 : 90_000,
          },
        )
      const failures: string[] = []
      const waiting = operations.values()
      const checkWaiting = async () => {
        for (const operation of waiting)
          await checkOne(operation).catch(({ message }: Error) =>
            failures.push(`${operation.method} ${operation.path}: ${message}`),
          )
      }
      await Promise.all(Array.from({ length: OPERATIONS_AT_ONCE }, checkWaiting))
      await Promise.allSettled(renewals)
      if (process.env.TEST_TALK)
        console.log(
          [...statuses]
            .sort()
            .map((entry) => entry.join(' '))
            .join('\n'),
        )
      expect(failures).toEqual([])
      // Some get beyond the checking of their fields; of few requests, or of limited ones, perhaps none.
      const met = ['authorize 302', 'callback 303'].map((one) => `social/{provider}/${one}`)
      const seen = [...statuses.keys()].map((key) => key.replace(/^[A-Z]+ \/api\/v1\/auth\//, ''))
      if (requestsEach >= 30) expect(seen).toEqual(expect.arrayContaining([...met, 'login 200']))
      const total = [...statuses.values()].reduce((sum, count) => sum + count, 0)
      expect(total).toBeGreaterThanOrEqual(operations.length * requestsEach)
      const logged = service.log.join('\n')
      expect(people.secrets().filter((secret) => logged.includes(secret))).toEqual([])
    })
  })
}

suite('with the limits off', {}, stepsOf(12, 10_000))
// Limits answer in each run of the attacks.
if (soaking) suite('with the limits on', { limits: { enabled: true } }, stepsOf(5, 2000))
