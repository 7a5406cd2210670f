import { RedisUnavailable } from './redis/failure.ts'

/** The code or name of an error, never its message, which may contain what a person typed. */
export function causeOf(error: unknown): string {
  if (error instanceof RedisUnavailable) return error.causeCode
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown'
}
