/** A sleep that a ring ends; a ring before the sleep is not lost. */
export interface WakeSignal {
  ring(): void
  wait(ms: number): Promise<void>
}

export function createAlarm(): WakeSignal {
  let rung = false
  let end: (() => void) | null = null
  return {
    ring() {
      rung = true
      end?.()
    },
    async wait(ms) {
      if (!rung) {
        let timer: Timer | undefined
        await new Promise<void>((resolve) => {
          end = resolve
          timer = setTimeout(resolve, ms)
        })
        clearTimeout(timer)
        end = null
      }
      rung = false
    },
  }
}
