/** The access token for services of your own, and for nobody else. */
import { PoterneError } from './error.ts'
import { type Fetch, withoutSlash } from './send.ts'
import type { Kept, Session } from './session.ts'

/** A token that is younger than this was not refused for its age. */
const YOUNG_MS = 10_000

export const createServiceFetch =
  (session: Session, services: string[], fetch: Fetch) =>
  async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    const text = String(address)
    if (!services.some((origin) => text.startsWith(`${withoutSlash(origin)}/`)))
      throw new PoterneError('not_a_service', { message: `${text} is in none of the services` })
    const held = await session.required()
    const go = ({ access_token }: Kept) =>
      fetch(text, {
        ...init,
        headers: { ...listed(init.headers), authorization: `Bearer ${access_token}` },
      })
    const response = await go(held)
    const isOld = Date.now() - held.came > YOUNG_MS
    return response.status === 401 && isOld && !isStream(init.body)
      ? go(await session.refreshed(held))
      : response
  }

/** The headers as an object: `Headers` is not there in every engine. */
function listed(headers: RequestInit['headers']): Record<string, string> {
  const entries = (headers as { entries?(): Iterable<[string, string]> } | undefined)?.entries
  if (Array.isArray(headers)) return Object.fromEntries(headers)
  return entries ? Object.fromEntries(entries.call(headers)) : { ...(headers as Record<string, string>) }
}

/** It was read by the first try. */
const isStream = (body: unknown) => ['getReader', Symbol.asyncIterator].some((each) => each in Object(body))
