/**
 * Tries that are counted and not judged yet, in this process. A try counts as a failure until it proves right; so one
 * that is refused beside others of the same counter may owe that to tries that turn out right a moment later. It
 * waits for their verdicts and asks again if one was right: any number of parallel logins with the right password
 * pass, and of parallel guesses no more are judged than the counter admits.
 */
import { AppError } from '../../errors.ts'

export interface PendingAttempts {
  /**
   * `admit` counts the try, and throws `too_many_requests` where it may not be judged; `judge` judges it and, where
   * it was right, clears the counter `key`. Throws what either throws.
   */
  run<Verdict extends { right: boolean }>(
    key: string,
    admit: () => Promise<void>,
    judge: () => Promise<Verdict>,
  ): Promise<Verdict>
}

export function createPendingAttempts(): PendingAttempts {
  /** Of each counter; every one resolves to "was right", false for a refused one. */
  const underWay = new Map<string, Set<Promise<boolean>>>()
  const others = (key: string) => [...(underWay.get(key) ?? [])]

  function announce(key: string): (wasRight: boolean) => void {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const tries = underWay.get(key) ?? new Set()
    underWay.set(key, tries.add(promise))
    return (wasRight) => {
      resolve(wasRight)
      tries.delete(promise)
      if (tries.size === 0 && underWay.get(key) === tries) underWay.delete(key)
    }
  }

  return {
    async run(key, admit, judge) {
      for (;;) {
        const before = others(key)
        const settle = announce(key)
        let right = false
        try {
          await admit()
          const verdict = await judge()
          right = verdict.right
          return verdict
        } catch (error) {
          settle(false)
          if (!(error instanceof AppError) || error.errorCode !== 'too_many_requests') throw error
          const verdicts = await Promise.all([...before, ...others(key)])
          if (!verdicts.includes(true)) throw error
        } finally {
          settle(right)
        }
      }
    },
  }
}
