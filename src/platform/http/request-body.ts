/**
 * Reads the body of a request as a JSON object, bounded in size, time and depth, or as a form where the route declares
 * one. Elysia's own parsers never run: they accept forms and text everywhere, and up to 128 MB.
 */

import { AppError } from '../../texts/errors.ts'
import { FORM_TYPE, JSON_TYPE } from '../../texts/sentences.ts'
import { readBounded } from '../read-bounded.ts'
import { stripBlanks } from './header-text.ts'
import { readableField } from './unstorable.ts'

/** The largest body that a client sends in practice is a few hundred bytes. */
const MAXIMUM_BODY_BYTES = 16 * 1024
/** Of a route that takes many records at once. */
export const LARGE_BODY_BYTES = 2_000_000

/** The request ends if its body takes longer to arrive. */
export const BODY_DEADLINE_MS = 15_000

/** Real bodies are flat; this keeps functions that walk them far from a stack overflow. */
const MAXIMUM_DEPTH = 32

/** The whole body; null for a request without one. A body that does not arrive in time is `malformed_json`. */
export async function readBody(
  request: Request,
  deadlineMs: number,
  type: keyof typeof readable = 'json',
  mostBytes = MAXIMUM_BODY_BYTES,
) {
  // `request.body` would make a stream of bytes that have mostly arrived already.
  const declared = request.headers.get('content-length')
  if (declared === null ? !request.headers.has('transfer-encoding') : Number(declared) === 0) return null
  if (!readable[type](request.headers))
    throw new AppError('unsupported_media_type', { wantedType: mediaTypes[type] })
  if (declared !== null && Number(declared) > mostBytes) throw new AppError('body_too_large')
  return withDeadline(declared === null ? readChunks(request.body!, mostBytes) : request.bytes(), deadlineMs)
}

/**
 * The body as an object, `{}` if there is none. Invalid UTF-8 and too deep nesting are `malformed_json`; JSON that is not
 * an object is `validation_failed`, and so is what a value of a field cannot keep.
 */
export function parseJsonObject(bytes: Uint8Array | null): Record<string, unknown> {
  if (!bytes?.byteLength) return {}
  const value = parseJson(bytes, parseExactly)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('validation_failed', { fields: [{ field: 'body', code: 'invalid_type' }] })
  }
  // Nobody asked for such a field, and fields nobody asked for are ignored.
  for (const key of SHADOWING_KEYS) Reflect.deleteProperty(value, key)
  const wrong = findUnkeepable(value)
  if (wrong.length > 0)
    throw new AppError('validation_failed', {
      fields: wrong.map((path) => ({
        field: readableField(namedField(path)),
        code: 'invalid_value' as const,
      })),
    })
  return value as Record<string, unknown>
}

/** A form or any JSON, by the content type. Gateways may name a field of a form twice, and the last one counts. */
export function parseAny(bytes: Uint8Array | null, headers: Headers): unknown {
  if (!bytes?.byteLength) return {}
  if (readable.form(headers)) return Object.fromEntries(new URLSearchParams(decode(bytes)))
  const value = parseJson(bytes)
  dropShadowing(value)
  return value
}

/**
 * The fields of a form. Throws for invalid UTF-8, and for two values of one name, of which two programs would read two
 * (RFC 6749, 3.2). One without a value does not count beside one that has it.
 */
export function parseForm(bytes: Uint8Array | null): Record<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(decode(bytes ?? new Uint8Array()))) {
    if (value !== '' && fields.get(name)) throw repeated(name)
    fields.set(name, fields.get(name) || value)
  }
  return Object.fromEntries(fields)
}

/** The fields of a form in their order, also those that are there twice. */
export const parsePairs = (bytes: Uint8Array | null): URLSearchParams =>
  new URLSearchParams(decode(bytes ?? new Uint8Array()))

function repeated(name: string): AppError {
  const isPlain = /^[a-z_]{1,40}$/.test(name)
  const oauthDescription = `${isPlain ? name : 'a field'} is there more than once`
  return new AppError('invalid_request', {
    cause: isPlain ? `field_repeated:${name}` : 'field_repeated',
    oauthDescription,
  })
}

/** Tells whether the size is unknown before the last chunk, or too large to wait for. */
export function isUnbounded(headers: Headers): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length')) > 128 * 1024 * 1024
}

/** The media types that a refusal names. */
const mediaTypes = { json: JSON_TYPE, form: FORM_TYPE, pairs: FORM_TYPE, any: `${JSON_TYPE} / ${FORM_TYPE}` }

const readable: Record<'json' | 'form' | 'pairs' | 'any', (headers: Headers) => boolean> = {
  json: (headers: Headers) => isOfType(headers, JSON_TYPE),
  form: (headers: Headers) => isOfType(headers, FORM_TYPE),
  pairs: (headers: Headers) => isOfType(headers, FORM_TYPE),
  any: (headers: Headers) => readable.json(headers) || readable.form(headers),
}

/** Neither type has a charset (RFC 8259, 11): it is passed over, and bytes that are no UTF-8 are refused. */
function isOfType(headers: Headers, expected: string): boolean {
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  return stripBlanks(type) === expected && encoding === 'identity'
}

const readChunks = (body: ReadableStream<Uint8Array>, mostBytes: number) =>
  readBounded(body, mostBytes, () => new AppError('body_too_large'))

async function withDeadline(reading: Promise<Uint8Array>, deadlineMs: number): Promise<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('malformed_json', { cause: 'deadline' })), deadlineMs)
  })
  try {
    return await Promise.race([reading, deadline])
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('malformed_json', { cause: 'aborted' })
  } finally {
    clearTimeout(timer)
  }
}

function parseJson(bytes: Uint8Array, parse: (text: string) => unknown = JSON.parse): unknown {
  const text = decode(bytes)
  let value: unknown
  try {
    value = parse(text)
  } catch {
    throw new AppError('malformed_json', { cause: 'syntax' })
  }
  if (!isFlatEnough(value, MAXIMUM_DEPTH)) throw new AppError('malformed_json', { cause: 'depth' })
  return value
}

/** 2^53 − 1 has 16 digits. */
const LONG_NUMBER = /\d{16}/

/** JSON in which whole numbers that JavaScript would round are NaN. */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text, LONG_NUMBER.test(text) ? unrounded : undefined)

/** A whole number beyond 2^53 − 1 is another one after it was read. Written with a point or an exponent it is what it says. */
function unrounded(this: unknown, _key: string, value: unknown, { source = '' }: { source?: string } = {}) {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
  return isRounded ? Number.NaN : value
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new AppError('malformed_json', { cause: 'encoding' })
  }
}

/** With `{"toString": 1}` in a field, Elysia itself fails while it describes the invalid value. */
const SHADOWING_KEYS = ['__proto__', 'toString', 'valueOf']

/** The paths of what would be lost silently: keys that shadow, and numbers too large to be numbers, such as `1e400`. */
export function findUnkeepable(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const field = path ? `${path}.${key}` : key
    if (
      SHADOWING_KEYS.includes(key) ||
      inner === Number.POSITIVE_INFINITY ||
      inner === Number.NEGATIVE_INFINITY
    )
      return [field]
    return typeof inner === 'object' && inner !== null ? findUnkeepable(inner, field) : []
  })
}

/** Only the keys inside `metadata` are the caller's own; a key inside any other field means that the field is wrong. */
const namedField = (path: string) => (path.startsWith('metadata.') ? path : (path.split('.')[0] as string))

/** Another service sent the value and cannot be asked to send it otherwise, so such keys are dropped. */
function dropShadowing(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of SHADOWING_KEYS) Reflect.deleteProperty(value, key)
  for (const inner of Object.values(value)) dropShadowing(inner)
}

function isFlatEnough(value: unknown, depthAllowed: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depthAllowed > 0 && Object.values(value).every((inner) => isFlatEnough(inner, depthAllowed - 1))
}
