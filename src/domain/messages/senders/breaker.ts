/**
 * Puts gateways in trouble behind the others. A gateway is asked last for a minute after five failures in a row, or
 * with a conversion below the configured one. Then one message probes it at its own place, which decides about the next
 * minute.
 */
import type { Clock } from '../../../platform/clock.ts'

const FAILURES = 5
const REST_MS = 60_000

interface State {
  failures: number
  /** 0: in its own place. */
  restsUntilMs: number
  isProbed: boolean
}

export type Breaker = ReturnType<typeof createBreaker>

export function createBreaker(clock: Clock) {
  const states = new Map<string, State>()
  const stateOf = (name: string): State => {
    const state = states.get(name) ?? { failures: 0, restsUntilMs: 0, isProbed: false }
    states.set(name, state)
    return state
  }
  const nowMs = () => clock.now().getTime()
  const rest = (state: State) => {
    state.restsUntilMs = nowMs() + REST_MS
    state.isProbed = false
  }
  const isSuspended = ({ restsUntilMs, isProbed }: State) =>
    restsUntilMs !== 0 && (isProbed || nowMs() < restsUntilMs)

  return {
    /** The gateways in the order in which a message asks them. */
    order<Gateway extends { name: string }>(gateways: Gateway[]): Gateway[] {
      const [first, last] = [[] as typeof gateways, [] as typeof gateways]
      for (const gateway of gateways) {
        const state = stateOf(gateway.name)
        if (isSuspended(state)) last.push(gateway)
        else {
          // The minute is over: this message is the probe, and the others keep the order until its outcome is known.
          if (state.restsUntilMs !== 0) state.isProbed = true
          first.push(gateway)
        }
      }
      return [...first, ...last]
    },
    note(name: string, isWell: boolean): void {
      const state = stateOf(name)
      if (isWell) states.set(name, { failures: 0, restsUntilMs: 0, isProbed: false })
      else if (++state.failures >= FAILURES) rest(state)
    },
    /** Too few of its codes are verified. */
    suspend: (name: string): void => rest(stateOf(name)),
  }
}
