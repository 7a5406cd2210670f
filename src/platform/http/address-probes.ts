/**
 * The way in which a request of `poterne doctor` arrived: who connected, what X-Forwarded-For said, and which address
 * was made of that. Only a mark that was given out here is looked for, and nothing is kept of any other request.
 */
export interface Arrival {
  /** The peer that connected to the service: the proxy, where there is one. */
  peer: string | null
  forwardedFor: string | null
  /** The client's address as the limits count it. */
  address: string
  /** True if the peer is one of server.trusted_proxies. */
  isTrusted: boolean
}

export type AddressProbes = ReturnType<typeof createAddressProbes>

export const PROBE_HEADER = 'x-poterne-probe'

const LIFETIME_MS = 60_000
const MOST = 100

export function createAddressProbes() {
  const marks = new Map<string, { arrival: Arrival | null; endsAtMs: number }>()
  const removeOld = () => {
    for (const [mark, { endsAtMs }] of marks)
      if (endsAtMs < performance.now() || marks.size > MOST) marks.delete(mark)
  }
  return {
    /** True while a mark is expected: otherwise no header is read. */
    get isWaiting() {
      return marks.size > 0
    },
    /** Gives out a mark for one request of the next minute. */
    expect(): string {
      removeOld()
      const mark = crypto.randomUUID()
      marks.set(mark, { arrival: null, endsAtMs: performance.now() + LIFETIME_MS })
      return mark
    },
    note(mark: string | null, arrival: Arrival): void {
      removeOld()
      const expected = mark === null ? undefined : marks.get(mark)
      if (expected) expected.arrival = arrival
    },
    /** It returns null while it did not arrive. */
    take(mark: string): Arrival | null {
      const arrival = marks.get(mark)?.arrival ?? null
      if (arrival !== null) marks.delete(mark)
      return arrival
    },
  }
}
