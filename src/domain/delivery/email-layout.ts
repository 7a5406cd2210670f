/** Lays out an e-mail as text and as HTML, from the same plain sentences, all of which are escaped here. */
import { type Language, textDirection } from '../../texts/languages.ts'

export interface EmailParts {
  language: Language
  subject: string
  above: string[]
  code: string | null
  below: string[]
  footer: string
}

export function plainText({ above, code, below, footer }: EmailParts): string {
  const blocks = [...above, ...(code === null ? [] : [`    ${code}`]), ...below]
  return `${blocks.join('\n\n')}\n\n-- \n${footer}\n`
}

const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`

/** Colours come from the reader's theme. There are no pictures, no links, and nothing is loaded from elsewhere. */
export function html({ language, subject, above, code, below, footer }: EmailParts): string {
  const figures =
    'margin:24px 0;font:bold 36px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px;text-align:center'
  return `<!doctype html>
<html lang="${language}" dir="${textDirection(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:480px;margin:0 auto">
${above.map(paragraph).join('\n')}
${code === null ? '' : `<p style="${figures}">${escapeHtml(code)}</p>`}
${below.map(paragraph).join('\n')}
<p style="margin:32px 0 0;font-size:13px;opacity:.7">${escapeHtml(footer)}</p>
</div>
</body>
</html>
`
}

export function escapeHtml(text: string): string {
  const names: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => names[character] as string)
}
