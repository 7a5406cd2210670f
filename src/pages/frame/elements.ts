/** The elements that forms are made of. Errors are linked to their fields, and announced by the title of the page too. */
import type { Texts } from '../../texts/texts.ts'
import { type Html, html } from './html.ts'

export interface FieldOptions {
  name: string
  label: string
  type?: 'text' | 'email' | 'tel' | 'password'
  autocomplete: string
  value?: string | undefined
  /** The problem with its value. */
  wrong?: string | null | undefined
  hint?: string | undefined
  inputmode?: 'numeric' | 'text' | 'email' | 'tel' | undefined
  required?: boolean
  autofocus?: boolean
  maxlength?: number
  /** It stands beside the label, and comes after the field for the keyboard. */
  after?: Html
  /** Six digits, or the sixteen letters of a recovery code. */
  kind?: 'code' | 'letters'
}

export function field(options: FieldOptions): Html {
  const { name, label, type = 'text', autocomplete, value, wrong, hint, inputmode, after } = options
  const { required = true, autofocus = false, maxlength = 512, kind } = options
  const focused = autofocus || Boolean(wrong)
  const about = [...(wrong ? [`${name}-wrong`] : []), ...(hint ? [`${name}-hint`] : [])].join(' ')
  return html`<div class="field">
<div class="label"><label for="${name}">${label}</label></div>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${maxlength}"${
    value !== undefined && html` value="${value}"`
  }${inputmode && html` inputmode="${inputmode}"`}${kind && html` class="${kind}"`} autocapitalize="${kind === 'letters' ? 'characters' : 'none'}" autocorrect="off" spellcheck="false"${required && html` required`}${focused && html` autofocus`}${
    wrong && html` aria-invalid="true"`
  }${about !== '' && html` aria-describedby="${about}"`}>${after}
${wrong && html`<p class="wrong" id="${name}-wrong">${wrong}</p>`}
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`
}

/**
 * A phone shows digits for a code that was sent or that an app has, and letters for a recovery code or an access code.
 * `waits`: six digits do not send the form by themselves.
 */
export const codeField = (
  options: Pick<FieldOptions, 'label' | 'wrong' | 'hint' | 'autofocus'> & {
    letters: boolean
    waits?: boolean
  },
): Html => {
  const { letters, waits = false, ...rest } = options
  return field({
    ...rest,
    name: 'otp',
    autocomplete: 'one-time-code',
    inputmode: letters ? 'text' : 'numeric',
    ...(letters ? { kind: 'letters' } : !waits && { kind: 'code' }),
    maxlength: 64,
  })
}

/** With script, a button beside the label shows what was typed. */
export const passwordInput = (
  { pages }: Texts,
  options: Omit<FieldOptions, 'type' | 'after' | 'value'>,
): Html => {
  const after = html`<button type="button" class="link" data-show="${options.name}" data-done="${pages.hide_password}" hidden>${pages.show_password}</button>`
  return field({ ...options, type: 'password', after })
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

export const submit = (label: string, kind = ''): Html =>
  html`<button class="button${kind && ` ${kind}`}">${label}</button>`

/** The same from anywhere on the page, for the form of this id. */
export const wayOf = (form: string, label: string, action: string): Html =>
  html`<button class="link" form="${form}" formaction="${action}" formnovalidate>${label}</button>`

/** Another way on: what was typed comes along, and nothing of it has to be filled in. */
export const otherWay = (
  label: string,
  action: string,
  kind: 'link' | 'button quiet' = 'link',
  more: Html | null = null,
): Html => html`<button class="${kind}" formaction="${action}" formnovalidate${more}>${label}</button>`

/** Passkeys need script, and a browser that has them. The script decides which of both sentences is shown. */
export const withoutPasskeys = ({ texts: { pages } }: { texts: Texts }): Html =>
  html`<noscript><div class="notice">${pages.needs_script}</div></noscript><div class="notice" data-without-passkeys hidden>${pages.needs_passkeys}</div>`

/** `more`: below the sentence. */
export const notice = (text: string | Html, kind: '' | 'bad' | 'good' = '', more: Html | null = null): Html =>
  html`<div class="notice${kind && ` ${kind}`}" role="${kind === 'bad' ? 'alert' : 'status'}"><p>${text}</p>${more}</div>`

/** Addresses and numbers read from left to right inside any sentence. */
export const isolated = (text: string): Html => html`<bdi>${text}</bdi>`

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
