/** An answer for people: a page that loads nothing, is not stored, and tells no other site where it was. */
import type { PageContent } from '../../errors.ts'

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
