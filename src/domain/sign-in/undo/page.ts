/** The page behind an undo link, for people who may use any device: no script, and nothing from another host. */
import type { PageContent } from '../../../errors.ts'
import { createPageAnswers, escapeHtml } from '../../../platform/http/page-answer.ts'
import { compileTemplate } from '../../../texts/template.ts'

export type UndoWords = Record<
  | 'title'
  | 'about'
  | 'effects'
  | 'button'
  | 'done_title'
  | 'done'
  | 'next'
  | 'invalid_title'
  | 'invalid'
  | 'taken_title'
  | 'taken'
  | 'refused_title',
  string
>

interface PageOptions {
  language: string
  words: UndoWords
  service: string
  /** People reach those who run the service there; null if they are not told. */
  support: string | null
  /** Masked. */
  contact: string
}

const style = `
:root { color-scheme: light dark; --ground: light-dark(#f6f5f2, #16181b); --card: light-dark(#ffffff, #1f2226);
  --ink: light-dark(#1d2126, #e8e6e1); --soft: light-dark(#5c646d, #a5abb3); --line: light-dark(#dcd9d2, #383d44);
  --button: light-dark(#0f5f6b, #6cc5d2); --label: light-dark(#ffffff, #10262a); }
* { box-sizing: border-box; }
body { margin: 0; padding: 24px 16px; min-height: 100vh; display: grid; place-items: center; background: var(--ground);
  color: var(--ink); font: 17px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { width: 100%; max-width: 480px; padding: 28px; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; overflow-wrap: anywhere; }
header { margin: 0 0 6px; color: var(--soft); }
h1 { margin: 0 0 14px; font-size: 24px; line-height: 1.25; }
p { margin: 0 0 16px; }
main > :last-child { margin-bottom: 0; }
button { width: 100%; margin-top: 4px; padding: 13px 20px; border: 0; border-radius: 10px; background: var(--button);
  color: var(--label); font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--ink); outline-offset: 3px; }
`

const createPage = createPageAnswers(style)

const page = ({ language, service }: PageOptions, title: string, content: string[]): PageContent =>
  createPage(
    language,
    title,
    `<header><bdi>${escapeHtml(service)}</bdi></header>
<h1>${escapeHtml(title)}</h1>
${content.join('\n')}`,
  )

/** A sentence about the contact and the service, neither of which takes part in the direction of its letters. */
function paragraph(sentence: string, { contact, service, support }: PageOptions): string {
  const text = compileTemplate(sentence)({
    contact: `\u2066${contact.replaceAll(' ', '\u00a0')}\u2069`,
    service: `\u2068${service}\u2069`,
    ...(support !== null && { support: `\u2066${support}\u2069` }),
  })
  return `<p>${escapeHtml(text)}</p>`
}

/** The token is in the form and not in its address: what sends an empty POST to the link does nothing. */
export function undoForm(options: PageOptions, token: string): PageContent {
  const { words } = options
  return page(options, words.title, [
    paragraph(words.about, options),
    paragraph(words.effects, options),
    `<form method="post" action="/undo"><input type="hidden" name="t" value="${escapeHtml(token)}"><button>${escapeHtml(words.button)}</button></form>`,
  ])
}

export function undoDone(options: PageOptions): PageContent {
  const { words } = options
  return page(options, words.done_title, [paragraph(words.done, options), paragraph(words.next, options)])
}

export function undoRefused(options: PageOptions, title: string, sentence: string): PageContent {
  return page(options, title, [paragraph(sentence, options)])
}
