/**
 * Attempts that are counted and not decided yet, in this process. An attempt counts as a failure until it proves right.
 * So one that is refused beside others of the same counter may owe that to attempts which are refunded a moment later.
 * It waits for them and asks again if one was refunded. Any number of parallel calls with what is right pass the
 * counter, and of parallel guesses no more are compared than it admits.
 */
export function createPendingAttempts() {
  /** The attempts of each counter; every one resolves to "was refunded", false for a refused one. */
  const underWay = new Map<string, Set<Promise<boolean>>>()
  const others = (key: string) => [...(underWay.get(key) ?? [])]

  function announce(key: string): (wasRefunded: boolean) => void {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const attempts = underWay.get(key) ?? new Set()
    underWay.set(key, attempts.add(promise))
    return (wasRefunded) => {
      resolve(wasRefunded)
      attempts.delete(promise)
      if (attempts.size === 0 && underWay.get(key) === attempts) underWay.delete(key)
    }
  }

  return {
    /**
     * `admit` counts the attempt: null where it is refused. `decide` decides it, and says whether the counting was taken
     * back. It is null if the attempt is refused for good. Throws what either throws; then nothing was taken back.
     */
    async run<Admitted, Decision extends { refunded: boolean }>(
      key: string,
      admit: () => Promise<Admitted | null>,
      decide: (admitted: Admitted) => Promise<Decision>,
    ): Promise<Decision | null> {
      for (;;) {
        const before = others(key)
        const settle = announce(key)
        let refunded = false
        try {
          const admitted = await admit()
          if (admitted !== null) {
            const decision = await decide(admitted)
            refunded = decision.refunded
            return decision
          }
        } finally {
          settle(refunded)
        }
        const decisions = await Promise.all([...before, ...others(key)])
        if (!decisions.includes(true)) return null
      }
    },
  }
}
