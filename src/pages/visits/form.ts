/** A form: whether a page of ours sent it, what was typed, what comes back after a mistake, and what it then says. */

import { requireMayCall } from '../../domain/sessions/core/test-accounts.ts'
import type { Clock } from '../../platform/clock.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import { AppError, errorStatus } from '../../texts/errors.ts'
import { ownSentence } from '../../texts/sentences.ts'
import type { Problem } from './flow.ts'
import type { Typed, Visit } from './visit.ts'

/** The fields of a form; a field that is no text is left out. */
export function typedOf(body: unknown): Typed {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}

export function requireStorable(typed: Typed): void {
  const unstorable = findUnstorable(typed)
  if (unstorable.length > 0) throw new AppError('validation_failed', { fields: unstorable })
}

export function requireMaySend({ session }: Visit, { method, url }: Request): void {
  if (session) requireMayCall(session, `${method} ${new URL(url).pathname}`)
}

/** The fields that come back after a mistake: never a secret. */
export const keptOf = (typed: Typed, keeps: readonly string[]): Typed =>
  Object.fromEntries(
    keeps.flatMap((name) => (typed[name] ? [[name, typed[name].slice(0, 512).replaceAll('\0', '')]] : [])),
  )

/** Returns what the form can show. It is null if the form cannot, as for a store that is away. */
export function shownProblem(error: unknown, clock: Clock, { client }: Visit): Problem | null {
  if (!(error instanceof AppError) || error.details.page) return null
  const { errorCode: code, details } = error
  const { fields, retryAfterSeconds } = details
  const message = ownSentence(details.message, client.language)
  // Where it is worth another try soon, the code that was typed is as good as before.
  const passes = code === 'server_busy' || code === 'provider_unavailable' || retryAfterSeconds !== undefined
  if (errorStatus[code] >= 500 && !passes) return null
  const until = Math.ceil(clock.now().getTime() / 1000) + (retryAfterSeconds ?? 0)
  const said = { ...(fields && { fields }), ...(message !== undefined && { message }) }
  return { code, ...said, ...(retryAfterSeconds !== undefined && { until }) }
}

interface FormOrigin {
  /** The headers of the request. */
  headers: { get(name: string): string | null }
  /** The origin of the pages. */
  own: string
  /** True if the form brought a flow of this browser. */
  hasOwnFlow: boolean
}

/** By what the browser says where it says something, else by its flow. */
export function isFromOurPage({ headers, own, hasOwnFlow }: FormOrigin): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = headers.get('origin')
  return origin === null ? hasOwnFlow : origin === own
}

/**
 * An image, a script or a call of a page elsewhere, and no step of a person, by what the browser says. What a browser asks for
 * by itself, such as a page that is to be saved, has the site `none`.
 */
export const isPartOfOtherPage = (headers: FormOrigin['headers']): boolean =>
  ['same-site', 'cross-site'].includes(headers.get('sec-fetch-site') ?? '') &&
  (headers.get('sec-fetch-mode') ?? 'navigate') !== 'navigate'
