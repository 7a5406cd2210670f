/**
 * The parts that several screens of the ways in share. Their content depends on the configuration and on the flow, never on an account
 * that was only named.
 */
import { nameOfProvider } from '../../../texts/names.ts'
import { fillSentence } from '../../../texts/sentences.ts'
import {
  check,
  type FieldOptions,
  field,
  hiddenUsername,
  icon,
  markOf,
  notice,
  otherWay,
  passwordInput,
  withContact,
  withTerms,
  wrongText,
} from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Flow } from '../../visits/flow.ts'
import type { View } from '../../visits/visit.ts'
import { noticeOf, type ShownProblem } from '../problems.ts'
import type { Invited } from '../signing-up.ts'

/** The offers of the forms, from the configuration. */
export interface Offered {
  /** The name of the service. */
  service: string
  /** An address or a link where people reach those who run the service; empty: they are not told. */
  support: string
  email: boolean
  phone: boolean
  signInByCode: boolean
  passkeys: boolean
  providers: readonly string[]
  registration: 'open' | 'invitation' | 'closed'
  /** True if only addresses of some domains may register. */
  isForDomains: boolean
  minimumLength: number
  /** Seconds until a code may be asked for again. */
  resendAfter: number
  /** True if accounts may be without a password. */
  passwordOptional: boolean
  /** The link to the terms, and the version that has to be accepted; empty: none. */
  terms: string
  termsVersion: string
  /** True if a second step can be left out on a device. */
  trustDevice: boolean
}

export interface Drawing {
  offered: Offered
  /** The gifts of the invitation whose link led here; null or missing: there is none that holds. */
  given?: Invited | null
  /** Tells whether messages are late now. */
  isLate(channel: 'email' | 'sms'): boolean
  now: Date
  /** The address of a path with the flow of the visit. */
  to(path: string, flow?: Flow): string
}

/** Takes an e-mail address or a telephone number, as the configuration says. */
export function identifierInput(
  { texts: { pages } }: View,
  { email, phone }: Offered,
  options: Pick<FieldOptions, 'value' | 'wrong' | 'autofocus'> & { autocomplete?: string },
): Html {
  const [label, inputmode] =
    email && phone
      ? [pages.email_or_phone, 'email' as const]
      : email
        ? [pages.email, 'email' as const]
        : [pages.phone, 'tel' as const]
  return field({ name: 'identifier', label, inputmode, autocomplete: 'username', ...options })
}

/** A provider with its mark, as a button that goes to it. */
export const providerLabel = ({ texts: { pages } }: View, name: string): Html =>
  html`${markOf(name)}<span>${fillSentence(pages.continue_with, { provider: nameOfProvider(name) })}</span>`

/** Without a label its button stands elsewhere on the page. */
export function passkeyForm(
  { texts: { pages } }: View,
  { offered, to }: Drawing,
  label: string | null = null,
  kind = 'button quiet',
): Html | null {
  if (!offered.passkeys) return null
  return html`<form method="post" action="${to('/sign-in/passkey')}" data-passkey="get" data-conditional="yes" data-options="${to('/sign-in/passkey/options')}" data-failed="passkey-failed" id="passkey" hidden>
<input type="hidden" name="credential">${label !== null && html`<button class="${kind}">${icon('passkey')}${label}</button>`}
${wrongText('passkey-failed', pages.passkey_failed, false)}</form>`
}

export const canRegister = ({ flow }: View, { registration }: Offered): boolean =>
  registration === 'open' || (registration === 'invitation' && flow.invitation !== undefined)

/** Tells whether a code signs in somebody who has an account, and opens one for anybody else. */
export const createsByCode = (visit: View, offered: Offered): boolean =>
  offered.passwordOptional && canRegister(visit, offered)

export function termsCheck(visit: View, drawing: Drawing): Html | false {
  const { terms, termsVersion } = drawing.offered
  if (termsVersion === '') return false
  const label = withTerms(visit.texts, terms, visit.texts.pages.accept_terms)
  return check('terms', label, { required: true, checked: visit.flow.terms === termsVersion })
}

export function newPassword(
  { texts }: View,
  { offered }: Drawing,
  wrong: FieldOptions['wrong'],
  { mayBeLeftOut = false, label = texts.pages.choose_password } = {},
) {
  const { pages } = texts
  const hint = pages.password_hint.replace('{count}', String(offered.minimumLength))
  return passwordInput(texts, {
    name: 'password',
    label,
    autocomplete: 'new-password',
    wrong,
    required: !mayBeLeftOut,
    hint: mayBeLeftOut ? `${hint} ${pages.password_may_be_left_out}` : hint,
  })
}

export function askedIdentifier(visit: View, { offered }: Drawing, wrong: FieldOptions['wrong']): Html {
  const { typed } = visit.flow
  if (typed?.identifier) return html`${hiddenUsername(typed.identifier)}`
  return identifierInput(visit, offered, { wrong, autofocus: true })
}

export const sendAgain = (
  { texts: { pages } }: View,
  { offered, to }: Drawing,
  path: string,
  wait: number,
): Html =>
  html`<p class="next">${pages.no_code} ${otherWay(pages.send_again, to(path), 'link', html` data-wait="${Math.max(wait, offered.resendAfter)}"`)}</p>`

/** The code has the focus where the identifier is known and no other field is wrong. */
export const isNext = ({ flow }: View, problem: ShownProblem): boolean =>
  Boolean(flow.typed?.identifier) && problem.of('identifier', 'password', 'password_confirmation') === null

/** Where the password alone was refused, the code is as good as before, but no page keeps it. */
export const hintAtCode = ({ texts: { pages } }: View, problem: ShownProblem): string | undefined =>
  problem.of('password', 'password_confirmation') !== null && problem.of('otp') === null
    ? pages.type_code_again
    : undefined

/** Beside the identifier that was typed. Its form comes last: Enter in the field of the code must not press its button. */
export const changeButton = ({ texts: { pages }, flow }: View): Html | null =>
  flow.typed?.identifier ? html` <button class="link" form="change">${pages.correct}</button>` : null

export const changeForm = ({ flow }: View, { to }: Drawing, path: string): Html | null =>
  flow.typed?.identifier ? html`<form id="change" method="post" action="${to(path)}"></form>` : null

/** Says where the code went, to the person who typed the identifier. */
export function sentTo({ texts: { pages }, flow }: View, otherwise: string, named = pages.code_sent_if) {
  const typed = flow.typed?.identifier
  if (flow.sentTo) return withContact(pages.code_sent_to, flow.sentTo)
  return typed ? withContact(named, typed) : otherwise
}

/** What was done, below a sentence that leaves open whether there is an account: it promises no more than that one. */
export const noticeIfSo = ({ flow, texts }: View): Html | null =>
  noticeOf({ texts, flow: flow.notice === 'sent_again' ? { ...flow, notice: 'sent_again_if' } : flow })

/** The same for known and unknown contacts: it says nothing but that the server is away. */
export function lateNotice({ texts: { pages }, flow }: View, { isLate }: Drawing): Html | false {
  const contact = flow.sentTo ?? flow.typed?.identifier
  return (
    contact !== undefined && isLate(contact.includes('@') ? 'email' : 'sms') && notice(pages.late_message)
  )
}
