/** Lays out an e-mail as text and as HTML, from the same plain sentences, all of which are escaped here. */
import { escapeHtml } from '../../../platform/http/page-answer.ts'
import type { BrandTokens } from '../../../platform/look/colours.ts'
import { type Language, textDirection } from '../../../texts/languages.ts'
import { builtInLayout, fillLayout } from '../../../texts/layout.ts'

export interface EmailParts {
  language: Language
  subject: string
  /** The first line of the text; HTML begins with the subject. */
  greeting: string
  above: string[]
  code: string | null
  /** For how long the code is good. */
  validity: string | null
  /** When it happened, on which device and from which address, each with its label. */
  facts: [label: string, value: string][]
  below: string[]
  /** The reason why it was sent, and whom to ask; in both a link may lead. */
  footer: string[]
  /** An address of the service that stands in one of the paragraphs; null: none. */
  link: string | null
  /** The pages of the service on which something can be done about it, the likeliest first; it may be the link. */
  buttons: readonly EmailButton[]
}

export interface EmailButton {
  label: string
  href: string
}

/** The parts that all e-mails of a service share. */
interface EmailLook extends Pick<BrandTokens, 'brand' | 'onBrand'> {
  service: string
  logoUrl: string | null
  /** `#rrggbb` */
  colour: string
  /** It is null for the built-in layout. */
  layoutHtml: string | null
}

export function plainText(parts: EmailParts): string {
  const { subject, greeting, above, code, validity, facts, below, buttons, footer } = parts
  const blocks = [
    greeting,
    // What a notice says goes on from its title; a code says itself what it is for.
    ...(code === null ? [subject] : []),
    ...above,
    ...(code === null ? [] : [`    ${code}`]),
    ...(validity === null ? [] : [validity]),
    ...(facts.length === 0 ? [] : [facts.map(([label, value]) => `${label} ${value}`.trim()).join('\n')]),
    ...below,
    ...buttons
      .filter(({ href }) => ![...above, ...below].some((text) => text.includes(href)))
      .map(({ label, href }) => `${label}\n${href}`),
  ]
  return `${blocks.join('\n\n')}\n\n-- \n${footer.join('\n')}\n`
}

const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`

const ADDRESS = 'margin:0 0 16px;color:#5a626d;font-size:13px;line-height:20px'
const anchorTo = (link: string) =>
  `<a dir="ltr" href="${escapeHtml(link)}" style="color:inherit;overflow-wrap:anywhere">${escapeHtml(link)}</a>`

/** A sentence without the address at its end. */
const withoutLink = (text: string, link: string | null) =>
  link !== null && text.endsWith(link) ? withoutColon(text.slice(0, -link.length).trim()) : text

/**
 * An address at the end of its sentence stands below its button. A sentence that says what the button says is left out.
 * `waiting`: the button until it stands somewhere.
 */
function paragraphWith(
  { link, buttons: [button] }: EmailParts,
  waiting: string[],
): (text: string) => string[] {
  const takeButton = () => (button?.href === link ? waiting.splice(0) : [])
  return (text) => {
    if (link === null || !text.includes(link)) return [paragraph(text)]
    if (!text.endsWith(link)) {
      const [before = '', after = ''] = text.split(link).map(escapeHtml)
      return [`<p style="margin:0 0 16px">${before}${anchorTo(link)}${after}</p>`, ...takeButton()]
    }
    const sentence = text.slice(0, -link.length).trim()
    const says = withoutColon(sentence) === button?.label ? [] : [paragraph(sentence)]
    return [...says, ...takeButton(), `<p class="soft" style="${ADDRESS}">${anchorTo(link)}</p>`]
  }
}

export function emailHtml(parts: EmailParts, look: EmailLook): string {
  const { service, logoUrl, colour, layoutHtml, brand, onBrand } = look
  const { language, subject, above, code, validity, facts, below, buttons, footer, link } = parts
  const direction = textDirection(language)
  const logo = logoUrl === null ? '' : escapeHtml(logoUrl)
  const waiting = buttons.length === 0 ? [] : [buttonRow(buttons, brand, onBrand)]
  const content = [
    ...above.map(paragraph),
    ...codeBlock(code, validity),
    // A code is entered there; what else is said of it comes last.
    ...(code === null ? [] : waiting.splice(0)),
    ...factRows(facts, below.length > 0 || buttons.length > 0),
    ...below.flatMap(paragraphWith(parts, waiting)),
  ]
  content.push(...waiting)
  return fillLayout(layoutHtml ?? builtInLayout, {
    content: content.join('\n'),
    header: headerOf(service, logo, brand, onBrand),
    footer: footer.map(escapeHtml).join('<br>'),
    // The title says what it is about; lists of messages show what there is to do.
    preheader: escapeHtml((code === null ? withoutLink(below[0] ?? above[0] ?? '', link) : validity) ?? ''),
    subject: escapeHtml(subject),
    service: escapeHtml(service),
    logo_url: logo,
    colour,
    language: escapeHtml(language),
    direction,
    start: direction === 'rtl' ? 'right' : 'left',
  })
}

/** The logo, or else the initial in the team's colour beside the name, as on the pages. */
function headerOf(service: string, logo: string, brand: string, onBrand: string): string {
  const name = escapeHtml(service)
  if (logo !== '')
    return `<img class="logo" src="${logo}" alt="${name}" height="40" style="width:auto;height:auto;max-width:220px;max-height:40px;border:0">`
  const mark = `display:inline-block;width:28px;line-height:28px;border-radius:8px;background:${brand};color:${onBrand};text-align:center;font-weight:600;font-size:15px`
  return `<span class="mark" aria-hidden="true" style="${mark}">${escapeHtml([...service][0] ?? '')}</span>&nbsp; <b class="name" style="font-weight:600;color:#14171c"><bdi>${name}</bdi></b>`
}

/** Digits stand in two groups, by a margin: a copy of them has no space. */
function codeBlock(code: string | null, validity: string | null): string[] {
  if (code === null) return []
  // The codes of an administrator have 19 characters, which a telephone shows in one line only if they are small.
  const isLong = code.length > 8
  const groups = isLong ? [code] : [code.slice(0, 3), code.slice(3)]
  const spacing = isLong ? '' : 'letter-spacing:4px'
  const spans = groups.map(
    (part, at) => `<span style="${spacing}${at > 0 ? ';margin-left:14px' : ''}">${escapeHtml(part)}</span>`,
  )
  const figures = `margin:20px 0 8px;padding:16px 8px;font:600 ${isLong ? '18px/28px' : '32px/40px'} ui-monospace,Menlo,Consolas,monospace;text-align:center;color:#14171c;background:#f4f5f7;border-radius:10px`
  return [
    `<p class="code" dir="ltr" style="${figures}">${spans.join('')}</p>`,
    `<p class="soft" style="margin:0 0 24px;color:#5a626d;font-size:14px;line-height:20px;text-align:center">${escapeHtml(validity ?? '')}</p>`,
  ]
}

/** `Heure :` as it stands beside its fact. */
const withoutColon = (name: string) => (name.endsWith(':') ? name.slice(0, -1).trimEnd() : name)

/** `goesOn`: something stands below, which a rule divides from them. */
function factRows(facts: EmailParts['facts'], goesOn: boolean): string[] {
  if (facts.length === 0) return []
  const rule = goesOn ? ';border-bottom:1px solid #e8eaee' : ''
  const label = 'padding:4px 0;color:#5a626d;vertical-align:top;width:104px'
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td class="soft" style="${label}">${escapeHtml(withoutColon(name))}</td><td style="padding:4px 0">${escapeHtml(value)}</td></tr>`,
  )
  return [
    `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="rule" style="margin:0 0 16px;padding:12px 0;border-top:1px solid #e8eaee${rule};font-size:14px;line-height:20px">${rows.join('')}</table>`,
  ]
}

/** What follows the first one is as loud as a sentence. Each keeps its line, and stands below the other where there is no room. */
function buttonRow(buttons: readonly EmailButton[], brand: string, onBrand: string): string {
  const filled = `display:inline-block;padding:10px 18px;border-radius:8px;background:${brand};color:${onBrand};font-size:15px;font-weight:600;text-decoration:none`
  const quiet = 'display:inline-block;padding:10px 18px;color:#5a626d;font-size:15px'
  const links = buttons.map(({ label, href }, at) => {
    const [kind, look] = at === 0 ? ['button', filled] : ['soft', quiet]
    return `<a class="${kind}" href="${escapeHtml(href)}" style="${look}">${escapeHtml(label)}</a>`
  })
  return `<p style="margin:20px 0 16px">${links.join(' ')}</p>`
}
