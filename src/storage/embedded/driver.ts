/**
 * The embedded database, in this thread (embedded.ts) or in one of its own (embedded-thread.ts), as a Database. A driver
 * gives rows as PostgreSQL sent them; they are decoded here.
 */
import {
  announceInserts,
  createExecutor,
  type Database,
  type Executor,
} from '../../platform/postgres/database.ts'
import { whilePlansAreStale } from '../../platform/postgres/pool.ts'
import { createDecoder, type SentRows } from './rows.ts'

export type RunEmbedded = (text: string, values: unknown[], mayBeForgotten?: boolean) => Promise<SentRows>

/** The two in which statements may follow each other without any other between them. */
export type Grouping = 'transaction' | 'session'

export type EmbeddedDriver = Pick<Database, 'ping' | 'close'> &
  Required<Pick<Database, 'files' | 'upkeep'>> & {
    run: RunEmbedded
  } & Record<Grouping, <T>(work: (run: RunEmbedded) => Promise<T>) => Promise<T>>

export async function asDatabase({ run, transaction, session, ...driver }: EmbeddedDriver) {
  const decode = await createDecoder()
  const executorOf = (runOne: RunEmbedded): Executor =>
    createExecutor(async (...statement) => decode(await runOne(...statement)))
  return announceInserts({
    kind: 'embedded',
    ...driver,
    ...executorOf((...statement) => whilePlansAreStale(() => run(...statement))),
    transaction: (work) => whilePlansAreStale(() => transaction((inside) => work(executorOf(inside)))),
    session: (work) => session((inside) => work(executorOf(inside))),
  })
}
