/** The pages behind the links of messages: the name of the service, a heading, and at most one form. */
import type { PageContent } from '../../texts/errors.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/types.ts'
import { styleIn } from '../look/style.ts'
import type { ServerSecret } from '../secret.ts'
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

const DONE_SECONDS = 86_400

/**
 * What was done by the form of a link stands sealed in the address to which it leads. So Reload and Back say it again for a day,
 * and nothing is stored.
 */
export function createDone<Done extends object>(
  label: string,
  { secret, clock }: { secret: ServerSecret; clock: Clock },
) {
  const now = () => Math.floor(clock.now().getTime() / 1000)
  return {
    leadTo(path: string, done: Done): Response {
      const sealed = secret.seal(label, JSON.stringify({ done, at: now() })).toString('base64url')
      return new Response(null, {
        status: 303,
        headers: { location: `${path}?done=${sealed}`, 'referrer-policy': 'no-referrer' },
      })
    },
    /** It returns null for what was not sealed here, or too long ago. */
    read(text: unknown): Done | null {
      if (typeof text !== 'string' || !/^[\w-]{1,1000}$/.test(text)) return null
      const opened = secret.tryToOpen(label, Buffer.from(text, 'base64url'))
      if (opened === null) return null
      const { done, at } = JSON.parse(opened.bytes.toString()) as { done: Done; at: number }
      return now() - at < DONE_SECONDS ? done : null
    },
  }
}
