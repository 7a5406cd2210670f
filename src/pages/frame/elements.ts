/** The elements that pages are made of. Errors are linked to their fields, and announced by the title of the page too. */
import { type IconName, iconSvg, providerMark } from '../../platform/look/icons.ts'
import { IN_TITLE, lineParts } from '../../platform/look/line-breaks.ts'
import { nameOfProvider } from '../../texts/names.ts'
import type { Texts } from '../../texts/texts.ts'
import { Html, html } from './html.ts'

export const icon = (name: IconName, more = ''): Html => new Html(iconSvg(name, more))

/** The mark of a provider, or its initial. */
export const markOf = (provider: string): Html =>
  new Html(providerMark(provider, html`${initialsOf(nameOfProvider(provider)).charAt(0)}`.text))

/** At most two letters for a name, one for an address. */
export function initialsOf(name: string): string {
  const words = name.includes('@') ? [name] : name.trim().split(/\s+/)
  const first = (word = '') => [...word.replace(/^\+/, '')][0]?.toLocaleUpperCase() ?? ''
  return first(words[0]) + (words.length > 1 ? first(words.at(-1)) : '')
}

export interface FieldOptions {
  name: string
  label: string
  type?: 'text' | 'email' | 'tel' | 'password'
  autocomplete: string
  value?: string | undefined
  /** The problem with its value. `true`: the sentence is above the form. */
  wrong?: string | true | null | undefined
  hint?: string | undefined
  inputmode?: 'numeric' | 'text' | 'email' | 'tel' | undefined
  required?: boolean
  autofocus?: boolean
  maxlength?: number
  /** It lies in the field, at its end. */
  inside?: Html
  /** It stands beside the label, and comes after the field for the keyboard. */
  after?: Html | null
  /** Six digits, or the sixteen letters of a recovery code. */
  kind?: 'code' | 'letters'
  /** Six digits do not send the form by themselves. */
  waits?: boolean
  /** The title of the page is its label, and the sentence below its hint. */
  titled?: boolean
}

/** The id of a title that is the label of the page's field, and of the sentence below. */
export const TITLE_ID = 'title'
const LEAD_ID = 'lead'

/** The title of a page, and the sentence below it. */
export const heading = (title: string | Html, lead: string | Html | null = null): Html =>
  html`<h1 id="${TITLE_ID}">${title}</h1>${lead !== null && html`<p class="lead" id="${LEAD_ID}">${lead}</p>`}`

/** The ids of the sentences about a field. What is wrong says the same as the hint did. */
function describedBy({ name, wrong, hint, titled }: FieldOptions): string {
  const problem = wrong === true ? [PROBLEM_ID] : wrong ? [`${name}-wrong`] : []
  const advice = hint && typeof wrong !== 'string' ? [`${name}-hint`] : []
  return [...problem, ...advice, ...(titled ? [LEAD_ID] : [])].join(' ')
}

export function field(options: FieldOptions): Html {
  const { name, label, type = 'text', autocomplete, value, wrong, hint, inputmode, inside, after } = options
  const { required = true, autofocus = false, maxlength = 512, kind, waits, titled = false } = options
  const focused = autofocus || Boolean(wrong)
  const says = typeof wrong === 'string'
  const about = describedBy(options)
  const input = html`<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${maxlength}"${
    value !== undefined && html` value="${value}"`
  }${inputmode && html` inputmode="${inputmode}"`}${kind && html` class="${kind}${kind === 'code' && waits && ' waits'}"`}${kind === 'code' && html` placeholder="••••••"`} autocapitalize="${kind === 'letters' ? 'characters' : 'none'}" autocorrect="off" spellcheck="false"${required && html` required`}${focused && html` autofocus`}${
    wrong && html` aria-invalid="true"`
  }${titled && html` aria-labelledby="${TITLE_ID}"`}${about !== '' && html` aria-describedby="${about}"`}>`
  return html`<div class="field">
${!titled && html`<div class="label"><label for="${name}">${label}</label></div>`}
${inside ? html`<div class="box">${input}${inside}</div>` : input}${after}
${says && wrongText(`${name}-wrong`, wrong)}
${hint && !says && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`
}

/** `shown`: false until the script shows it. */
export const wrongText = (id: string, text: string, shown = true): Html =>
  html`<p class="wrong" id="${id}"${!shown && html` role="alert" hidden`}>${icon('alert')}<span>${text}</span></p>`

/** A phone shows digits for a code that was sent or that an app has, and letters for a recovery code or an access code. */
export const codeField = (
  options: Pick<FieldOptions, 'label' | 'wrong' | 'hint' | 'autofocus' | 'titled' | 'waits'> & {
    letters: boolean
  },
): Html => {
  const { letters, ...rest } = options
  return field({
    ...rest,
    name: 'otp',
    autocomplete: 'one-time-code',
    inputmode: letters ? 'text' : 'numeric',
    kind: letters ? 'letters' : 'code',
    maxlength: 64,
  })
}

/** With script, an eye in the field shows what was typed. */
export const passwordInput = (
  { pages }: Texts,
  options: Omit<FieldOptions, 'type' | 'inside' | 'value'>,
): Html => {
  const inside = html`<button type="button" data-show="${options.name}" aria-label="${pages.show_password}" aria-pressed="false" hidden>${icon('eye')}</button>`
  return field({ ...options, type: 'password', inside })
}

/** Password managers fill and keep a password together with a name, so every form that sets one names the account. */
export const hiddenUsername = (identifier: string | undefined): Html | null =>
  identifier === undefined || identifier === ''
    ? null
    : html`<input class="hidden" type="text" name="username" autocomplete="username" value="${identifier}" tabindex="-1" aria-hidden="true" readonly>`

/** Changes what the field for a code takes. */
export const changesCodeField = (letters: boolean): Html =>
  html` name="letters" value="${letters ? 'yes' : ''}"`

export const check = (
  name: string,
  label: Html | string,
  options: { checked?: boolean; required?: boolean } = {},
): Html =>
  html`<label class="check"><input type="checkbox" name="${name}" value="yes"${options.checked && html` checked`}${
    options.required && html` required`
  }><span>${label}</span></label>`

/** The purpose of a form. `wait`: seconds until it is worth pressing; the script counts them down. */
export const submit = (label: string, kind = '', wait = 0): Html =>
  html`<button class="button main${kind && ` ${kind}`}"${wait > 0 && html` data-wait="${wait}"`}>${label}</button>`

/** Enter in a field presses the first button of its form. It stands before a way that lies above the purpose. */
export const pressedByEnter = html`<button class="hidden" tabindex="-1" aria-hidden="true"></button>`

/** The same from anywhere on the page, for the form of this id. */
export const wayOf = (form: string, label: string | Html, action: string, kind = 'link'): Html =>
  html`<button class="${kind}" form="${form}" formaction="${action}" formnovalidate>${label}</button>`

/** Another way on: what was typed comes along, and nothing of it has to be filled in. */
export const otherWay = (
  label: string | Html,
  action: string,
  kind: 'link' | 'row' | 'button quiet' | 'button quiet danger' = 'link',
  more: Html | null = null,
): Html => html`<button class="${kind}" formaction="${action}" formnovalidate${more}>${label}</button>`

/** Passkeys need script, and a browser that has them. The script decides which of both sentences is shown. */
export const withoutPasskeys = ({ texts: { pages } }: { texts: Texts }): Html =>
  html`<noscript><div class="notice">${icon('info')}<div>${pages.needs_script}</div></div></noscript><div class="notice" data-without-passkeys hidden>${icon('info')}<div>${pages.needs_passkeys}</div></div>`

type Kind = '' | 'bad' | 'good' | 'warn'
const icons: Record<Kind, IconName> = { '': 'info', bad: 'alert', good: 'check', warn: 'shield' }
/** Advice that is always there is not announced. */
const roles: Record<Kind, string> = { '': 'status', bad: 'alert', good: 'status', warn: 'note' }
/** The id of the sentence above a form that says what is wrong with a field. */
const PROBLEM_ID = 'problem'

/** `more`: below the sentence. `isProblem`: it says what is wrong with the form of the page. */
export const notice = (
  text: string | Html,
  kind: Kind = '',
  more: Html | null = null,
  isProblem = kind === 'bad',
): Html =>
  html`<div class="notice${kind && ` ${kind}`}" role="${roles[kind]}">${icon(icons[kind])}<div><p${isProblem && html` id="${PROBLEM_ID}"`}>${text}</p>${more}</div></div>`

/** One line of a phone holds no more of an address. */
const LONG = 32

/** Addresses and numbers read from left to right inside any sentence. */
export const isolated = (text: string, longest = LONG): Html => html`<bdi>${withBreaks(text, longest)}</bdi>`

const withBreaks = (text: string, longest: number): Html =>
  html`${lineParts(text, longest).map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}`

/** Where there is little room, the line breaks before the @, and what stands there is cut: the domain says more. */
export function contactParts(contact: string): Html {
  const at = contact.lastIndexOf('@')
  if (at < 1) return isolated(contact)
  return html`<bdi class="parts" title="${contact}"><span>${contact.slice(0, at)}</span><span>${withBreaks(contact.slice(at), IN_TITLE)}</span></bdi>`
}

/** A sentence that names the terms, with a link to them where there is an address. */
export function withTerms({ pages }: Texts, href: string, sentence: string): Html {
  const [before = '', after = ''] = sentence.split('{terms}')
  const name = pages.terms_of_use
  return html`${before}${href ? html`<a href="${href}" target="_blank">${name}</a>` : name}${after}`
}

/** A sentence with an address or number in the place of `{contact}`. */
export function withContact(sentence: string, contact: string): Html {
  const [before = '', after = ''] = sentence.split('{contact}')
  return html`${before}${isolated(contact)}${after}`
}

/** A sentence that names where people reach those who run the service, in the place of `{support}`. */
export function withSupport(sentence: string, support: string): Html {
  const [before = '', after = ''] = sentence.split('{support}')
  const href = support.includes('://') ? support : `mailto:${support}`
  return html`${before}<a href="${href}">${isolated(support)}</a>${after}`
}

/** Who somebody is here, and a way for somebody else. */
export const whoIs = (contact: string, otherwise: Html | null = null): Html =>
  html`<div class="who"><span class="avatar" aria-hidden="true">${initialsOf(contact)}</span><div class="small">${isolated(contact)}${otherwise && html`<div>${otherwise}</div>`}</div></div>`

interface RowParts {
  icon?: IconName | Html | null
  label: Html | string
  detail?: Html | string | null
  badge?: Html | null
}

export const badge = (text: string, kind: Exclude<Kind, 'bad'> = ''): Html =>
  html`<span class="badge${kind && ` ${kind}`}">${text}</span>`

const rowMark = ({ icon: mark = null }: RowParts): Html | null =>
  typeof mark === 'string' ? icon(mark) : mark
const rowWords = ({ label, detail = null, badge: shown = null }: RowParts): Html =>
  html`<span class="text"><span>${label}</span>${detail !== null && html` <span>${detail}</span>`}</span>${shown !== null && html` ${shown}`}`

const rowContent = (parts: RowParts): Html => html`${rowMark(parts)}${rowWords(parts)}`

/** The whole row is the link, so its name says what it is about. */
export const rowLink = (href: string, parts: RowParts): Html =>
  html`<a class="row" href="${href}">${rowContent(parts)}${icon('chevron', 'chevron')}</a>`

/** A row that says something; `action` stands at its end. */
export const row = (parts: RowParts, action: Html | null = null): Html =>
  action === null
    ? html`<div class="row">${rowContent(parts)}</div>`
    : html`<div class="row">${rowMark(parts)}<div class="beside">${rowWords(parts)}${action}</div></div>`

/** A row that is a button of its form. */
export const rowButton = (action: string, parts: RowParts, more: Html | null = null): Html =>
  otherWay(html`${rowContent(parts)}${icon('chevron', 'chevron')}`, action, 'row', more)

interface RowForm {
  action: string
  /** The name and the value of its button. */
  sends: [name: string, value: string]
  /** What pressing it does, for those who hear the page. */
  does: string
  fields?: Html
}

/** A row that is a form with one button. */
export const rowForm = (parts: RowParts, { action, sends: [name, value], does, fields }: RowForm): Html =>
  html`<form method="post" action="${action}">${fields}<button class="row" name="${name}" value="${value}">${rowContent(parts)}<span class="hidden">${does}</span>${icon('chevron', 'chevron')}</button></form>`

/** A row that the script shows where the browser has passkeys. */
export interface PasskeyRow {
  withPasskeys: Html
}

/** Rows in a card. What is absent is left out. */
export const rows = (list: readonly (Html | PasskeyRow | null | false)[]): Html =>
  html`<ul class="card rows">${list.map((each) =>
    each && 'withPasskeys' in each
      ? html`<li data-with-passkeys hidden>${each.withPasskeys}</li>`
      : each && html`<li>${each}</li>`,
  )}</ul>`

/** `withPasskeys`: the script shows it where the browser has passkeys. */
export const group = (title: string | Html, withPasskeys = false): Html =>
  html`<h2 class="group"${withPasskeys && html` data-with-passkeys hidden`}>${title}</h2>`
