/**
 * The time for which the machine, busy with others or stopped, gave this process and the service in it no time at all.
 */

const BEAT_MS = 50

let total = 0
let beganAt = performance.now()
let cpuBefore = process.cpuUsage()

/**
 * Measures the time by which a beat comes too late, without the time that the process itself was at work: that is not
 * the machine's.
 */
function beat(): void {
  const now = performance.now()
  const { user, system } = process.cpuUsage(cpuBefore)
  total += Math.max(0, now - beganAt - BEAT_MS - (user + system) / 1000)
  beganAt = now
  cpuBefore = process.cpuUsage()
}
setInterval(beat, BEAT_MS).unref()

/** Milliseconds so far; what lies between two readings is what was lost meanwhile. */
export function stalledMs(): number {
  if (performance.now() - beganAt > 2 * BEAT_MS) beat()
  return total
}
