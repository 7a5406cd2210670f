/**
 * Ends the process if the thread that answers does nothing any more: what runs in WebAssembly cannot be interrupted,
 * and a thread that spins there handles no signal either. The supervisor starts it again.
 */

/** No upkeep or recovery takes longer. */
const SILENCE_MS = 24_000
const BEATS_IN_TIME = 5

/** Counts by its own clock, which stands still while the whole process does. A text, because the executable is one file. */
const SOURCE = `
import { writeSync } from 'node:fs'
self.onmessage = ({ data: { beats, intervalMs } }) => {
  let last = -1
  let silent = 0
  setInterval(() => {
    const now = Atomics.load(beats, 0)
    silent = now === last ? silent + 1 : 0
    last = now
    if (silent <= ${BEATS_IN_TIME}) return
    try {
      writeSync(2, 'poterne failed: the database has not returned for too long, so this process ends\\n')
    } finally {
      process.kill(process.pid, 'SIGKILL')
    }
  }, intervalMs)
}`

/** The function that stops it. */
export function startWatchdog(silenceMs = SILENCE_MS): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const intervalMs = silenceMs / BEATS_IN_TIME
  const url = URL.createObjectURL(new Blob([SOURCE], { type: 'application/javascript' }))
  const worker = new Worker(url, { smol: true })
  worker.unref()
  worker.postMessage({ beats, intervalMs })
  const timer = setInterval(() => Atomics.add(beats, 0, 1), intervalMs / 2)
  timer.unref()
  return () => {
    clearInterval(timer)
    worker.terminate()
    URL.revokeObjectURL(url)
  }
}
