/** Ports to listen on, each given out once in a run, because several tests may look for a free port at once. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { runDirectory } from './run-directory.ts'

/** A free port of 127.0.0.1 that no other caller in the run gets, below those that outgoing connections take. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (claim(port) && (await isFree(port))) return port
  }
}

/** It returns true for the first process and the first call only. */
function claim(port: number): boolean {
  const claimed = join(runDirectory(), 'ports')
  mkdirSync(claimed, { recursive: true })
  try {
    writeFileSync(join(claimed, String(port)), '', { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
