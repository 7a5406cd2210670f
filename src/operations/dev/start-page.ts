/** The first page of --dev: links to the others. Without the key it only says how to open them. */
import { escapeHtml } from '../../platform/http/page-answer.ts'
import { type Language, textDirection } from '../../texts/languages.ts'
import type { Texts } from '../../texts/texts.ts'
import { pagePolicy } from './page-policy.ts'

const style = `
:root { color-scheme: light dark; --ground: #f6f5f2; --card: #ffffff; --ink: #1d2126; --line: #dcd9d2; --accent: #0f5f6b; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #1f2226; --ink: #e8e6e1; --line: #383d44;
  --accent: #6cc5d2; } }
body { margin: 0 auto; padding: 48px 16px; max-width: 480px; background: var(--ground);
  color: var(--ink); font: 17px/1.6 system-ui, sans-serif; }
h1 { margin: 0 0 16px; font-size: 24px; }
ul { margin: 0; padding: 0; list-style: none; }
a { display: block; margin: 0 0 12px; padding: 14px 18px; border: 1px solid var(--line); border-radius: 12px;
  background: var(--card); color: var(--accent); text-decoration: none; font-weight: 600; }
a:focus-visible { outline: 3px solid; outline-offset: 2px; }
`

export const startPolicy = pagePolicy({ style, script: '' })

export interface StartPage {
  isOpen: boolean
  /** It is null where nothing listens for administration. */
  adminUrl: string | null
  hasDocumentation: boolean
  /** True if the pages for people are served. */
  hasPages?: boolean
}

export function startPage(
  { isOpen, adminUrl, hasDocumentation, hasPages = false }: StartPage,
  language: Language,
  texts: Texts,
) {
  const words = texts.mailbox
  const links: [string, string][] = [
    ...(isOpen && hasPages ? ([['/sign-in', texts.pages.sign_in]] as [string, string][]) : []),
    ...(isOpen ? ([['/dev/mailbox', words.title]] as [string, string][]) : []),
    ...(hasDocumentation ? ([['/swagger', words.documentation]] as [string, string][]) : []),
    ...(isOpen && adminUrl !== null ? ([[adminUrl, words.administration]] as [string, string][]) : []),
  ]
  const items = links.map(([to, word]) => `<li><a href="${escapeHtml(to)}">${escapeHtml(word)}</a></li>`)
  return `<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>poterne</title>
<style>${style}</style>
</head>
<body>
<h1>poterne</h1>
${isOpen ? '' : `<p>${escapeHtml(words.closed)}</p>`}
<ul>
${items.join('\n')}
</ul>
</body>
</html>
`
}
