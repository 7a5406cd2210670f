/** Three values in a storage that may answer later, throw, or forget. */
import { isProblem, PoterneError } from './error.ts'

type Later<T> = T | PromiseLike<T>

/** `localStorage` is one, and so are the secure stores of phones. */
export interface ClientStorage {
  getItem(name: string): Later<string | null | undefined>
  setItem(name: string, value: string): Later<unknown>
  removeItem(name: string): Later<unknown>
  /** True where nothing can be written, such as while a page is rendered: then nothing is refreshed. */
  readOnly?: boolean
}

export type Storage = ReturnType<typeof createStorage>

/** The browser's: it is looked up at each call, since a browser that blocks it throws already there. */
const browserStorage: ClientStorage = {
  getItem: (name) => localStorage.getItem(name),
  setItem: (name, value) => localStorage.setItem(name, value),
  removeItem: (name) => localStorage.removeItem(name),
}

/** True where tabs share it, and tell each other. Node has a `localStorage` too, which does not work. */
export const hasBrowserStorage = () => 'document' in globalThis

export function createStorage(given: ClientStorage | undefined, onProblem: (problem: PoterneError) => void) {
  const chosen = given ?? (hasBrowserStorage() ? browserStorage : null)
  /** What is known of it; the only storage once the chosen one has failed. */
  const memory = new Map<string, string | null>()
  let works = chosen !== null
  let queue: Promise<unknown> = Promise.resolve()

  function failed(error: unknown): void {
    if (isProblem(error)) throw error
    if (works) onProblem(new PoterneError('storage_failed', { message: withoutSecrets(String(error)) }))
    works = false
  }

  function read(name: string): Later<string | null> {
    const known = () => memory.get(name) ?? null
    const learn = (value: string | null | undefined) => {
      memory.set(name, value ?? null)
      return known()
    }
    const lost = (error: unknown) => {
      failed(error)
      return known()
    }
    if (!works || !chosen) return known()
    try {
      const value = chosen.getItem(name)
      return isLater(value) ? value.then(learn, lost) : learn(value)
    } catch (error) {
      return lost(error)
    }
  }

  async function write(name: string, value: string | null): Promise<void> {
    memory.set(name, value)
    if (!works || !chosen || chosen.readOnly) return
    try {
      await (value === null ? chosen.removeItem(name) : chosen.setItem(name, value))
    } catch (error) {
      failed(error)
    }
  }

  /** One at a time, so that what was read is there still when it is changed. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work)
    queue = result.catch(() => {})
    return result
  }

  return { read, write, inTurn, readOnly: chosen?.readOnly === true }
}

/** A storage may name in its error what it was given: whatever is as long as a token, or as the name of a device. */
const withoutSecrets = (text: string) => text.replace(/[\w-]{32,}/g, '…')

const isLater = <T>(value: Later<T>): value is PromiseLike<T> =>
  typeof (value as PromiseLike<T> | null)?.then === 'function'

/** Null for what somebody else wrote there. */
export function parse<T>(text: string | null): T | null {
  try {
    return JSON.parse(text ?? 'null') as T | null
  } catch {
    return null
  }
}
