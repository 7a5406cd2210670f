/** Lays out an e-mail as text and as HTML, from the same plain sentences, all of which are escaped here. */
import { escapeHtml } from '../../../platform/http/page-answer.ts'
import { type Language, textDirection } from '../../../texts/languages.ts'
import { builtInLayout, fillLayout } from '../../../texts/layout.ts'

export interface EmailParts {
  language: Language
  subject: string
  above: string[]
  code: string | null
  below: string[]
  footer: string
  /** An address of the service that stands in one of the paragraphs; null: none. */
  link: string | null
}

/** The parts that all e-mails of a service share. */
interface EmailLook {
  service: string
  logoUrl: string | null
  /** `#rrggbb` */
  colour: string
  /** It is null for the built-in layout. */
  layoutHtml: string | null
}

export function plainText({ above, code, below, footer }: EmailParts): string {
  const blocks = [...above, ...(code === null ? [] : [`    ${code}`]), ...below]
  return `${blocks.join('\n\n')}\n\n-- \n${footer}\n`
}

const paragraphWith = (link: string | null) => (text: string) => {
  const address = link && escapeHtml(link)
  const anchor = `<a dir="ltr" href="${address}" style="color:inherit;overflow-wrap:anywhere">${address}</a>`
  const escaped = escapeHtml(text)
  return `<p style="margin:0 0 16px">${address ? escaped.replace(address, anchor) : escaped}</p>`
}

export function emailHtml(parts: EmailParts, { service, logoUrl, colour, layoutHtml }: EmailLook): string {
  const { language, subject, above, code, below, footer, link } = parts
  const paragraph = paragraphWith(link)
  const direction = textDirection(language)
  const name = escapeHtml(service)
  const logo = logoUrl === null ? '' : escapeHtml(logoUrl)
  const header =
    logo === ''
      ? `<p style="margin:0 0 20px;font-size:18px;font-weight:600"><bdi>${name}</bdi></p>`
      : `<p style="margin:0 0 20px"><img class="logo" src="${logo}" alt="${name}" height="48" style="height:48px;max-width:100%;border:0"></p>`
  return fillLayout(layoutHtml ?? builtInLayout, {
    content: [...above.map(paragraph), ...codeBlock(code, colour), ...below.map(paragraph)].join('\n'),
    header,
    footer: escapeHtml(footer),
    subject: escapeHtml(subject),
    service: name,
    logo_url: logo,
    colour,
    language: escapeHtml(language),
    direction,
    start: direction === 'rtl' ? 'right' : 'left',
  })
}

/** The space before the figures is as wide as the space behind the last of them. */
function codeBlock(code: string | null, colour: string): string[] {
  if (code === null) return []
  // The codes of an administrator have 19 characters, which a telephone shows in one line only if they are small.
  const size = code.length > 8 ? '18px/1.6' : '34px/1.2'
  const spacing = code.length > 8 ? '0' : '6px'
  const figures = `margin:24px 0;padding:14px 8px 14px 14px;font:bold ${size} ui-monospace,Menlo,Consolas,monospace;letter-spacing:${spacing};text-align:center;color:#1d2126;background:#f3f4f6;border:1px solid ${colour};border-radius:8px`
  return [`<p class="code" dir="ltr" style="${figures}">${escapeHtml(code)}</p>`]
}
