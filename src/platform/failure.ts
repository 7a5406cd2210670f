/** Failures that several places know, and how they are named. */
import { RedisUnavailable } from './redis/failure.ts'

/** The code or name of an error, never its message, which may contain what a person typed. */
export function causeOf(error: unknown): string {
  if (error instanceof RedisUnavailable) return error.causeCode
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown'
}

/** Tells whether a request failed at its certificate or handshake, by the code of the error. */
export const isTlsFailure = (error: unknown): boolean =>
  /CERT|TLS|SSL|EPROTO|SELF_SIGNED|ISSUER|VERIFY/.test(
    String((error as { code?: unknown } | null)?.code ?? ''),
  )

/** A failure that no other start or try mends, such as a database that refuses this version: a command ends with 2. */
export class LastingFailure extends Error {
  override name = 'LastingFailure'
}

/** A store that the configuration names cannot be used at the start. The message names the key, and holds neither an address of ours nor a secret. */
export class StoreUnreachable extends Error {
  override name = 'StoreUnreachable'
  constructor(
    readonly key: string,
    error: unknown,
  ) {
    super(`${key}: cannot connect: ${reasonOf(error)}`)
  }
}

/** The error of PostgreSQL, Redis or the socket beneath those that wrap it; none of them contains a password. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.cause) return reasonOf(error.cause)
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const said = (typeof message === 'string' && message.split('\n', 1)[0]) || 'unknown cause'
  return typeof code === 'string' && !said.includes(code) ? `${said} (${code})` : said
}
