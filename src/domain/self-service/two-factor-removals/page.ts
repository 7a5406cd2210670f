/** The page behind the link of a notice: one button, no script, nothing from elsewhere. */

import type { CreateLinkPage } from '../../../platform/http/link-page.ts'
import { escapeHtml } from '../../../platform/http/page-answer.ts'
import type { PageContent } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import type { Texts } from '../../../texts/texts.ts'
import { STOP_PATH } from './links.ts'

/** `gone`: nothing waits here (any more). */
export type StopState = { token: string } | 'stopped' | 'gone'

interface Reader {
  draw: CreateLinkPage
  service: string
  /** Where people find their account; null without pages. */
  accountPath: string | null
  texts: Texts
  language: Language
}

export function stopPage(
  state: StopState,
  { draw, service, accountPath, texts, language }: Reader,
): PageContent {
  const { removal_asked, removal_stop, removal_stopped, removal_gone } = texts.sentences
  const title = state === 'stopped' ? removal_stopped : state === 'gone' ? removal_gone : removal_asked
  const content =
    typeof state === 'string'
      ? accountPath === null
        ? ''
        : `<a class="button main" href="${accountPath}">${escapeHtml(texts.pages.account)}</a>`
      : `<form method="post" action="${STOP_PATH}">
<input type="hidden" name="t" value="${escapeHtml(state.token)}">
<button class="button main">${escapeHtml(removal_stop.replace(/\.$/, ''))}</button>
</form>`
  return draw({ language, service, title, content })
}
