/**
 * The embedded database in a thread of its own, so that what runs in WebAssembly, and waits for the disk, does not hold up
 * the answers (docs/decisions/embedded-database.md).
 */
import type { Database, DatabaseCondition, UpkeepWork } from '../../platform/postgres/database.ts'
import { asDatabase, type Grouping, type RunEmbedded } from './driver.ts'
import { type EmbeddedOptions, endProcess } from './embedded.ts'
import {
  type CallName,
  groupMessages,
  receiveError,
  sendError,
  type ThreadReply,
  type ThreadRequest,
} from './messages.ts'
import type { Columns, SentRows } from './rows.ts'
import { MOST_PREPARED } from './session.ts'

type Options = Pick<EmbeddedOptions, 'beforeOpening' | 'onEnded' | 'onUpkeepFailure' | 'silenceMs'>

/** The executable holds the thread's own program beside the main one, under the name that it has in src. */
const compiled = '/$bunfs/root/storage/embedded/thread-entry.js'
const entry = () =>
  import.meta.url.includes('$bunfs') ? compiled : new URL('./thread-entry.ts', import.meta.url).href

/** Of the last thread, for the next one. */
let engine: WebAssembly.Module | null = null

export async function openEmbeddedInThread(dataDir: string, options: Options = {}): Promise<Database> {
  // Its heap stays small: what it allocates are messages. A start then takes 30 to 50 MB less at its highest.
  const worker = new Worker(entry(), { smol: true })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  const { send, sendAtOnce } = groupMessages<ThreadRequest>((requests) => worker.postMessage(requests))

  /** The columns of each text's rows, as they were the last time. */
  const columnsOf = new Map<string, Columns>()

  function ask<Answer>(
    make: (id: number) => ThreadRequest,
    how: (request: ThreadRequest) => void = sendAtOnce,
  ) {
    const id = ++lastId
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    how(make(id))
    return answer.promise as Promise<Answer>
  }

  const call = <Answer>(name: CallName) => ask<Answer>((id) => ({ kind: 'call', id, name }))

  async function prepare(isNewDatabase: boolean): Promise<void> {
    try {
      await options.beforeOpening?.({ isNewDatabase })
      sendAtOnce({ kind: 'prepared', error: null })
    } catch (error) {
      sendAtOnce({ kind: 'prepared', error: sendError(error) })
    }
  }

  function settle(id: number): PromiseWithResolvers<unknown> {
    const one = waiting.get(id)!
    waiting.delete(id)
    return one
  }

  function take(reply: ThreadReply): void {
    if (reply.kind === 'rows') settle(reply.id).resolve(reply)
    else if (reply.kind === 'result') settle(reply.id).resolve(reply.value)
    else if (reply.kind === 'failure') settle(reply.id).reject(receiveError(reply.error))
    else if (reply.kind === 'prepare') prepare(reply.isNewDatabase)
    else if (reply.kind === 'compiled') engine = reply.engine
    else if (reply.kind === 'instance ended') options.onEnded?.(receiveError(reply.error))
    else if (reply.kind === 'upkeep failed') options.onUpkeepFailure?.(receiveError(reply.error))
    else endProcess(reply.message)
  }

  worker.onmessage = ({ data }: MessageEvent<ThreadReply[]>) => {
    for (const reply of data) take(reply)
  }
  // Nothing would answer any more. A thread that ends itself is not meant to happen.
  worker.onerror = ({ message }) => endProcess(`the thread of the embedded database ended: ${message}`)
  const onClose = () => endProcess('the thread of the embedded database ended')
  worker.addEventListener('close', onClose)
  const terminate = () => {
    worker.removeEventListener('close', onClose)
    worker.terminate()
  }

  const runIn =
    (inside: number | null, how: (request: ThreadRequest) => void): RunEmbedded =>
    async (text, values, mayBeForgotten = false): Promise<SentRows> => {
      const known = columnsOf.get(text)
      const reply = await ask<Pick<SentRows, 'rows'> & { columns: Columns | null }>(
        (id) => ({ kind: 'run', id, inside, text, values, mayBeForgotten, columns: known?.id ?? 0 }),
        how,
      )
      const columns = reply.columns ?? known!
      if (columns !== known) {
        if (columnsOf.size === MOST_PREPARED) columnsOf.clear()
        columnsOf.set(text, columns)
      }
      return { rows: reply.rows, columns }
    }

  const grouped =
    (what: Grouping) =>
    async <T>(work: (run: RunEmbedded) => Promise<T>): Promise<T> => {
      const inside = ++lastId
      const end = (succeeded: boolean) => ask<void>((id) => ({ kind: 'end', id, inside, succeeded }))
      // Goes with its first statement.
      send({ kind: 'begin', inside, what })
      let result: T
      try {
        // Nothing else runs until it ends, so that it waits for nobody.
        result = await work(runIn(inside, sendAtOnce))
      } catch (error) {
        await end(false)
        throw error
      }
      await end(true)
      return result
    }

  try {
    const { silenceMs } = options
    await ask<void>((id) => ({ kind: 'open', id, dataDir, silenceMs, engine }))
  } catch (error) {
    terminate()
    throw error
  }
  return asDatabase({
    run: runIn(null, send),
    transaction: grouped('transaction'),
    session: grouped('session'),
    ping: () => call('ping'),
    upkeep: {
      step: () => call<UpkeepWork | null>('step'),
      condition: () => call<DatabaseCondition>('condition'),
    },
    files: { snapshot: () => call<string>('snapshot') },
    close: async () => {
      await call('close')
      terminate()
    },
  })
}
