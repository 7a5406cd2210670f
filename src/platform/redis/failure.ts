/** Distinguishes "Redis is away" (503, try again) from a reply that means a bug of ours. Imports no client. */

/**
 * `causeCode` is for logs: one word, never an address, a key or a value. Where a command was refused its name follows:
 * `NOPERM:hset`.
 */
export class RedisUnavailable extends Error {
  override name = 'RedisUnavailable'
  readonly causeCode: string

  constructor(causeCode: string, sentence = sentenceOf(causeCode)) {
    super(sentence)
    this.causeCode = causeCode
  }
}

function sentenceOf(causeCode: string): string {
  const { code, command } = partsOf(causeCode)
  if (code === NO_PERMISSION && command !== null)
    return `Redis refuses its user the command ${command.toUpperCase()} (${code}): allow it with +${command} in the ACL; docs/operations.md lists all that poterne needs`
  if (code === NO_PERMISSION)
    return `Redis refuses its user a key (${code}): let that user write and read every key under redis.key_prefix`
  if (code === NO_COMMAND && command !== null)
    return `Redis does not know the command ${command.toUpperCase()} (${code}), without which poterne cannot work: do not rename it or turn it off`
  if (code === CLUSTER)
    return `a Cluster answers there, which has the database 0 alone (${code}): leave the number out of the URL, and set redis.mode = "cluster"`
  return `Redis is unavailable (${causeCode})`
}

/** The command is written as in an ACL: `config|get`. */
export function partsOf(causeCode: string): { code: string; command: string | null } {
  const [code = '', command] = causeCode.split(':')
  return { code, command: command?.replace('_', '|') ?? null }
}

const NO_PERMISSION = 'NOPERM'
const NO_COMMAND = 'NOCOMMAND'
const CLUSTER = 'CLUSTER'

/** The replies to a command that this user may not run, or that the server does not know. Not each names the command. */
const REFUSALS: [RegExp, string][] = [
  [/permissions to run the '([\w|]+)' command/, NO_PERMISSION],
  [/can't run this command/, NO_PERMISSION],
  [/can't access at least one of the keys|permissions to access/, NO_PERMISSION],
  [/unknown command ['"`]?([\w|]+)/i, NO_COMMAND],
  [/Unknown Redis command called from script/i, NO_COMMAND],
]

/** Returns the cause of such a reply; null for every other reply. */
export function refusalCause(error: unknown): string | null {
  const { message, lastNodeError } = (error ?? {}) as { message?: unknown; lastNodeError?: unknown }
  const text = typeof message === 'string' ? message : ''
  for (const [pattern, code] of REFUSALS) {
    const found = pattern.exec(text)
    if (found) return causeOfCommand(code, found[1])
  }
  // Those of the nodes of a cluster, each of which was asked where the others are.
  return lastNodeError ? refusalCause(lastNodeError) : null
}

export const causeOfCommand = (code: string, command?: string): string =>
  command === undefined ? code : `${code}:${command.toLowerCase().replace('|', '_')}`

/**
 * Replies of a server that is reachable but cannot serve us: it is starting, failing over, full, or refuses our
 * credentials or a right. Redis 6 and older put the code of a failing command into the middle of a script's error, after `: -`.
 */
const CANNOT_SERVE =
  /(?:^|: ?-)(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|MISCONF|OOM|BUSY|TRYAGAIN|MOVED|ASK|UNKILLABLE|NOAUTH|WRONGPASS|NOPERM)\b/

/** Messages of the client when it gives up by itself, and replies to SELECT; these errors have no code. */
const OTHER_CAUSES: [RegExp, string][] = [
  [/timed out|timeout/i, 'TIMEOUT'],
  [/redirections/i, 'REDIRECTIONS'],
  [/sentinel/i, 'SENTINEL'],
  [/DB index/, 'NODATABASE'],
  [/SELECT is not allowed in cluster mode/, CLUSTER],
]

/** One word for the log: `ECONNREFUSED`, `TIMEOUT`, `LOADING`, `CLOSED`, `NOPERM:hset`, … */
export function redisCause(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (error instanceof RedisUnavailable) return error.causeCode
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code
  const refusal = refusalCause(error)
  if (refusal !== null) return refusal
  const text = typeof message === 'string' ? message : ''
  const reply = CANNOT_SERVE.exec(text)
  if (reply?.[1]) return reply[1]
  return OTHER_CAUSES.find(([pattern]) => pattern.test(text))?.[1] ?? 'CLOSED'
}

/**
 * A connection error, a timeout or a "cannot serve" reply becomes RedisUnavailable; any other reply (a script's error, a
 * wrong type) is a bug and stays an error. The client's own error is not kept, because it holds the whole command with
 * its keys and values.
 */
export function redisFailure(error: unknown): Error {
  if (error instanceof RedisUnavailable) return error
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  const isMistake =
    name === 'ReplyError' && !CANNOT_SERVE.test(String(message)) && refusalCause(error) === null
  return isMistake ? new Error(`Redis refused: ${message}`) : new RedisUnavailable(redisCause(error))
}
