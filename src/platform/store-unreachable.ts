/** A store that the configuration names and that cannot be used when the service starts. */

/** The message names the key, and holds neither an address of ours nor a secret. */
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
