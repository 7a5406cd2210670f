/** Waiting for something to become true, and ports to wait on. Fails with what was awaited, never hangs. */
import { createServer } from 'node:net'

export interface WaitOptions {
  /** Said when it never happens. */
  what?: string
  timeoutMs?: number
  intervalMs?: number
}

/** The first result of `probe` that is neither null, undefined nor false; what it throws counts as "not yet". */
export async function waitFor<T>(
  probe: () => T | Promise<T>,
  { what = 'a condition', timeoutMs = 10_000, intervalMs = 20 }: WaitOptions = {},
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

/** A free port of 127.0.0.1, below the range that outgoing connections take theirs from. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
