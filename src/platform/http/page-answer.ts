/** Pages for people who followed a link: one form at most, no script, nothing from another host. */
import { createHash } from 'node:crypto'
import type { PageContent } from '../../texts/errors.ts'
import { textDirection } from '../../texts/languages.ts'

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] as string)

/** Builds pages with this style, which their policy allows by its hash. `content` is HTML, everything else is text. */
export function createPageAnswers(style: string) {
  const policy = [
    `default-src 'none'`,
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    `form-action 'self'`,
    // Browsers ask for the icon of a site by themselves.
    `img-src 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')
  return (language: string, title: string, content: string): PageContent => {
    const html = `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${content}
</body>
</html>
`
    return { html, policy, language }
  }
}

/** The answer with a page: it is not stored, and the browser tells no other site where it was. */
export function pageAnswer(
  { html, policy, language }: Omit<PageContent, 'language'> & { language?: string | undefined },
  status = 200,
  headers = new Headers(),
): Response {
  headers.set('content-type', 'text/html; charset=utf-8')
  headers.set('content-security-policy', policy)
  headers.set('referrer-policy', 'no-referrer')
  headers.set('cache-control', 'no-store')
  if (language !== undefined) headers.set('content-language', language)
  return new Response(html, { status, headers })
}
