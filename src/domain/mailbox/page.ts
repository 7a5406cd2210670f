/**
 * The mailbox as a page for people: newest first, with the code in large type. Everything that came from outside is
 * escaped. The policy allows the page's own style and script by their hashes, and nothing else.
 */
import { createHash } from 'node:crypto'
import { type Language, languages } from '../../texts/languages.ts'
import { escapeHtml } from '../delivery/email-layout.ts'
import type { MailboxEntry } from '../delivery/mailbox.ts'

const style = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 720px; font: 16px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 16px; }
h1 { margin: 0; font-size: 24px; }
header p, .about { opacity: .7; }
article { margin: 16px 0; padding: 16px; border: 1px solid rgb(128 128 128 / .4); border-radius: 8px; }
h2 { margin: 8px 0; font-size: 18px; overflow-wrap: anywhere; }
.about { display: flex; flex-wrap: wrap; gap: 0 12px; font-size: 14px; overflow-wrap: anywhere; }
.code { display: flex; flex-wrap: wrap; align-items: center; gap: 16px; margin: 8px 0; }
output { font: bold 40px/1.2 ui-monospace, monospace; letter-spacing: 6px; }
button { padding: 8px 16px; font: inherit; border-radius: 8px; border: 1px solid currentColor; background: none;
  color: inherit; cursor: pointer; }
pre { margin: 8px 0 0; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }
`

/** Reloads the page when a new message has arrived; until then the button keeps saying that its code was copied. */
const script = `
document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return
  await navigator.clipboard.writeText(target.value)
  target.textContent = document.body.dataset.copied
})
setInterval(async () => {
  try {
    const answer = await fetch('/dev/mailbox.json', { cache: 'no-store' })
    const [newest] = await answer.json()
    if (String(newest?.id ?? '') !== document.body.dataset.newest) location.reload()
  } catch {}
}, 1500)
`

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const mailboxPolicy = [
  `default-src 'none'`,
  `style-src ${hash(style)}`,
  `script-src ${hash(script)}`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

export function mailboxPage(entries: MailboxEntry[], language: Language): string {
  const { title, about, empty, copied } = languages[language].mailbox
  const newest = entries[0]?.id ?? ''
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${style}</style>
</head>
<body data-newest="${newest}" data-copied="${copied}">
<header><h1>${title}</h1><p>${about}</p></header>
<main>
${entries.length === 0 ? `<p>${empty}</p>` : entries.map((entry) => article(entry, language)).join('\n')}
</main>
<script>${script}</script>
</body>
</html>
`
}

function article(entry: MailboxEntry, language: Language): string {
  const [channel, to, purpose, subject, text, code, at] = [
    entry.channel,
    entry.to,
    entry.purpose,
    entry.subject,
    entry.text,
    entry.code ?? '',
    entry.created_at,
  ].map(escapeHtml) as [string, string, string, string, string, string, string]
  const button = `<button type="button" value="${code}">${languages[language].mailbox.copy}</button>`
  return `<article>
<div class="about"><span>${channel}</span><strong>${to}</strong><span>${purpose}</span><time>${at}</time></div>
${subject === '' ? '' : `<h2>${subject}</h2>`}
${code === '' ? '' : `<div class="code"><output>${code}</output>${button}</div>`}
<pre>${text}</pre>
</article>`
}
