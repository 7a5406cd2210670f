/** The first page of --dev, where one begins. Without the key it only says how to open it. */

import { BUILT_IN_COLOUR } from '../../platform/config/schema.ts'
import { escapeHtml } from '../../platform/http/page-answer.ts'
import { type IconName, iconSvg } from '../../platform/look/icons.ts'
import { styleIn } from '../../platform/look/style.ts'
import { type Language, textDirection } from '../../texts/languages.ts'
import { fillSentence } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import { pagePolicy } from './page-policy.ts'
import type { DevPerson } from './people.ts'

/** What this page adds to the style of all pages. */
const more = `
main > h2 { margin: 32px 0 12px; }
main p { margin-top: 16px; }
main pre { margin-top: 8px; }
.row form { flex: 0 1 auto; }
.row form > .button { white-space: normal; overflow-wrap: anywhere; }
.acts { flex-wrap: wrap; }
.acts > .text { flex-basis: 220px; }
.copy { min-height: 24px; font-size: 14px; }
`
const style = styleIn(BUILT_IN_COLOUR) + more

/** An app shows another code each half minute. Browsers let only pages of this machine, or by HTTPS, copy. */
const script = `
for (const copy of document.querySelectorAll('.copy')) {
  copy.hidden = !navigator.clipboard
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(copy.previousElementSibling.textContent)
    copy.textContent = document.body.dataset.copied
  })
}
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
  const { start } = texts
  const row = (to: string, name: IconName, word: string, about: string) =>
    `<li><a class="row" href="${escapeHtml(to)}">${iconSvg(name)}<span class="text"><span>${escapeHtml(word)}</span> <span>${escapeHtml(about)}</span></span>${iconSvg('chevron', 'chevron')}</a></li>`
  const items = [
    isOpen && hasPages && row('/sign-in', 'person', texts.pages.sign_in, start.to_pages),
    isOpen && row('/dev/mailbox', 'mail', words.title, start.to_mailbox),
    hasDocumentation && row('/swagger', 'link', words.documentation, start.to_documentation),
    isOpen && adminUrl !== null && row(adminUrl, 'shield', words.administration, start.to_administration),
  ].filter((item) => item !== false)
  return `<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>poterne</title>
<style>${style}</style>
</head>
<body class="wide" data-copied="${escapeHtml(words.copied)}">
<header class="column top"><span class="brand"><span class="mark" aria-hidden="true">P</span> <span>poterne</span></span></header>
<main class="column">
<h1 class="hidden">poterne</h1>
${isOpen ? '' : `<p class="lead">${escapeHtml(words.closed)}</p>`}
<ul class="card rows">
${items.join('\n')}
</ul>
${isOpen ? `${peopleSection(people, texts)}${applicationSection(shown, texts)}` : ''}
</main>
${isOpen ? `<script>${script}</script>` : ''}
</body>
</html>
`
}

function peopleSection(people: StartPage['people'], texts: Texts): string {
  const { start } = texts
  const shown =
    people.length === 0
      ? `<p>${escapeHtml(start.nobody).replace(/`(.+)`/, '<code>$1</code>')}</p>`
      : `<ul class="card rows">${people.map((person) => card(person, texts)).join('\n')}</ul>`
  return `<h2>${escapeHtml(start.people)}</h2>\n${shown}\n`
}

function card(
  { identifier, password, about, appSecret, code, isOwner }: StartPage['people'][number],
  texts: Texts,
) {
  const { start } = texts
  const name = escapeHtml(identifier)
  // What stands before it is copied.
  const copy = `<button class="link copy" type="button" hidden>${escapeHtml(texts.mailbox.copy)}<span class="hidden"> ${name}</span></button>`
  const lines = [
    escapeHtml(start[`about_${about}`]),
    isOwner ? escapeHtml(start.owner) : '',
    password === null ? '' : `${escapeHtml(start.password)} <code>${escapeHtml(password)}</code> ${copy}`,
    appSecret === null
      ? ''
      : `${escapeHtml(start.app_code)} <output data-of="${name}">${code}</output> ${copy}`,
  ]
  return `<li><div class="row acts"><span class="text"><span><bdi dir="ltr">${name}</bdi> ${copy}</span>
${lines.map((line) => (line === '' ? '' : `<span>${line}</span>`)).join('\n')}</span>
<form method="post" action="/dev/sign-in"><input type="hidden" name="identifier" value="${name}"><button class="button quiet little">${escapeHtml(fillSentence(start.sign_in_as, { name: identifier }))}</button></form></div>
</li>`
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
