/**
 * The request that the running code works for: a message that it queues is joined to the request's log line, and tells
 * the owner which device it was.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

interface RequestContext {
  requestId: string
  /** The name of the signed-in device, as its client gave it at login. */
  deviceName: string | null
}

const requests = new AsyncLocalStorage<RequestContext>()

export function runAsRequest<Result>(requestId: string, work: () => Result): Result {
  return requests.run({ requestId, deviceName: null }, work)
}

/** Null outside of any request. */
export function currentRequestId(): string | null {
  return requests.getStore()?.requestId ?? null
}

/** Null where nobody is signed in, or where the client gave no name. */
export function currentDeviceName(): string | null {
  return requests.getStore()?.deviceName ?? null
}

export function setCurrentDeviceName(name: string | null): void {
  const context = requests.getStore()
  if (context) context.deviceName = name
}
