/** The page behind the link of a notice: one button, no script, nothing from elsewhere. */
import type { PageContent } from '../../../errors.ts'
import { createPageAnswers, escapeHtml } from '../../../platform/http/page-answer.ts'
import type { Language } from '../../../texts/languages.ts'
import type { Texts } from '../../../texts/texts.ts'
import { STOP_PATH } from './links.ts'

const style = `
:root { color-scheme: light dark; --ground: light-dark(#f6f5f2, #16181b); --ink: light-dark(#1d2126, #e8e6e1);
  --accent: light-dark(#0f5f6b, #6cc5d2); --on: light-dark(#ffffff, #16181b); }
body { margin: 0 auto; padding: 10vh 20px; max-width: 34em; background: var(--ground); color: var(--ink);
  font: 17px/1.5 system-ui, sans-serif; }
h1 { margin: 0 0 24px; font-size: 24px; line-height: 1.3; }
button { font: inherit; font-weight: 600; padding: 12px 24px; border: 0; border-radius: 9px; cursor: pointer;
  background: var(--accent); color: var(--on); }
:focus-visible { outline: 3px solid var(--ink); outline-offset: 3px; }
`

const createPage = createPageAnswers(style)

/** `gone`: nothing waits here (any more). */
export type StopState = { token: string } | 'stopped' | 'gone'

export function stopPage(state: StopState, texts: Texts, language: Language): PageContent {
  const { removal_asked, removal_stop, removal_stopped, removal_gone } = texts.sentences
  const title = state === 'stopped' ? removal_stopped : state === 'gone' ? removal_gone : removal_asked
  const form =
    typeof state === 'string'
      ? ''
      : `<form method="post" action="${STOP_PATH}">
<input type="hidden" name="t" value="${escapeHtml(state.token)}">
<button>${escapeHtml(removal_stop.replace(/\.$/, ''))}</button>
</form>`
  return createPage(language, title, `<h1>${escapeHtml(title)}</h1>\n${form}`)
}
