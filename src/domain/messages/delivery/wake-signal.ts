/** A sleep that can be ended from outside; a call of `wake` before the sleep is not lost. */
export function createWakeSignal() {
  let woken = false
  let end: (() => void) | null = null
  return {
    wake(): void {
      woken = true
      end?.()
    },
    async wait(ms: number): Promise<void> {
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
