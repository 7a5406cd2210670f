/** The work on one endpoint goes in rounds, of which there are never two at once. */

interface Told {
  /** A round did all that it could. */
  done(): void
  failed(error: unknown): void
}

export function createRounds(round: () => Promise<void>, { done, failed }: Told) {
  let running: Promise<void> | null = null
  let runsAgain = false
  let isClosing = false
  let timer: Timer | undefined

  async function run(): Promise<void> {
    try {
      while (runsAgain && !isClosing) {
        runsAgain = false
        await round()
      }
      done()
    } catch (error) {
      failed(error)
    }
    running = null
  }

  /** Does what can be done now. Never rejects; calls while it runs make it run once more. */
  function advance(): Promise<void> {
    runsAgain = true
    running ??= run()
    return running
  }

  return {
    advance,
    /** The first one to ask says when. */
    wakeIn(ms: number): void {
      timer ??= setTimeout(() => {
        timer = undefined
        void advance()
      }, ms)
    },
    isClosing: () => isClosing,
    /** No round begins any more. */
    close(): void {
      isClosing = true
      clearTimeout(timer)
    },
    ended: async () => running,
  }
}
