/** The messages between the thread that answers and the thread of the embedded database. */

import { DatabaseFull, DatabaseReadOnly, DatabaseUnavailable } from '../../platform/postgres/failure.ts'
import type { Grouping } from './driver.ts'
import type { Columns } from './rows.ts'

/**
 * So many messages travel together at most. In larger groups each thread would wait until the other has done all that
 * came at the same moment: 64 clients then had a third fewer answers.
 */
const GROUP = 8

/** Sends messages that are ready at the same moment together. */
export function groupMessages<Message>(post: (group: Message[]) => void) {
  let waiting: Message[] = []
  function sendAll(): void {
    if (waiting.length === 0) return
    const group = waiting
    waiting = []
    post(group)
  }
  return {
    send(message: Message): void {
      waiting.push(message)
      if (waiting.length === 1) setImmediate(sendAll)
      else if (waiting.length === GROUP) sendAll()
    },
    /** Sends it with all that waits already. */
    sendAtOnce(message: Message): void {
      waiting.push(message)
      sendAll()
    },
  }
}

/** Calls of a Database that take nothing; each answers with what it returns. */
export type CallName = 'ping' | 'step' | 'condition' | 'snapshot' | 'close'

/** A message to the database. They arrive in the order in which they were sent, several in one message. */
export type ThreadRequest =
  | {
      kind: 'open'
      id: number
      dataDir: string
      silenceMs: number | undefined
      /** What an earlier thread of this process compiled. */
      engine: WebAssembly.Module | null
    }
  /** Answers `beforeOpening`. */
  | { kind: 'prepared'; error: SentError | null }
  | { kind: 'call'; id: number; name: CallName }
  /** `inside` names a transaction or a session; null: the statement is its own. */
  | {
      kind: 'run'
      id: number
      inside: number | null
      text: string
      values: unknown[]
      mayBeForgotten: boolean
      /** The id of the columns that its rows had the last time, 0 at first. */
      columns: number
    }
  /** A transaction or a session, whose statements may follow at once. */
  | { kind: 'begin'; inside: number; what: Grouping }
  | { kind: 'end'; id: number; inside: number; succeeded: boolean }

/** A message from the database. */
export type ThreadReply =
  | { kind: 'result'; id: number; value: unknown }
  /** Columns that the other thread knows are left out. */
  | { kind: 'rows'; id: number; rows: Uint8Array; columns: Columns | null }
  | { kind: 'failure'; id: number; error: SentError }
  | { kind: 'prepare'; isNewDatabase: boolean }
  | { kind: 'compiled'; engine: WebAssembly.Module }
  | { kind: 'instance ended'; error: SentError }
  | { kind: 'upkeep failed'; error: SentError }
  | { kind: 'lock lost'; message: string }

/** Threads copy an error without its class and its fields. */
interface SentError {
  name: string
  message: string
  stack: string
  /** Such as the `code` and the `constraint` of PostgreSQL. */
  fields: Record<string, unknown>
  cause: SentError | null
}

export function sendError(thrown: unknown): SentError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const fields = Object.entries(error).filter(([, value]) => ['string', 'number'].includes(typeof value))
  return {
    name: error.name,
    message: error.message,
    stack: error.stack ?? '',
    fields: Object.fromEntries(fields),
    cause: error.cause === undefined ? null : sendError(error.cause),
  }
}

/** The classes by which the rest of the service tells errors apart. */
const classes: Record<string, ErrorConstructor | typeof DatabaseUnavailable> = {
  DatabaseUnavailable,
  DatabaseReadOnly,
  DatabaseFull,
}

export function receiveError({ name, message, stack, fields, cause }: SentError): Error {
  const Class = classes[name] ?? Error
  const error = new Class(message, cause ? { cause: receiveError(cause) } : {})
  return Object.assign(error, fields, { name, stack })
}
