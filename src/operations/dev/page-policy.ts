/** The Content-Security-Policy of a page whose only style and script are in the page itself, allowed by their hashes. */
import { createHash } from 'node:crypto'

export function pagePolicy(page: { style: string; script: string; directives?: string[] }): string {
  return [
    `default-src 'none'`,
    `style-src ${hash(page.style)}`,
    `script-src ${hash(page.script)}`,
    `connect-src 'self'`,
    // Browsers ask for the icon of a site by themselves.
    `img-src 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
    ...(page.directives ?? [`form-action 'none'`]),
  ].join('; ')
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
