/** The pages behind the links of messages: the name of the service, a heading, and at most one form. */
import type { PageContent } from '../../texts/errors.ts'
import type { Config } from '../config/types.ts'
import { styleIn } from '../look/style.ts'
import { createPageAnswers, escapeHtml } from './page-answer.ts'

interface LinkPage {
  language: string
  service: string
  title: string
  /** HTML. Everything else is text. */
  content: string
}

export type CreateLinkPage = (page: LinkPage) => PageContent

/** They have the look of the pages, in the same colour, whether pages are on or off. */
export function createLinkPages({ pages, texts }: Pick<Config, 'pages' | 'texts'>): CreateLinkPage {
  const createPage = createPageAnswers(styleIn(pages.colour || texts.colour))
  return ({ language, service, title, content }) =>
    createPage(
      language,
      title,
      `<header class="column top"><span class="brand"><span class="mark" aria-hidden="true">${escapeHtml([...service][0] ?? '')}</span> <bdi>${escapeHtml(service)}</bdi></span></header>
<main class="column panel">
<h1>${escapeHtml(title)}</h1>
${content}
</main>`,
    )
}
