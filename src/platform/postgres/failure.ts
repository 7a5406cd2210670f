/** Distinguishes "the database does not answer" (503, try again) from every other error of a database. */

export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** A standby, or a primary that an operator made read-only. */
export class DatabaseReadOnly extends DatabaseUnavailable {
  override name = 'DatabaseReadOnly'
}

/** The disk of the embedded database is full, or nearly so. */
export class DatabaseFull extends DatabaseUnavailable {
  override name = 'DatabaseFull'
  /** The SQLSTATE of a full disk. */
  readonly code = '53100'
}

/** Classes of SQLSTATE (connection, resources, operator intervention, read-only) and codes of sockets and postgres.js. */
const AWAY =
  /^(08|53|57P|57014|25006|ECONN|EPIPE|ETIMEDOUT|ENOENT|EHOSTUNREACH|ENETUNREACH|CONNECTION_|CONNECT_TIMEOUT)/

export function databaseCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || AWAY.test(databaseCode(error) ?? '')
}

/** Files of this machine, and PostgreSQL's classes for memory, disk and the system. */
const MACHINE = /^(53|58|ENOSPC|EDQUOT|EFBIG|ENOMEM|EMFILE|ENFILE|EIO|EROFS|EACCES|EPERM)/

/** Tells whether the machine lacks something, such as memory or space, so that a statement is not to blame. */
export function isOfTheMachine(error: unknown): boolean {
  return MACHINE.test(databaseCode(error) ?? '') || isFatal(error) || error instanceof RangeError
}

/** The session, or the embedded database, does not go on after it. */
export function isFatal(error: unknown): boolean {
  const { severity } = (error ?? {}) as { severity?: unknown }
  return severity === 'PANIC' || severity === 'FATAL' || error instanceof WebAssembly.RuntimeError
}

/** Tells whether the unique index of that name was violated. */
export function violates(error: unknown, constraint: string): boolean {
  const { code, constraint_name, constraint: named } = (error ?? {}) as Record<string, unknown>
  return code === '23505' && (constraint_name === constraint || named === constraint)
}

/** Tells whether a new row referred to a row that had just been erased. All foreign keys refer to accounts. */
export function refersToErased(error: unknown): boolean {
  return databaseCode(error) === '23503'
}

/** A deadlock, and two transactions that could not be put in an order: PostgreSQL rolled one of them back. */
const CONFLICTS = new Set(['40P01', '40001'])
export const isConflict = (error: unknown): boolean => CONFLICTS.has(databaseCode(error) ?? '')

/** The one that waits for its locks takes them first: repeated at once, it would meet the same deadlock on a busy machine. */
const PAUSE_MS = 30

/**
 * Repeats a statement or a transaction that PostgreSQL rolled back so that another one could go on. (server.ts repeats
 * single statements by itself.)
 */
export async function retryConflicts<T>(work: () => Promise<T>, tries = 3): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isConflict(error) || tries <= 1) throw error
    await Bun.sleep(PAUSE_MS)
    return retryConflicts(work, tries - 1)
  }
}
