/** Services for the tests of a file or of a `describe`: started before them, closed after them. */
import { afterAll, beforeAll } from 'bun:test'
import { startLimited } from './limited-service.ts'
import { deliverySettings, type ServiceOptions, startService, type TestService } from './service.ts'

const START_TIMEOUT_MS = 60_000

/** The production shape, without limits and with a cheap password hash, unless the options say otherwise. */
export const useService = (options?: ServiceOptions): TestService => use(() => startService(options))

/** With limits on, a clock that stands still, and clients at any address: see limited-service.ts. */
export const useLimited = (options?: ServiceOptions): TestService => use(() => startLimited(options))

/**
 * A second process on the same stores, whose messages arrive where the first one's do. The embedded shape has only one:
 * there it is the service itself.
 */
export function useReplica(service: TestService, { shape }: Pick<ServiceOptions, 'shape'> = {}): TestService {
  if (shape === 'embedded') return service
  return use(() => {
    const { storage, clock, smtp, gateway } = service
    return startService({
      ...(shape && { shape }),
      storage,
      clock,
      settings: deliverySettings(smtp, gateway),
    })
  })
}

/** Stands for what `start` gives, which is there once the first test runs. */
export function use<T extends { close(): Promise<void> }>(start: () => Promise<T>): T {
  let started: T | undefined
  beforeAll(async () => {
    started = await start()
  }, START_TIMEOUT_MS)
  afterAll(() => started?.close())
  return new Proxy({} as T, {
    get(_, key) {
      if (started === undefined) throw new Error(`${String(key)} was read before the tests began`)
      return Reflect.get(started, key)
    },
  })
}
