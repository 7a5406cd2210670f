/** Services for the tests of a file or of a `describe`: started before them, closed after them. */
import { afterAll, beforeAll, setDefaultTimeout } from 'bun:test'
import { startLimited } from './limited-service.ts'
import {
  deliverySettings,
  mergeSettings,
  type ServiceOptions,
  startService,
  type TestService,
} from './service.ts'

/** Of the start and of each test after it: services share two processors with the tests of other files. */
const TIMEOUT_MS = 120_000

/** The production shape, without limits and with a cheap password hash, unless the options say otherwise. */
export const useService = (options?: ServiceOptions): TestService => use(() => startService(options))

/** With limits on, a clock that stands still, and clients at any address: see limited-service.ts. */
export const useLimited = (options?: ServiceOptions): TestService => use(() => startLimited(options))

/**
 * A second process on the same stores, whose messages arrive where the first one's do. The embedded shape has only one:
 * there it is the service itself.
 */
export function useReplica(
  service: TestService,
  { shape, settings: own }: Pick<ServiceOptions, 'shape' | 'settings'> = {},
): TestService {
  if (shape === 'embedded') return service
  const start = () => {
    const { storage, clock, smtp, gateway } = service
    const settings = mergeSettings(deliverySettings(smtp, gateway), own)
    return startService({ ...(shape && { shape }), storage, clock, settings })
  }
  return use(start, service)
}

/** The things that must be closed before a service, by that service. */
const users = new WeakMap<object, (() => Promise<void>)[]>()

/**
 * Represents what `start` returns, which exists once the first test runs. It is closed after the last one, but before
 * `provider`, if it uses that one: hooks of bun:test run in the order in which they were registered. The tests that follow
 * have two minutes each; one that needs more says so itself.
 */
export function use<T extends { close(): Promise<void> }>(start: () => Promise<T>, provider?: object): T {
  let started: T | undefined
  setDefaultTimeout(TIMEOUT_MS)
  beforeAll(async () => {
    started = await start()
  })
  const proxy = new Proxy({} as T, {
    get(_, key) {
      if (started === undefined) throw new Error(`${String(key)} was read before the tests began`)
      return Reflect.get(started, key)
    },
  })
  const close = async () => {
    for (const closeUser of users.get(proxy) ?? []) await closeUser()
    await started?.close()
  }
  if (provider === undefined) afterAll(close)
  else users.set(provider, [...(users.get(provider) ?? []), close])
  return proxy
}
