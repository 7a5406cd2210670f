/** One page with every message in every language, as `poterne texts preview` writes it. It loads nothing. */

import { BUILT_IN_COLOUR } from '../../../platform/config/schema.ts'
import type { Config } from '../../../platform/config/types.ts'
import { escapeHtml } from '../../../platform/http/page-answer.ts'
import { styleIn } from '../../../platform/look/style.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import { type Language, languageName, textDirection } from '../../../texts/languages.ts'
import { smsLength } from '../../../texts/sms-length.ts'
import { messagePurposes } from '../outbox/message.ts'
import { createSamples, type RenderSample } from './sample-messages.ts'

/** What this page adds to the style of all pages. One language is laid out at a time. */
const more = `
body { display: block; margin: 0 auto; padding: 16px; max-width: 1240px; background: var(--page); }
nav { position: sticky; top: 0; display: flex; flex-wrap: wrap; gap: 4px 20px; padding: 12px 0; background: var(--page); }
section { display: none; scroll-margin-top: 48px; }
section:target, body:not(:has(section:target)) section:first-of-type { display: block; }
h2 { margin: 16px 0 12px; }
.messages { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 390px), 1fr)); gap: 16px; }
article { padding: 16px; background: var(--ground); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
h3 { margin: 0 0 8px; font: 600 14px/1.5 var(--mono); color: var(--soft); }
.subject { margin: 0 0 8px; font-weight: 600; }
iframe, [data-mail] { width: 100%; height: 520px; border: 1px solid var(--line); border-radius: 8px; }
.sms { margin: 12px 0 4px; padding: 10px 14px; border: 1px solid var(--line); border-radius: 4px 16px 16px 16px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
article .soft { font-size: 13px; }
.long { color: var(--warn); }
`
const style = styleIn(BUILT_IN_COLOUR) + more

/** A mail gets its frame once it is near what is looked at: hundreds of frames, which browsers make of hidden ones too, take a minute. */
const script = `
const near = new IntersectionObserver((places) => {
  for (const { isIntersecting, target } of places) {
    if (!isIntersecting) continue
    const frame = document.createElement('iframe')
    frame.setAttribute('sandbox', '')
    frame.title = target.title
    frame.srcdoc = target.dataset.mail
    near.unobserve(target)
    target.replaceWith(frame)
  }
}, { rootMargin: '500px' })
for (const place of document.querySelectorAll('[data-mail]')) near.observe(place)
`

export function previewPage(
  config: Pick<Config, 'server' | 'smtp' | 'sms' | 'texts' | 'codes'>,
  catalog: Catalog,
): string {
  const sample = createSamples(config, catalog)
  const links = catalog.tags.map((tag) => `<a href="#${tag}">${escapeHtml(languageName(tag))}</a>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Messages</title>
<style>${style}</style>
</head>
<body>
<nav>${links.join('')}</nav>
<main>
${catalog.tags.map((tag) => section(tag, sample)).join('\n')}
</main>
<script>${script}</script>
</body>
</html>
`
}

function section(tag: Language, sample: RenderSample): string {
  const articles = messagePurposes.map((purpose) => {
    const { subject, html } = sample(tag, purpose, 'email')
    const { text } = sample(tag, purpose, 'sms')
    const { alphabet, segments } = smsLength(text)
    const length = `${text.length} characters, ${alphabet}, ${segments === 1 ? '1 segment' : `${segments} segments`}`
    return `<article>
<h3 lang="en" dir="ltr">${purpose}</h3>
<p class="subject">${escapeHtml(subject)}</p>
<div title="${escapeHtml(subject)}" data-mail="${escapeHtml(html ?? '')}"></div>
<p class="sms" dir="auto">${escapeHtml(text)}</p>
<p class="soft${segments === 1 ? '' : ' long'}" lang="en" dir="ltr">${length}</p>
</article>`
  })
  return `<section id="${tag}" lang="${tag}" dir="${textDirection(tag)}">
<h2 lang="en" dir="ltr">${escapeHtml(languageName(tag))}</h2>
<div class="messages">
${articles.join('\n')}
</div>
</section>`
}
