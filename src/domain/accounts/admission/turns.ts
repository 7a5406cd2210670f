/** Who asks when: one at a time for each key, and so many in this process. Nobody who waits for a key takes a place. */

const MOST = 8

type Turn = () => void

export function createQuestionTurns(patienceMs: number) {
  const busy = new Set<string>()
  const waiting = new Set<{ keys: string[]; begin: () => void }>()
  let underWay = 0

  const isFree = (keys: string[]) => underWay < MOST && keys.every((key) => !busy.has(key))

  function begin(keys: string[]): Turn {
    underWay++
    for (const key of keys) busy.add(key)
    return () => {
      underWay--
      for (const key of keys) busy.delete(key)
      for (const next of waiting) if (isFree(next.keys)) next.begin()
    }
  }

  return {
    /** In the order of asking. The result ends the turn; it is null for whoever waited too long. */
    take(keys: string[]): Turn | null | Promise<Turn | null> {
      if (isFree(keys)) return begin(keys)
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(entry)
          resolve(null)
        }, patienceMs)
        const entry = {
          keys,
          begin: () => {
            clearTimeout(timer)
            waiting.delete(entry)
            resolve(begin(keys))
          },
        }
        waiting.add(entry)
      })
    },
  }
}
