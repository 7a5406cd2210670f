/** A sleep that can be ended from outside; a call of `wake` before the sleep is not lost. */
interface WakeSignal {
  wake(): void
  wait(ms: number): Promise<void>
}

export function createWakeSignal(): WakeSignal {
  let woken = false
  let end: (() => void) | null = null
  return {
    wake() {
      woken = true
      end?.()
    },
    async wait(ms) {
      if (!woken) {
        let timer: Timer | undefined
        await new Promise<void>((resolve) => {
          end = resolve
          timer = setTimeout(resolve, ms)
        })
        clearTimeout(timer)
        end = null
      }
      woken = false
    },
  }
}
