/**
 * Decides what a gateway's reply means: by its HTTP status and, if the configuration names a path, by the value at
 * this path in its body. The body is read as JSON, as a form or as text.
 */
import type { ConditionConfig, GatewayConfig } from '../../../platform/config/types.ts'
import type { SendOutcome } from '../senders/sender.ts'

export interface Reply {
  status: number
  /** It is null where the reply broke off, or never ended. */
  body: string | null
  contentType: string
}

export type ReplyVerdict = Pick<SendOutcome, 'outcome' | 'detail' | 'mayBeTaken' | 'providerId'>

/** An expired token (a mail server that refuses a password is tried again too), "too slow" and "too many". */
const NOT_FINAL = [401, 403, 408, 429]
const LONGEST_ID = 200

type Rules = Pick<GatewayConfig, 'success' | 'retry' | 'messageId'>

export function verdictOfReply(reply: Reply, { success, retry, messageId }: Rules): ReplyVerdict {
  const { status } = reply
  const parsed = parseReply({ ...reply, body: reply.body ?? '' })
  const isWorthRetrying = retry !== null && holds(retry, parsed)
  if (status < 200 || status >= 300) {
    const isFinal = status >= 400 && status < 500 && !NOT_FINAL.includes(status) && !isWorthRetrying
    return { outcome: isFinal ? 'refused' : 'failed', detail: String(status) }
  }
  if (success === null || (reply.body !== null && holds(success, parsed))) {
    const providerId = messageId === null ? undefined : valueAt(parsed, messageId)
    const isId = providerId !== undefined && providerId !== '' && providerId.length <= LONGEST_ID
    return { outcome: 'sent', detail: String(status), ...(isId ? { providerId } : {}) }
  }
  if (reply.body === null) return { outcome: 'failed', detail: 'reply', mayBeTaken: true }
  const isSilent = success.exists === null && valueAt(parsed, success.path) === undefined
  return isSilent
    ? { outcome: 'failed', detail: 'reply' }
    : { outcome: isWorthRetrying ? 'failed' : 'refused', detail: 'reply' }
}

function holds(condition: ConditionConfig, parsed: unknown): boolean {
  const value = valueAt(parsed, condition.path)
  if (condition.exists !== null) return isThere(parsed, condition.path) === condition.exists
  if (value === undefined) return false
  return condition.equals === null ? condition.in.includes(value) : value === condition.equals
}

/** The value at `messages.0.status` as text; undefined where there is none, or a table or list. */
export function valueAt(parsed: unknown, path: string): string | undefined {
  const found = at(parsed, path)
  return ['string', 'number', 'boolean'].includes(typeof found) ? String(found) : undefined
}

const isThere = (parsed: unknown, path: string) => (at(parsed, path) ?? null) !== null

export function at(parsed: unknown, path: string): unknown {
  let found = parsed
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

/** Reads a text as `text`, `words.0`, `lines.0`. */
function parseReply({ body, contentType }: { body: string; contentType: string }): unknown {
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch {
    // Then it is something else.
  }
  if (contentType.toLowerCase().startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(body.trim()))
  const text = body.trim()
  return { text, words: text.split(/\s+/), lines: text.split(/\r?\n/) }
}
