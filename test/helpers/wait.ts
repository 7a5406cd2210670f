/** Waits for something to become true. Fails with the name of what was awaited, and never hangs. */

/** A busy machine may need so long for anything: who waits in vain has found a defect. */
export const PATIENCE_MS = 30_000

export interface WaitOptions {
  /** Said when it never happens. */
  what?: string
  timeoutMs?: number
  intervalMs?: number
}

/** The first result of `probe` that is neither null, undefined nor false; what it throws counts as "not yet". */
export async function waitFor<T>(
  probe: () => T | Promise<T>,
  { what = 'a condition', timeoutMs = PATIENCE_MS, intervalMs = 20 }: WaitOptions = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      const result = await probe()
      if (result !== null && result !== undefined && result !== false)
        return result as NonNullable<Exclude<T, false>>
      last = undefined
    } catch (error) {
      last = error
    }
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause: last })
    await Bun.sleep(intervalMs)
  }
}

/** The probe, which calls `also` for each second that it is asked in vain. */
export function eachSecond<T>(also: () => void, probe: () => T): () => T {
  let nextMs = Date.now() + 1000
  return () => {
    if (Date.now() > nextMs) {
      nextMs += 1000
      also()
    }
    return probe()
  }
}
