/** Distinguishes "Redis is away" (503, try again) from a reply that means a bug of ours. Imports no client. */

/** `causeCode` is for logs: one word, never an address, a key or a value. */
export class RedisUnavailable extends Error {
  override name = 'RedisUnavailable'
  readonly causeCode: string

  constructor(causeCode: string) {
    super(`Redis is unavailable (${causeCode})`)
    this.causeCode = causeCode
  }
}

/**
 * Replies of a server that is reachable but cannot serve us: it is starting, failing over, full, or refuses our
 * credentials. Redis 6 and older put the code of a failing command into the middle of a script's error, after `: -`.
 */
const CANNOT_SERVE =
  /(?:^|: ?-)(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|MISCONF|OOM|BUSY|TRYAGAIN|MOVED|ASK|UNKILLABLE|NOAUTH|WRONGPASS|NOPERM)\b/

/** Messages of the client when it gives up by itself; these errors have no code. */
const CLIENT_CAUSES: [RegExp, string][] = [
  [/timed out|timeout/i, 'TIMEOUT'],
  [/redirections/i, 'REDIRECTIONS'],
  [/sentinel/i, 'SENTINEL'],
]

/** One word for the log: `ECONNREFUSED`, `TIMEOUT`, `LOADING`, `CLOSED`, … */
export function redisCause(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (error instanceof RedisUnavailable) return error.causeCode
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code
  const text = typeof message === 'string' ? message : ''
  const reply = CANNOT_SERVE.exec(text)
  if (reply?.[1]) return reply[1]
  return CLIENT_CAUSES.find(([pattern]) => pattern.test(text))?.[1] ?? 'CLOSED'
}

/**
 * A connection error, a timeout or a "cannot serve" reply becomes RedisUnavailable; any other reply (a script's error, a
 * wrong type) is a bug and stays an error. The client's own error is not kept, because it holds the whole command with
 * its keys and values.
 */
export function redisFailure(error: unknown): Error {
  if (error instanceof RedisUnavailable) return error
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  const isMistake = name === 'ReplyError' && !CANNOT_SERVE.test(String(message))
  return isMistake ? new Error(`Redis refused: ${message}`) : new RedisUnavailable(redisCause(error))
}
