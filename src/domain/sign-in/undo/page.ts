/** The page behind an undo link, for people who may use any device: no script, and nothing from another host. */

import type { CreateLinkPage } from '../../../platform/http/link-page.ts'
import { escapeHtml } from '../../../platform/http/page-answer.ts'
import type { PageContent } from '../../../texts/errors.ts'
import { compileTemplate } from '../../../texts/template.ts'
import type { Texts } from '../../../texts/texts.ts'

interface PageOptions {
  draw: CreateLinkPage
  language: string
  words: Texts['undo']
  service: string
  /** People reach those who run the service there; null if they are not told. */
  support: string | null
  /** Masked. */
  contact: string
}

const page = ({ draw, language, service }: PageOptions, title: string, content: string[]): PageContent =>
  draw({ language, service, title, content: content.join('\n') })

/** A sentence about the contact and the service, neither of which takes part in the direction of its letters. */
function paragraph(sentence: string, { contact, service, support }: PageOptions): string {
  const text = compileTemplate(sentence)({
    contact: `\u2066${contact.replaceAll(' ', '\u00a0')}\u2069`,
    service: `\u2068${service}\u2069`,
    ...(support !== null && { support: `\u2066${support}\u2069` }),
  })
  return `<p class="next">${escapeHtml(text)}</p>`
}

/** The token is in the form and not in its address: what sends an empty POST to the link does nothing. */
export function undoForm(options: PageOptions, token: string): PageContent {
  const { words } = options
  return page(options, words.title, [
    paragraph(words.about, options),
    paragraph(words.effects, options),
    `<form method="post" action="/undo"><input type="hidden" name="t" value="${escapeHtml(token)}"><button class="button main">${escapeHtml(words.button)}</button></form>`,
  ])
}

/** `next`: where the person goes on, if there are pages for people. */
export function undoDone(
  options: PageOptions,
  next: { href: string; label: string } | null = null,
): PageContent {
  const { words } = options
  return page(options, words.done_title, [
    paragraph(words.done, options),
    paragraph(words.next, options),
    ...(next ? [`<a class="button main" href="${next.href}">${escapeHtml(next.label)}</a>`] : []),
  ])
}

export function undoRefused(options: PageOptions, title: string, sentence: string): PageContent {
  return page(options, title, [paragraph(sentence, options)])
}
