/**
 * The request that the running code works for. A message that it queues is joined to the log line of the request and
 * names the device; an event that it records contains who acted, and from where.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

interface RequestContext {
  requestId: string
  /** It is null for a command. */
  address: string | null
  addressBucket: string | null
  /** The name of the signed-in device, as its client gave it at login. */
  deviceName: string | null
  /** The session that the access token names. */
  sessionId: string | null
  /** It is null for the account that the request is about. */
  actor: RequestActor | null
  work: RequestWork
}

/**
 * The work that the request made the service do: a login is slower than a look into a store, and that than a constant.
 */
export interface RequestWork {
  hashed: boolean
  askedStore: boolean
}

export interface RequestActor {
  type: 'account' | 'administrator' | 'token' | 'operator' | 'system'
  id: string | null
  name: string | null
}

const requests = new AsyncLocalStorage<RequestContext>()

type Origin = Pick<RequestContext, 'requestId'> & Partial<RequestContext>

export function runAsRequest<Result>(origin: Origin, work: () => Result): Result {
  const nobody = {
    address: null,
    addressBucket: null,
    deviceName: null,
    sessionId: null,
    actor: null,
    work: { hashed: false, askedStore: false },
  }
  return requests.run({ ...nobody, ...origin }, work)
}

/** It returns undefined outside of any request. */
export function currentRequest(): Readonly<RequestContext> | undefined {
  return requests.getStore()
}

/** The session that the request's access token names. */
export function setCurrentSession(session: { id: string; deviceName: string | null }): void {
  const context = requests.getStore()
  if (!context) return
  context.deviceName = session.deviceName
  context.sessionId = session.id
}

export function setCurrentActor(actor: RequestActor): void {
  const context = requests.getStore()
  if (!context) return
  context.actor = actor
  // A socket has no address.
  if (actor.type === 'operator') context.address = null
}

/** It is null if an administrator, a token or the service itself acts: theirs is none of the owner's business. */
export function addressOfPerson(): string | null {
  const request = currentRequest()
  return request && request.actor === null ? request.address : null
}

export function noteWork(kind: keyof RequestWork): void {
  const context = requests.getStore()
  if (context) context.work[kind] = true
}
