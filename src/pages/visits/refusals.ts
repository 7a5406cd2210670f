/** The screens that take the place of a page which cannot be drawn, or of a form which cannot be taken. */

import { errorSentence, FORM_TYPE } from '../../texts/error-sentence.ts'
import { type ErrorCode, errorStatus } from '../../texts/errors.ts'
import type { Texts } from '../../texts/texts.ts'
import { type Html, html } from '../frame/html.ts'

export function failedScreen(texts: Texts, code: ErrorCode, href: string, waitSeconds: number | undefined) {
  const { failed_title: title, try_again: again } = texts.pages
  return {
    title,
    content: html`<h1>${title}</h1><p class="lead">${errorSentence(code, texts, FORM_TYPE)}${
      waitSeconds !== undefined && html` ${waitSentence(texts, waitSeconds)}`
    }</p>
<a class="button quiet" href="${href}">${again}</a>`,
  }
}

/** No page of ours was reached: there is none at this address, its form could not be read, or the service is away. */
export function unreachedScreen(texts: Texts, code: ErrorCode) {
  const { missing_title, failed_title, account } = texts.pages
  const title = [404, 405].includes(errorStatus[code]) ? missing_title : failed_title
  return {
    title,
    content: html`<h1>${title}</h1><p class="lead">${errorSentence(code, texts, FORM_TYPE)}</p>
<a class="button quiet" href="/account">${account}</a>`,
  }
}

/** Nobody can sign in with a browser that keeps no cookie, and the flow of its form cannot be read. */
export function cookiesBlockedScreen({ pages }: Texts, href: string) {
  return {
    title: pages.failed_title,
    content: html`<h1>${pages.failed_title}</h1><p class="lead">${pages.cookies_blocked}</p>
<a class="button quiet" href="${href}">${pages.try_again}</a>`,
  }
}

export function otherHostScreen({ pages }: Texts, base: URL) {
  return {
    title: pages.other_host_title,
    content: html`<h1>${pages.other_host_title}</h1>
<p class="lead">${pages.other_host}</p><a class="button" href="${base.origin}/sign-in">${base.host}</a>`,
  }
}

/** "Try again in 2 min." The script counts it down, silently for screen readers. */
export function waitSentence({ pages }: Texts, seconds: number): Html {
  const left = html`<span role="timer" aria-live="off" data-left="${seconds}">${Math.max(1, Math.ceil(seconds / 60))}</span>`
  const [before, after] = pages.try_again_minutes.split('{minutes}')
  return html`${before}${left}${after}`
}
