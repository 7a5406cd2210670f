/** The pages behind the links of messages: the name of the service, a heading, and at most one form. */
import type { PageContent } from '../../texts/errors.ts'
import { createPageAnswers, escapeHtml } from './page-answer.ts'

const style = `
:root { color-scheme: light dark; --ground: #f6f5f2; --card: #ffffff;
  --ink: #1d2126; --soft: #5c646d; --line: #dcd9d2;
  --button: #0f5f6b; --label: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #1f2226; --ink: #e8e6e1;
  --soft: #a5abb3; --line: #383d44; --button: #6cc5d2; --label: #10262a; } }
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

interface LinkPage {
  language: string
  service: string
  title: string
  /** HTML. Everything else is text. */
  content: string
}

export const createLinkPage = ({ language, service, title, content }: LinkPage): PageContent =>
  createPage(
    language,
    title,
    `<header><bdi>${escapeHtml(service)}</bdi></header>
<h1>${escapeHtml(title)}</h1>
${content}`,
  )
