/** Writes a line for each statement, by its name, with `log.level = "debug"`. */
import type { Logger } from '../log/logging.ts'
import { currentRequest } from '../request-context.ts'
import { type Database, type Executor, executorBy } from './database.ts'
import { databaseCode } from './failure.ts'
import { type Named, statementName } from './statement-name.ts'

/** Writes one line for each statement. */
export function logStatements(database: Database, logger: Logger): Database {
  return timeStatements(database, (statement, durationMs, code) => {
    const duration_ms = Math.round(durationMs * 100) / 100
    const request_id = currentRequest()?.requestId
    logger.debug({ statement: statementName(statement), duration_ms, code, request_id }, 'statement')
  })
}

/**
 * Calls `onEnd` after each statement. Its time includes the wait for a connection; `code` is undefined where the
 * statement succeeded.
 */
export function timeStatements(
  database: Database,
  onEnd: (statement: Named, durationMs: number, code: string | undefined) => void,
): Database {
  /** The caller gets the promise of the statement itself: nothing is put in its way. */
  function timed<T>(statement: Named, run: () => Promise<T>): Promise<T> {
    const start = performance.now()
    const running = run()
    running.then(
      () => onEnd(statement, performance.now() - start, undefined),
      (error) => onEnd(statement, performance.now() - start, databaseCode(error) ?? 'failed'),
    )
    return running
  }
  const within = (executor: Executor) =>
    executorBy((statement, params) => timed(statement, () => executor.all(statement, params)))
  return {
    ...database,
    ...within(database),
    transaction: (work, options) => database.transaction((inner) => work(within(inner)), options),
    session: (work) => database.session((inner) => work(within(inner))),
  }
}
