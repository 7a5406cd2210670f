/** The embedded database has one session, so its work runs one after the other, each of it in a turn. */
import { AsyncLocalStorage } from 'node:async_hooks'

export type Turns = ReturnType<typeof createTurns>

/** After so many readers in a row, the first writer that waits has its turn. */
const READERS_IN_A_ROW = 8
/** Messages of the other thread are taken in this often, so that a reader among them is seen. */
const LISTEN_EVERY_MS = 4

export function createTurns() {
  const readers: (() => Promise<unknown>)[] = []
  const others: (() => Promise<unknown>)[] = []
  let readersInRow = 0
  let isRunning = false

  function next(): (() => Promise<unknown>) | undefined {
    const isReadersTurn = others.length === 0 || (readers.length > 0 && readersInRow < READERS_IN_A_ROW)
    readersInRow = isReadersTurn ? readersInRow + 1 : 0
    return (isReadersTurn ? readers : others).shift()
  }

  async function runAll(): Promise<void> {
    let listenedAtMs = performance.now()
    for (let turn = next(); turn; turn = next()) {
      await turn()
      if (performance.now() - listenedAtMs < LISTEN_EVERY_MS) continue
      await new Promise((resolve) => setImmediate(resolve))
      listenedAtMs = performance.now()
    }
    isRunning = false
  }

  /** Work that reads does not wait for the writes that wait already. */
  const inTurn = <T>(work: () => Promise<T>, isReading = false): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    // The events of a turn name who asked for it, and not who asked for the one that began the turns.
    const turn = AsyncLocalStorage.bind(() => Promise.resolve().then(work).then(resolve, reject))
    ;(isReading ? readers : others).push(turn)
    if (!isRunning) {
      isRunning = true
      // All that came in the same message waits by then.
      queueMicrotask(runAll)
    }
    return promise
  }
  return Object.assign(inTurn, {
    /** The work that has not ended. */
    waiting: () => readers.length + others.length + (isRunning ? 1 : 0),
  })
}
