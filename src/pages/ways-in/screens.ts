/**
 * The screens of the ways in, as HTML. Their content depends on the configuration and on the flow, never on an account
 * that was only named.
 */

import { nameOfProvider } from '../../texts/provider-name.ts'
import {
  changesCodeField,
  check,
  codeField,
  type FieldOptions,
  field,
  hiddenUsername,
  notice,
  otherWay,
  passwordInput,
  submit,
  wayOf,
  withContact,
  withoutPasskeys,
  withTerms,
} from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import type { Screen, View } from '../visits/service.ts'
import { noticeOf, type ShownProblem, showProblem } from './problems.ts'

/** The offers of the forms, from the configuration. */
export interface Offered {
  /** The name of the service. */
  service: string
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
  /** Tells whether messages are late now. */
  isLate(channel: 'email' | 'sms'): boolean
  now: Date
  /** The address of a path with the flow of the visit. */
  to(path: string): string
}

/** Takes an e-mail address or a telephone number, as the configuration says. */
function identifierInput(
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

function providerForms({ texts: { pages } }: View, { offered, to }: Drawing): Html | null {
  if (offered.providers.length === 0) return null
  return html`<div class="stack">${offered.providers.map(
    (name) =>
      html`<form method="post" action="${to('/sign-in/provider')}"><button class="button quiet" name="provider" value="${name}">${pages.sign_in_with.replace('{provider}', nameOfProvider(name))}</button></form>`,
  )}</div>`
}

/** Without script there are no passkeys, and so without providers nothing to choose from. */
function otherWays(visit: View, drawing: Drawing): Html | null {
  const [passkey, providers] = [passkeyForm(visit, drawing), providerForms(visit, drawing)]
  if (passkey === null && providers === null) return null
  const or = html`<p class="or">${visit.texts.pages.or}</p>`
  return providers === null
    ? html`<div data-with-passkeys hidden>${or}${passkey}</div>`
    : html`${or}<div class="stack">${passkey}${providers}</div>`
}

function passkeyForm({ texts: { pages } }: View, { offered, to }: Drawing): Html | null {
  if (!offered.passkeys) return null
  return html`<form method="post" action="${to('/sign-in/passkey')}" data-passkey="get" data-conditional="yes" data-options="${to('/sign-in/passkey/options')}" data-failed="passkey-failed" hidden>
<input type="hidden" name="credential"><button class="button quiet">${pages.sign_in_with_passkey}</button>
<p class="wrong" id="passkey-failed" role="alert" hidden>${pages.passkey_failed}</p></form>`
}

/** Only somebody with the right password is told, and so led to the page of confirmation with what was typed. */
function unconfirmedNotice({ texts, flow }: View, { to }: Drawing): Html | null {
  if (flow.problem?.code !== 'account_unconfirmed') return null
  const on = html`<form method="post" action="${to('/sign-in/confirm')}"><button class="link">${texts.pages.confirm_title}</button></form>`
  return notice(texts.errors.account_unconfirmed, 'bad', on)
}

export function signInScreen(visit: View, drawing: Drawing): Screen {
  const { texts, flow } = visit
  const { pages } = texts
  const { offered, to } = drawing
  const problem = showProblem(visit, ['identifier', 'password'], drawing.now)
  return {
    title: pages.sign_in,
    content: html`<h1>${pages.sign_in}</h1>
<p class="lead">${pages.sign_in_lead}</p>
${unconfirmedNotice(visit, drawing) ?? problem.above ?? noticeOf(visit)}
<form method="post" action="${to('/sign-in')}" id="ways">
${identifierInput(visit, offered, {
  autocomplete: offered.passkeys ? 'username webauthn' : 'username',
  value: flow.typed?.identifier ?? '',
  wrong: problem.of('identifier'),
  autofocus: !flow.typed?.identifier,
})}
${passwordInput(visit.texts, {
  name: 'password',
  label: pages.password,
  autocomplete: 'current-password',
  wrong: problem.of('password'),
  autofocus: Boolean(flow.typed?.identifier),
})}
${check('stay', pages.stay_signed_in, { checked: flow.typed?.stay === 'yes' })}
${submit(pages.sign_in)}
${offered.passwordOptional && otherWay(pages.send_me_a_code, to('/sign-in/code'), 'button quiet')}
<p class="ways">${otherWay(pages.forgot_password, to('/sign-in/forgot'))}${offered.signInByCode && !offered.passwordOptional && html` ${otherWay(pages.send_me_a_code, to('/sign-in/code'))}`}</p>
</form>
${otherWays(visit, drawing)}
${canRegister(visit, offered) && html`<p class="foot">${pages.no_account} ${wayOf('ways', pages.create_account, to('/sign-in/register'))}</p>`}`,
  }
}

const canRegister = ({ flow }: View, { registration }: Offered): boolean =>
  registration === 'open' || (registration === 'invitation' && flow.invitation !== undefined)

/** Tells whether a code signs in somebody who has an account, and opens one for anybody else. */
const createsByCode = (visit: View, offered: Offered): boolean =>
  offered.passwordOptional && canRegister(visit, offered)

/** Somebody who is signed in followed the link of an invitation. */
function joinScreen(visit: View, { to, now }: Drawing): Screen {
  const { pages } = visit.texts
  const who = visit.session?.account.email ?? visit.session?.account.phone ?? ''
  return {
    title: pages.join_title,
    content: html`<h1>${pages.join_title}</h1>
<p class="lead">${withContact(pages.signed_in_as, who)}</p>
${showProblem(visit, [], now).above}
<form method="post" action="${to('/sign-up/join')}">${submit(pages.join)}</form>
<p class="foot"><a href="${to('/leave')}">${pages.not_now}</a></p>`,
  }
}

function closedScreen({ texts: { pages, errors } }: View, { to }: Drawing): Screen {
  return {
    title: pages.create_account,
    content: html`<h1>${pages.create_account}</h1>${notice(errors.registration_closed)}
<a class="button" href="${to('/sign-in')}">${pages.sign_in}</a>`,
  }
}

function termsCheck(visit: View, drawing: Drawing): Html | false {
  const { terms, termsVersion } = drawing.offered
  if (termsVersion === '') return false
  const label = withTerms(visit.texts, terms, visit.texts.pages.accept_terms)
  return check('terms', label, { required: true, checked: visit.flow.terms === termsVersion })
}

/** Somebody who came by a provider accepts the terms before the account is opened; others are asked after a new version. */
export function termsScreen(visit: View, drawing: Drawing, { isNew }: { isNew: boolean }): Screen {
  const { pages } = visit.texts
  const { to, now, offered } = drawing
  const title = pages.terms
  return {
    title,
    content: html`<h1>${title}</h1>
<p class="lead">${withTerms(visit.texts, offered.terms, isNew ? pages.terms_lead : pages.new_terms_lead)}</p>
${showProblem(visit, [], now).above}
<form method="post" action="${to(isNew ? '/sign-up/terms' : '/sign-in/terms')}">${submit(pages.accept)}</form>
<p class="foot"><a href="${to(isNew ? '/sign-in' : '/leave')}">${isNew ? pages.back_to_sign_in : pages.not_now}</a></p>`,
  }
}

export function signUpScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  if (visit.session && visit.flow.invitation) return joinScreen(visit, drawing)
  if (!canRegister(visit, drawing.offered)) return closedScreen(visit, drawing)
  const { offered, to } = drawing
  const { typed = {} } = visit.flow
  const problem = showProblem(visit, ['email', 'phone', 'password', 'terms'], drawing.now)
  return {
    title: pages.create_account,
    content: html`<h1>${pages.create_account}</h1>
<p class="lead">${pages.sign_up_lead}</p>
${problem.above}
<form method="post" action="${to('/sign-up')}" id="ways">
${identifierInput(visit, offered, {
  value: typed.identifier ?? '',
  wrong: problem.of('email', 'phone'),
  autofocus: problem.of('password') === null,
})}
${newPassword(visit, drawing, problem.of('password'), offered.passwordOptional)}
${termsCheck(visit, drawing)}
${submit(pages.create_account)}
${offered.providers.length > 0 && html`<p class="or">${pages.or}</p>`}
${offered.providers.map((name) =>
  otherWay(
    pages.continue_with.replace('{provider}', nameOfProvider(name)),
    to('/sign-up/provider'),
    'button quiet',
    html` name="provider" value="${name}"`,
  ),
)}
</form>
<p class="foot">${pages.have_account} ${wayOf('ways', pages.sign_in, to('/sign-up/sign-in'))}</p>`,
  }
}

function newPassword({ texts }: View, { offered }: Drawing, wrong: string | null, mayBeLeftOut = false) {
  const { pages } = texts
  const hint = pages.password_hint.replace('{count}', String(offered.minimumLength))
  return passwordInput(texts, {
    name: 'password',
    label: pages.choose_password,
    autocomplete: 'new-password',
    wrong,
    required: !mayBeLeftOut,
    hint: mayBeLeftOut ? `${hint} ${pages.password_may_be_left_out}` : hint,
  })
}

function identifierField(visit: View, { offered }: Drawing, wrong: string | null): Html {
  const { typed } = visit.flow
  if (typed?.identifier) return html`${hiddenUsername(typed.identifier)}`
  return identifierInput(visit, offered, { wrong, autofocus: true })
}

const sendAgain = ({ texts: { pages } }: View, { offered, to }: Drawing, path: string, wait: number): Html =>
  html`<p class="next">${pages.no_code} ${otherWay(pages.send_again, to(path), 'link', html` data-wait="${Math.max(wait, offered.resendAfter)}"`)}</p>`

/** The code has the focus where the identifier is known and no other field is wrong. */
const isNext = ({ flow }: View, problem: ShownProblem): boolean =>
  Boolean(flow.typed?.identifier) && problem.of('identifier', 'password', 'password_confirmation') === null

/** Says where the code went, to the person who typed the identifier. */
function sentTo({ texts: { pages }, flow }: View, otherwise: string, named = pages.code_sent_if) {
  const typed = flow.typed?.identifier
  if (flow.sentTo) return withContact(pages.code_sent_to, flow.sentTo)
  return typed ? withContact(named, typed) : otherwise
}

/** The same for known and unknown contacts: it says nothing but that the server is away. */
function lateNotice({ texts: { pages }, flow }: View, { isLate }: Drawing): Html | false {
  const contact = flow.sentTo ?? flow.typed?.identifier
  return (
    contact !== undefined && isLate(contact.includes('@') ? 'email' : 'sms') && notice(pages.late_message)
  )
}

export function confirmScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to } = drawing
  const problem = showProblem(visit, ['identifier', 'otp', 'password'], drawing.now)
  const inThisBrowser = visit.ticket?.kind === 'registration'
  const named = visit.flow.typed?.identifier
  const lead = sentTo(visit, pages.confirm_lead, pages.code_sent_confirm)
  return {
    title: pages.confirm_title,
    content: html`<h1>${pages.confirm_title}</h1>
${
  named
    ? // A form of its own: Enter in the field of the code must not press this button.
      html`<form class="lead" method="post" action="${to('/confirm/change')}">${lead} <button class="link">${pages.correct}</button></form>`
    : html`<p class="lead">${lead}</p>`
}
${problem.above ?? noticeOf(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/confirm')}">
${identifierField(visit, drawing, problem.of('identifier'))}
${codeField({ label: pages.code, letters: false, wrong: problem.of('otp'), autofocus: isNext(visit, problem) })}
${
  !inThisBrowser &&
  html`${newPassword(visit, drawing, problem.of('password'), drawing.offered.passwordOptional)}
${termsCheck(visit, drawing)}`
}
${submit(pages.confirm)}
${sendAgain(visit, drawing, '/confirm/again', problem.wait)}
</form>`,
  }
}

export function codeScreen(visit: View, drawing: Drawing): Screen {
  return visit.ticket?.kind === 'second_factor'
    ? secondFactorScreen(visit, drawing)
    : signInCodeScreen(visit, drawing)
}

function signInCodeScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, offered } = drawing
  const creates = createsByCode(visit, offered)
  const problem = showProblem(visit, ['identifier', 'otp'], drawing.now)
  return {
    title: pages.code_title,
    content: html`<h1>${pages.code_title}</h1>
<p class="lead">${sentTo(visit, pages.code_lead, creates && !offered.isForDomains ? pages.code_sent_create : undefined)}</p>
${problem.above ?? noticeOf(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/code')}">
${identifierField(visit, drawing, problem.of('identifier'))}
${codeField({ label: pages.code, letters: false, wrong: problem.of('otp'), autofocus: isNext(visit, problem) })}
${creates && termsCheck(visit, drawing)}
${submit(pages.sign_in)}
${sendAgain(visit, drawing, '/code/again', problem.wait)}
<p class="next">${otherWay(pages.other_way, to('/code/sign-in'))}</p>
</form>`,
  }
}

/** What the second step asks for, of all that the account has: a passkey alone, letters, or six digits. */
function askedFor({ flow: { methods = [], letters } }: View, usesPasskey: boolean) {
  const takesDigits = methods.some((method) => method !== 'passkey' && method !== 'recovery_code')
  const takesLetters = methods.includes('recovery_code')
  if (takesLetters && (letters || !(takesDigits || usesPasskey))) return 'letters'
  if (takesDigits) return 'digits'
  return usesPasskey ? 'passkey' : 'none'
}

type Asked = ReturnType<typeof askedFor>

/** Title and lead of the second step. */
function secondFactorWords(
  { texts: { pages, sentences }, flow }: View,
  asked: Asked,
): [string, Html | string] {
  const { methods = [], sentTo: contact } = flow
  if (asked === 'letters') return [pages.recovery_code_title, pages.recovery_code_lead]
  if (asked === 'passkey') return [pages.second_factor_passkey_title, sentences.two_factor_passkey_required]
  if (asked === 'none') return [pages.second_factor_none, sentences.two_factor_unavailable]
  if (methods.includes('totp')) return [pages.second_factor_app, pages.second_factor_app_lead]
  return [
    pages.code_title,
    contact ? withContact(pages.code_sent_to, contact) : sentences.two_factor_required,
  ]
}

/** The field of the other kind, for whoever has codes of both. */
function otherCode({ texts: { pages }, flow }: View, { to }: Drawing, asked: Asked): Html | false {
  const { methods = [] } = flow
  const other =
    asked === 'letters'
      ? methods.some((method) => method !== 'recovery_code')
      : methods.includes('recovery_code')
  const label = asked === 'letters' ? pages.use_digits : pages.use_recovery_code
  return (
    other &&
    html`<p class="next">${otherWay(label, to('/code/field'), 'link', changesCodeField(asked !== 'letters'))}</p>`
  )
}

function secondFactorScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, offered } = drawing
  const { methods = [] } = visit.flow
  const problem = showProblem(visit, ['otp'], drawing.now)
  const sent = methods.includes('email') || methods.includes('sms')
  const usesPasskey = methods.includes('passkey') && offered.passkeys
  const asked = askedFor(visit, usesPasskey)
  const [title, lead] = secondFactorWords(visit, asked)
  const letters = asked === 'letters'
  const takesCode = letters || asked === 'digits'
  const codePart = html`${codeField({ label: pages.code, letters, wrong: problem.of('otp'), autofocus: true })}
${offered.trustDevice && check('trust', pages.trust_device, { checked: visit.flow.typed?.trust === 'yes' })}
${submit(pages.sign_in)}
${sent && !letters && sendAgain(visit, drawing, '/code/again', problem.wait)}`
  const byPasskey =
    usesPasskey &&
    html`${!takesCode && withoutPasskeys(visit)}
<div data-with-passkeys hidden>${takesCode && html`<p class="or">${pages.or}</p>`}${passkeyForm(visit, drawing)}</div>`
  return {
    title,
    content: html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${problem.above ?? noticeOf(visit)}${!letters && lateNotice(visit, drawing)}
${!takesCode && byPasskey}
<form method="post" action="${to('/code')}">
${takesCode && codePart}
${otherCode(visit, drawing, asked)}
<p class="next">${otherWay(pages.other_way, to('/code/sign-in'))}</p>
</form>${takesCode && byPasskey}`,
  }
}

export function recoverScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { offered, to } = drawing
  const problem = showProblem(visit, ['identifier'], drawing.now)
  return {
    title: pages.recover_title,
    content: html`<h1>${pages.recover_title}</h1>
<p class="lead">${pages.recover_lead}</p>
${problem.above}
<form method="post" action="${to('/recover')}">
${identifierInput(visit, offered, {
  value: visit.flow.typed?.identifier ?? '',
  wrong: problem.of('identifier'),
  autofocus: true,
})}
${submit(pages.send_code)}
<p class="ways">${otherWay(pages.have_code, to('/recover/code'))} ${otherWay(pages.back_to_sign_in, to('/recover/sign-in'))}</p>
</form>`,
  }
}

export function choosePasswordScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to } = drawing
  const problem = showProblem(visit, ['identifier', 'otp', 'password', 'password_confirmation'], drawing.now)
  // Only the browser that asked for a code knows that six digits come.
  const letters = visit.flow.letters || !visit.flow.typed?.identifier
  return {
    title: pages.choose_password_title,
    content: html`<h1>${pages.choose_password_title}</h1>
<p class="lead">${sentTo(visit, pages.choose_password_lead)}</p>
${problem.above ?? noticeOf(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/choose-password')}">
${identifierField(visit, drawing, problem.of('identifier'))}
${codeField({
  label: pages.code,
  letters,
  wrong: problem.of('otp'),
  autofocus: isNext(visit, problem),
  ...(letters && { hint: pages.access_code_hint }),
})}
${newPassword(visit, drawing, problem.of('password', 'password_confirmation'))}
${submit(pages.save_password)}
${sendAgain(visit, drawing, '/choose-password/again', problem.wait)}
${!letters && html`<p class="next">${otherWay(pages.have_access_code, to('/choose-password/field'), 'link', changesCodeField(true))}</p>`}
</form>`,
  }
}

export function leaveScreen({ texts: { pages } }: View, to: string): Screen {
  return {
    title: pages.leave_title,
    refreshTo: to,
    content: html`<h1>${pages.leave_title}</h1><p class="lead">${pages.leave_lead.replace('{host}', new URL(to).host)}</p>
<a class="button" href="${to}">${pages.continue}</a>`,
  }
}

export function signedOutScreen(visit: View, { to }: Drawing): Screen {
  const { pages } = visit.texts
  return {
    title: pages.signed_out_title,
    content: html`<h1>${pages.signed_out_title}</h1><p class="lead">${pages.signed_out_lead}</p>
${noticeOf(visit)}
<a class="button" href="${to('/sign-in')}">${pages.sign_in}</a>`,
  }
}
