/**
 * The embedded database as it lives on: the instance that is open, and the next one where it ended by itself. No answer leaves
 * before all that it may have seen is on the disk.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { DataDirectoryRefused, describeForeignFile } from '../../platform/data-directory.ts'
import { DatabaseUnavailable, databaseCode, isUnavailable } from '../../platform/postgres/failure.ts'
import type { RunEmbedded } from './driver.ts'
import { InstanceEnded } from './failure.ts'
import type { FileObserver } from './files.ts'
import { createFlushes, type Flushes } from './flushes.ts'
import { abandonInstance, endedBy, FLUSH_AFTER, type InstanceOptions, openInstance } from './instance.ts'
import { createDecoder, type SentRows } from './rows.ts'
import { createSession, type EmbeddedResult, type Session } from './session.ts'
import type { Turns } from './turns.ts'

interface Needs {
  directory: string
  inTurn: Turns
  observer: FileObserver | undefined
  beforeOpening(): void
  onEnded: ((ended: { message: string; cause?: unknown }) => void) | undefined
}

/** The time from one opening to the next. */
interface Life {
  readonly instance: PGlite
  readonly session: Session
  readonly flushes: Flushes
}

/** The log says "embedded database: " before it. */
const ENDED = 'it has ended, and is opened anew'

export type Lives = Awaited<ReturnType<typeof openLives>>

export async function openLives({ directory, inTurn, observer, beforeOpening, onEnded }: Needs) {
  const decode = await createDecoder()
  /** Null after it ended by itself, until it can be opened again. */
  let life: Life | null = await live(openFirst)
  let isOver = false

  async function live(open: typeof openInstance): Promise<Life> {
    beforeOpening()
    const instance = await open(directory, { observer, flushedLater: true })
    const session = await createSession(instance)
    /** Many statements may write and did not, such as the search for a message that is due. */
    let flushedEnd = '0/0'
    const own: Life = {
      instance,
      session,
      flushes: createFlushes(() => {
        const [row] = decode(execute(own, FLUSH_AFTER, [flushedEnd]).rows)
        if (row) flushedEnd = String(row.end)
      }, inTurn),
    }
    return own
  }

  /** To be called within a turn only. */
  function execute(own: Life, text: string, values: unknown[]): EmbeddedResult {
    if (own !== life) throw new DatabaseUnavailable(ENDED)
    try {
      return own.session.run(text, values)
    } catch (error) {
      if (endedBy(error)) {
        abandonInstance(own.instance)
        life = null
        onEnded?.(error instanceof InstanceEnded ? error : { message: 'PostgreSQL panicked', cause: error })
      }
      if (life === null) throw new DatabaseUnavailable(ENDED, { cause: error })
      throw isOfTheDisk(error)
        ? new DatabaseUnavailable('its files cannot be read or written', { cause: error })
        : error
    }
  }

  /** To be called within a turn only. The answer may not be on the disk yet. */
  const run: RunEmbedded = async (text, values, mayBeForgotten = false) => {
    if (life === null) throw new DatabaseUnavailable(ENDED)
    const { flushes } = life
    const { rows, mayHaveWritten } = execute(life, text, values)
    if (mayHaveWritten) flushes.noteWrite({ mustLast: !mayBeForgotten })
    return rows
  }

  /** Its answer, once all that it may have seen is on the disk; a refusal shows something too. */
  async function answer<T>(work: () => Promise<T>, { isReader = false } = {}): Promise<T> {
    let flushes: Flushes | undefined
    try {
      return await inTurn(() => {
        flushes = life?.flushes
        return work()
      }, isReader)
    } finally {
      await flushes?.settle({ isReader })
    }
  }

  /** Runs statements of a session, which nobody shares: each statement is on the disk before the next one. */
  const runAndFlush: RunEmbedded = async (...statement) => {
    try {
      return await run(...statement)
    } finally {
      life?.flushes.now()
    }
  }

  const isReader = (text: string) => life?.session.reads(text) ?? false

  return {
    isOpen: () => life !== null,
    /** It was abandoned, and is not opened again. */
    isOver: () => isOver,
    isReader,
    run,
    runAndFlush,
    answer,
    /** To be called within a turn only, as `run` is. */
    query: async (text: string, mayBeForgotten = true) => decode(await run(text, [], mayBeForgotten)),
    /** Reads at once, or returns null if the statement has to wait for its turn, or its answer for the disk. */
    readNow(text: string, values: unknown[]): SentRows | null {
      const mustWait = inTurn.waiting() > 0 || life?.flushes.isAwaited()
      return life === null || mustWait || !isReader(text) ? null : execute(life, text, values).rows
    },
    async openAgain(): Promise<void> {
      life = await live(openInstance)
    },
    /** To be called within a turn only. */
    flush: () => life?.flushes.now(),
    /** Returns a function that flushes, and throws once the instance of now has ended. */
    flushOfThisLife(): () => void {
      const own = life
      return () => {
        if (own === null || own !== life) throw new DatabaseUnavailable(ENDED)
        own.flushes.now()
      }
    },
    /** Without a word more to its files. */
    abandon(): void {
      if (life !== null) abandonInstance(life.instance)
      life = null
      isOver = true
    },
    /** It returns false where it had ended before. */
    async close(): Promise<boolean> {
      await life?.instance.close()
      const isClean = life !== null
      life = null
      return isClean
    },
  }
}

/** The words of PGlite itself ("Aborted()") help nobody. */
export async function openFirst(directory: string, options?: InstanceOptions): Promise<PGlite> {
  try {
    return await openInstance(directory, options)
  } catch (error) {
    if (error instanceof DataDirectoryRefused) throw error
    const path = resolve(directory)
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown cause'
    const remedy =
      (existsSync(path) ? describeForeignFile(path) : null) ??
      'it is no database of this version of poterne, or it is damaged: restore a backup, or name another directory'
    throw new DataDirectoryRefused(`storage.data_dir: ${path} cannot be opened (${reason}): ${remedy}`)
  }
}

/** Includes errors of the file system without a code of their own: a quota (58030), a file size limit (XX000). */
function isOfTheDisk(error: unknown): boolean {
  const { file } = (error ?? {}) as { file?: unknown }
  return (
    isUnavailable(error) ||
    databaseCode(error)?.startsWith('58') === true ||
    /^(fd|md|xlog|slru|buffile|relmapper)\w*\.c$/.test(String(file))
  )
}
