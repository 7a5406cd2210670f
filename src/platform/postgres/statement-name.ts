/**
 * Names the statement in the log line of an internal error, and in that of each statement. A name holds no value:
 * parameters are never part of a text.
 */
import type { Statement } from './statement.ts'

export type Named = Pick<Statement<never, unknown>, 'name' | 'text'>

const failed = new WeakMap<object, string>()

/** The name of a statement; for those without one what it does first, such as `update sessions`. */
export function statementName({ name, text }: Named): string {
  if (name !== undefined) return name
  const [, verb, table] = /\b(insert into|update|delete from|from) "?(\w+)"?/i.exec(text) ?? []
  return verb && table ? `${verb.toLowerCase()} ${table}` : (/^\w+/.exec(text.trim())?.[0] ?? 'unnamed')
}

export function noteFailedStatement(error: unknown, statement: Named): void {
  if (typeof error === 'object' && error !== null) failed.set(error, statementName(statement))
}

/** The statement that threw this error, or what this error wraps. */
export function failedStatement(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  return failed.get(error) ?? failedStatement((error as { cause?: unknown }).cause)
}
