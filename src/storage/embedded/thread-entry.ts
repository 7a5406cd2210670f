/** The thread of the embedded database (docs/decisions/embedded-database.md): runs what the other thread asks for. */

import type { Grouping, RunEmbedded } from './driver.ts'
import { type OwnThreadDriver, openDriver } from './embedded.ts'
import { compiledEngine, useEngine } from './instance.ts'
import {
  type CallName,
  groupMessages,
  receiveError,
  sendError,
  type ThreadReply,
  type ThreadRequest,
} from './messages.ts'
import type { SentRows } from './rows.ts'

declare const self: {
  postMessage(replies: ThreadReply[]): void
  onmessage: (event: MessageEvent<ThreadRequest[]>) => void
}

type Run = ThreadRequest & { kind: 'run' }

/** A transaction or a session that the other thread has begun. */
interface Group {
  run: Promise<RunEmbedded>
  end(succeeded: boolean): Promise<void>
}

let database: OwnThreadDriver
let prepared: PromiseWithResolvers<void>
const groups = new Map<number, Group>()
const { send: reply } = groupMessages<ThreadReply>((replies) => self.postMessage(replies))

async function answer(id: number, work: Promise<unknown>): Promise<void> {
  try {
    reply({ kind: 'result', id, value: await work })
  } catch (error) {
    reply({ kind: 'failure', id, error: sendError(error) })
  }
}

async function open({ dataDir, silenceMs, engine }: ThreadRequest & { kind: 'open' }): Promise<void> {
  if (engine) useEngine(engine)
  database = await openDriver(dataDir, {
    ...(silenceMs === undefined ? {} : { silenceMs }),
    beforeOpening: ({ isNewDatabase }) => {
      prepared = Promise.withResolvers()
      reply({ kind: 'prepare', isNewDatabase })
      return prepared.promise
    },
    onEnded: ({ message, cause }) =>
      reply({ kind: 'instance ended', error: sendError(new Error(message, { cause })) }),
    onUpkeepFailure: (error) => reply({ kind: 'upkeep failed', error: sendError(error) }),
    onLockLost: (message) => reply({ kind: 'lock lost', message }),
  })
  reply({ kind: 'compiled', engine: await compiledEngine() })
}

const calls: Record<CallName, () => Promise<unknown>> = {
  ping: () => database.ping(),
  step: () => database.upkeep.step(),
  condition: () => database.upkeep.condition(),
  snapshot: () => database.files.snapshot(),
  close: () => database.close(),
}

function begin(inside: number, what: Grouping): void {
  const begun = Promise.withResolvers<RunEmbedded>()
  const over = Promise.withResolvers<void>()
  const done = database[what]((own) => {
    begun.resolve(own)
    return over.promise
  })
  // Where it cannot begin, its statements fail with the reason.
  done.catch(begun.reject)
  begun.promise.catch(() => {})
  groups.set(inside, {
    run: begun.promise,
    end(succeeded) {
      if (succeeded) over.resolve()
      else over.reject(new Error('rolled back by its caller'))
      return done
    },
  })
}

async function end(inside: number, succeeded: boolean): Promise<void> {
  const group = groups.get(inside)!
  groups.delete(inside)
  const ended = group.end(succeeded)
  // Its caller has the error that made it roll back.
  await (succeeded ? ended : ended.catch(() => {}))
}

function replyRows({ id, columns: known }: Run, { columns, rows }: SentRows): void {
  reply({ kind: 'rows', id, rows, columns: columns.id === known ? null : columns })
}

async function run(request: Run): Promise<void> {
  const { inside, text, values, mayBeForgotten } = request
  try {
    const rows = inside === null ? database.readNow(text, values) : null
    if (rows) return replyRows(request, rows)
    const runOne = inside === null ? database.run : await groups.get(inside)!.run
    replyRows(request, await runOne(text, values, mayBeForgotten))
  } catch (error) {
    reply({ kind: 'failure', id: request.id, error: sendError(error) })
  }
}

function take(request: ThreadRequest): void {
  if (request.kind === 'run') run(request)
  else if (request.kind === 'begin') begin(request.inside, request.what)
  else if (request.kind === 'end') answer(request.id, end(request.inside, request.succeeded))
  else if (request.kind === 'call') answer(request.id, calls[request.name]())
  else if (request.kind === 'open') answer(request.id, open(request))
  else if (request.error) prepared.reject(receiveError(request.error))
  else prepared.resolve()
}

self.onmessage = ({ data }) => {
  for (const request of data) take(request)
}
