/**
 * The mailbox of --dev as a page for people: newest first, the code in large type, e-mail and SMS told apart at a
 * glance. Everything that came from outside is escaped; an HTML part is shown in a sandboxed frame of its own.
 */

import { BUILT_IN_COLOUR } from '../../platform/config/schema.ts'
import { escapeHtml } from '../../platform/http/page-answer.ts'
import { iconSvg } from '../../platform/look/icons.ts'
import { styleIn } from '../../platform/look/style.ts'
import { type Language, textDirection } from '../../texts/languages.ts'
import type { Texts } from '../../texts/texts.ts'
import type { MailboxEntry } from './mailbox.ts'
import { pagePolicy } from './page-policy.ts'

/** What this page adds to the style of all pages. */
const more = `
body { display: block; margin: 0 auto; padding: 0 20px 48px; max-width: 760px; background: var(--page); }
nav.top { padding: 24px 0; }
.brand { color: inherit; }
.soft { margin: 6px 0 16px; }
.tools { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 16px; }
.tools input { flex: 1 1 200px; width: auto; min-width: 0; }
.tools select, .tools .button { width: auto; }
a.row[aria-current] { background: var(--raised); }
article { margin: 0 0 12px; padding: 14px 18px; background: var(--ground); border: 1px solid var(--line); border-radius: 12px; }
article[data-channel=sms] { border-radius: 4px 22px 22px 22px; }
.about { display: flex; flex-wrap: wrap; gap: 2px 12px; font-size: 14px; color: var(--soft); overflow-wrap: anywhere; }
.about .channel { display: flex; align-items: center; gap: 6px; font-weight: 600; color: var(--accent); }
[data-channel=sms] .about .channel { color: var(--warn); }
.about .icon { width: 16px; height: 16px; }
.about time { margin-inline-start: auto; }
h2 { margin: 6px 0; font-size: 17px; overflow-wrap: anywhere; }
.code { display: flex; flex-wrap: wrap; align-items: center; gap: 16px; margin: 8px 0; }
output { font: 600 36px/1.2 var(--mono); letter-spacing: 6px; }
details { margin-top: 6px; }
summary { cursor: pointer; font-size: 14px; color: var(--soft); }
pre { margin: 8px 0 0; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }
ol { display: none; list-style: none; }
.tag { padding: 0 8px; border-radius: 6px; background: var(--good-ground); color: var(--good); font-size: 13px; font-weight: 500; }
/* Where there is room, the list stands beside the message that was chosen, or the newest. */
@media (min-width: 900px) {
  body { max-width: 1240px; }
  .mail { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 16px; align-items: start; }
  .mail > ol { display: block; position: sticky; top: 16px; margin: 0; max-height: calc(100dvh - 32px); overflow: auto; }
  .mail > div > article { display: none; }
  .mail > div > article:target, .mail > div:not(:has(:target)) > article:not([hidden]):first-of-type { display: block; }
  .mail > ol .text > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .mail iframe { height: 620px; }
}
iframe { width: 100%; height: 420px; margin-top: 8px; border: 1px solid var(--line); border-radius: 8px; background: #fff; }
`
const style = styleIn(BUILT_IN_COLOUR) + more

/** Local times, a filter, copying, and a reload when something new is there and nobody is reading a message. */
const script = `
const lang = document.documentElement.lang
for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime)
  time.textContent = at.toLocaleTimeString(lang, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  time.title = at.toLocaleString(lang, { dateStyle: 'full', timeStyle: 'long' })
}
const text = document.getElementById('filter')
const channel = document.getElementById('channel')
const none = document.getElementById('none')
const list = document.querySelector('ol')
// What came since the page was last looked at is marked.
const seen = Number(sessionStorage.getItem('seen') ?? Infinity)
for (const mark of document.querySelectorAll('.tag')) mark.hidden = Number(mark.dataset.id) <= seen
sessionStorage.setItem('seen', document.body.dataset.newest || '0')
// The message beside the list is shown with its HTML part.
const isWide = matchMedia('(min-width: 900px)')
function unfold() {
  if (!isWide.matches) return
  const shown = [...document.querySelectorAll('article')].find((one) => one.offsetParent !== null)
  const part = shown?.querySelector('details:has(iframe)')
  if (part) part.open = true
  for (const link of list.querySelectorAll('a')) {
    if (shown && link.hash === '#' + shown.id) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
}
addEventListener('hashchange', unfold)
function filter() {
  const wanted = text.value.trim().toLowerCase()
  let shown = 0
  for (const one of document.querySelectorAll('article')) {
    const fits = (channel.value === '' || one.dataset.channel === channel.value) &&
      one.textContent.toLowerCase().includes(wanted)
    one.hidden = !fits
    list.querySelector('[href="#' + one.id + '"]').parentElement.hidden = !fits
    if (fits) shown += 1
  }
  none.hidden = shown > 0
  sessionStorage.setItem('filter', JSON.stringify([text.value, channel.value]))
}
;[text.value, channel.value] = JSON.parse(sessionStorage.getItem('filter') ?? '["",""]')
text.addEventListener('input', filter)
channel.addEventListener('input', filter)
filter()
document.addEventListener('toggle', ({ target }) => {
  const frame = target.querySelector?.('iframe')
  if (target.open && frame && !frame.src) frame.src = frame.dataset.src
}, true)
unfold()
document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLButtonElement) || !target.value) return
  await navigator.clipboard.writeText(target.value)
  target.textContent = document.body.dataset.copied
})
setInterval(async () => {
  if (!isWide.matches && document.querySelector('details[open]')) return
  try {
    const answer = await fetch('/dev/mailbox.json', { cache: 'no-store' })
    const [newest] = await answer.json()
    if (String(newest?.id ?? '') !== document.body.dataset.newest) location.reload()
  } catch {}
}, 1500)
`

export const mailboxPolicy = pagePolicy({
  style,
  script,
  directives: [`frame-src 'self'`, `form-action 'self'`],
})

/** The policy of an HTML part in its frame: a document without origin, scripts, forms or anything from elsewhere. */
export const htmlPartPolicy = [
  'sandbox',
  `default-src 'none'`,
  `style-src 'unsafe-inline'`,
  'img-src https: data:',
  `frame-ancestors 'self'`,
].join('; ')

export function mailboxPage(entries: MailboxEntry[], language: Language, texts: Texts): string {
  const words = escapeWords(texts.mailbox)
  const newest = entries[0]?.id ?? ''
  return `<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${words.title}</title>
<style>${style}</style>
</head>
<body data-newest="${newest}" data-copied="${words.copied}">
<nav class="top"><a class="brand" href="/"><span class="mark" aria-hidden="true">P</span> <span>poterne</span></a><a href="/swagger">${words.documentation}</a></nav>
<main>
<h1>${words.title}</h1>
<p class="soft">${words.about}</p>
<form class="tools" method="post" action="/dev/mailbox/clear">
<input id="filter" type="search" placeholder="${words.filter}" aria-label="${words.filter}" autocomplete="off">
<select id="channel" aria-label="${words.channel}"><option value="">${words.all}</option><option value="email">${words.email}</option><option value="sms">${words.sms}</option></select>
<button class="button quiet">${words.clear}</button>
</form>
<p id="none" class="soft" hidden>${words.empty}</p>
<div class="mail">
<ol class="card rows" aria-label="${words.messages}">
${entries.map((entry) => listed(entry, texts)).join('\n')}
</ol>
<div>
${entries.map((entry) => article(entry, texts)).join('\n')}
</div>
</div>
</main>
<script>${script}</script>
</body>
</html>
`
}

/** The words come from files of the operator, too. */
const escapeWords = <Words extends Record<string, string>>(words: Words): Words =>
  Object.fromEntries(Object.entries(words).map(([key, word]) => [key, escapeHtml(word)])) as Words

const iconOf = (channel: MailboxEntry['channel']) => iconSvg(channel === 'sms' ? 'phone' : 'mail')

/** A row of the list: what it is about, to whom, when. */
function listed({ id, channel, subject, text, to }: MailboxEntry, texts: Texts): string {
  const { is_new } = texts.mailbox
  const what = subject === '' ? text : subject
  return `<li><a class="row" href="#m${id}">${iconOf(channel)}<span class="text"><span dir="auto">${escapeHtml(what.slice(0, 80))}</span> <span dir="ltr">${escapeHtml(to)}</span></span><span class="tag" data-id="${id}" hidden>${escapeHtml(is_new)}</span></a></li>`
}

function article(entry: MailboxEntry, texts: Texts): string {
  const words = escapeWords(texts.mailbox)
  const { id, channel } = entry
  const purposes: Record<string, string> = texts.purposes
  const purpose = purposes[entry.purpose] ?? words.notice
  const code = entry.code === null ? '' : escapeHtml(entry.code)
  const codeRow = `<div class="code"><output>${code}</output><button class="button quiet little" type="button" value="${code}">${words.copy}</button></div>`
  const text = `<pre dir="auto">${escapeHtml(entry.text)}</pre>`
  return `<article id="m${id}" data-channel="${channel}">
<div class="about"><span class="channel">${iconOf(channel)}${channel === 'sms' ? words.sms : words.email}</span><span>${escapeHtml(purpose)}</span><strong dir="ltr">${escapeHtml(entry.to)}</strong><time datetime="${escapeHtml(entry.created_at)}"></time></div>
${entry.subject === '' ? '' : `<h2 dir="auto">${escapeHtml(entry.subject)}</h2>`}
${code === '' ? '' : codeRow}
${
  channel === 'sms'
    ? text
    : `<details><summary>${words.text_part}</summary>${text}</details>
<details><summary>${words.html_part}</summary><iframe sandbox data-src="/dev/mailbox/${id}.html" title="${words.html_part}"></iframe></details>`
}
</article>`
}
