/** The screens that take the place of a page which cannot be drawn, or of a form which cannot be taken. */

import { writeDuration } from '../../texts/dates.ts'
import { type ErrorCode, errorStatus } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import { errorSentence, FORM_TYPE } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import { heading } from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'

/** What happened, as a title. */
function titleOf({ pages }: Texts, code: ErrorCode): string {
  const status = errorStatus[code]
  if (status === 404 || status === 405) return pages.missing_title
  if (status === 429) return pages.too_many_title
  if (code === 'invalid_sign_in_state') return pages.start_over
  return status >= 500 ? pages.away_title : pages.failed_title
}

/** `own`: what the team's own program says. */
export function failedScreen(
  { texts, language }: { texts: Texts; language: Language },
  code: ErrorCode,
  href: string,
  waitSeconds: number | undefined,
  own = errorSentence(code, texts, FORM_TYPE),
) {
  const { start_over, try_again } = texts.pages
  const title = titleOf(texts, code)
  const label = code === 'invalid_sign_in_state' ? start_over : try_again
  const lead = waitSeconds === undefined ? own : waitSentence(texts, language, waitSeconds)
  return {
    title,
    content: html`${heading(title, lead)}
<a class="button quiet main" href="${href}"${waitSeconds !== undefined && html` data-wait="${waitSeconds}"`}>${label}</a>`,
  }
}

/** No page of ours was reached: there is none at this address, its form could not be read, or the service is away. */
export function unreachedScreen(texts: Texts, code: ErrorCode) {
  const title = titleOf(texts, code)
  return {
    title,
    content: html`${heading(title, errorSentence(code, texts, FORM_TYPE))}
<a class="button quiet main" href="/account">${texts.pages.account}</a>`,
  }
}

/** Nobody can sign in with a browser that keeps no cookie, and the flow of its form cannot be read. */
export function cookiesBlockedScreen({ pages }: Texts, href: string) {
  return {
    title: pages.cookies_title,
    content: html`${heading(pages.cookies_title, pages.cookies_blocked)}
<a class="button quiet main" href="${href}">${pages.try_again}</a>`,
  }
}

export function otherHostScreen({ pages }: Texts, base: URL) {
  return {
    title: pages.other_host_title,
    content: html`${heading(pages.other_host_title, pages.other_host)}
<a class="button main" href="${base.origin}/sign-in">${base.host}</a>`,
  }
}

/** "You can try again in 2 minutes." The script counts it down, silently for screen readers. The title or a sentence before it says why. */
export function waitSentence({ pages }: Texts, language: Language, seconds: number): Html {
  const left = html`<span role="timer" aria-live="off" data-left="${seconds}">${writeDuration(seconds, language)}</span>`
  const [before = '', after] = pages.try_again_in.split('{time}')
  // The time does not stand alone on its line.
  return html`${before.replace(/ $/, '\u00a0')}${left}${after}`
}
