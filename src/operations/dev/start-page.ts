/** The first page of --dev, where one begins. Without the key it only says how to open it. */
import { escapeHtml } from '../../platform/http/page-answer.ts'
import { type Language, textDirection } from '../../texts/languages.ts'
import type { Texts } from '../../texts/texts.ts'
import { pagePolicy } from './page-policy.ts'
import type { DevPerson } from './people.ts'

const style = `
:root { color-scheme: light dark; --ground: #f6f5f2; --card: #ffffff; --ink: #1d2126; --soft: #5c646d; --line: #dcd9d2;
  --accent: #0f5f6b; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #1f2226; --ink: #e8e6e1; --soft: #a5abb3;
  --line: #383d44; --accent: #6cc5d2; } }
body { margin: 0 auto; padding: 48px 16px; max-width: 480px; background: var(--ground);
  color: var(--ink); font: 17px/1.6 system-ui, sans-serif; }
h1 { margin: 0 0 16px; font-size: 24px; }
h2 { margin: 32px 0 12px; font-size: 19px; }
ul { margin: 0; padding: 0; list-style: none; }
a { display: block; margin: 0 0 12px; padding: 14px 18px; border: 1px solid var(--line); border-radius: 12px;
  background: var(--card); color: var(--accent); text-decoration: none; font-weight: 600; }
article { margin: 0 0 12px; padding: 14px 18px; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
article strong, article code { overflow-wrap: anywhere; }
article p { margin: 0; font-size: 15px; color: var(--soft); }
form { margin: 10px 0 0; }
button { font: inherit; color: var(--accent); padding: 8px 14px; border: 1px solid var(--line); border-radius: 9px;
  background: var(--ground); cursor: pointer; }
code, output, pre { font: 15px/1.5 ui-monospace, monospace; color: var(--ink); }
pre { margin: 0; padding: 14px 18px; border: 1px solid var(--line); border-radius: 12px; background: var(--card);
  overflow-x: auto; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
`

/** An app shows another code each half minute. */
const script = `
setInterval(async () => {
  try {
    const answer = await fetch('/dev/people.json', { cache: 'no-store' })
    for (const { identifier, code } of await answer.json())
      for (const shown of document.querySelectorAll('output'))
        if (shown.dataset.of === identifier) shown.textContent = code
  } catch {}
}, 3000)
`

export const startPolicy = pagePolicy({ style, script, directives: [`form-action 'self'`] })

export interface StartPage {
  isOpen: boolean
  /** It is null where nothing listens for administration. */
  adminUrl: string | null
  hasDocumentation: boolean
  /** True if the pages for people are served. */
  hasPages?: boolean
  people: (DevPerson & { code: string | null })[]
  /** The address by which an application knows the service. */
  baseUrl: string
  applications: { id: string; name: string }[]
}

export function startPage(shown: StartPage, language: Language, texts: Texts) {
  const { isOpen, adminUrl, hasDocumentation, hasPages = false, people } = shown
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
${isOpen ? `${peopleSection(people, texts)}${applicationSection(shown, texts)}<script>${script}</script>` : ''}
</body>
</html>
`
}

function peopleSection(people: StartPage['people'], texts: Texts): string {
  const { start } = texts
  if (people.length === 0) return `<h2>${escapeHtml(start.people)}</h2>\n<p>${escapeHtml(start.nobody)}</p>\n`
  return `<h2>${escapeHtml(start.people)}</h2>\n${people.map((person) => card(person, texts)).join('\n')}\n`
}

function card(
  { identifier, password, about, appSecret, code, isOwner }: StartPage['people'][number],
  texts: Texts,
) {
  const { start } = texts
  const name = escapeHtml(identifier)
  const lines = [
    escapeHtml(start[`about_${about}`]),
    isOwner ? escapeHtml(start.owner) : '',
    password === null ? '' : `${escapeHtml(start.password)} <code>${escapeHtml(password)}</code>`,
    appSecret === null ? '' : `${escapeHtml(start.app_code)} <output data-of="${name}">${code}</output>`,
  ]
  return `<article><strong dir="ltr">${name}</strong>
${lines.map((line) => (line === '' ? '' : `<p>${line}</p>`)).join('\n')}
<form method="post" action="/dev/sign-in"><input type="hidden" name="identifier" value="${name}"><button>${escapeHtml(start.sign_in_as.replace('{name}', identifier))}</button></form>
</article>`
}

/** The two lines by which an application finds the service. */
function applicationSection({ baseUrl, applications }: StartPage, { start }: Texts): string {
  const [first] = applications
  const lines = [`POTERNE_URL=${baseUrl}`, ...(first ? [`CLIENT_ID=${first.id}`] : ['CLIENT_ID=web'])]
  return `<h2>${escapeHtml(start.application)}</h2>
<pre dir="ltr">${escapeHtml(lines.join('\n'))}</pre>
${first ? '' : `<p>${escapeHtml(start.no_application)}</p>\n<pre dir="ltr">${escapeHtml(APPLICATION)}</pre>\n`}`
}

const APPLICATION = `[server]
cors_origins = ["http://localhost:5173"]

[[pages.applications]]
id = "web"
name = "Example"
redirect_uris = ["http://localhost:5173/"]`
