/**
 * The screens of the ways in, as HTML. Their content depends on the configuration and on the flow, never on an account
 * that was only named.
 */

import type { IconName } from '../../platform/look/icons.ts'
import { nameOfProvider } from '../../texts/names.ts'
import {
  changesCodeField,
  check,
  codeField,
  type FieldOptions,
  field,
  group,
  heading,
  hiddenUsername,
  icon,
  initialsOf,
  isolated,
  markOf,
  notice,
  otherWay,
  passwordInput,
  pressedByEnter,
  rowButton,
  rows,
  submit,
  wayOf,
  withContact,
  withoutPasskeys,
  withTerms,
  wrongText,
} from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import type { Screen, View } from '../visits/service.ts'
import { noticeOf, type ShownProblem, showProblem } from './problems.ts'

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

/** A provider with its mark, as a button that goes to it. */
const providerLabel = ({ texts: { pages } }: View, name: string): Html =>
  html`${markOf(name)}<span>${pages.continue_with.replace('{provider}', nameOfProvider(name))}</span>`

/** The other ways in: providers, a passkey, a code. What was typed goes along to the code. */
function otherWays(visit: View, drawing: Drawing): Html | null {
  const { pages } = visit.texts
  const { offered, to } = drawing
  const providers = offered.providers.map(
    (name) =>
      html`<form method="post" action="${to('/sign-in/provider')}"><button class="button quiet" name="provider" value="${name}">${providerLabel(visit, name)}</button></form>`,
  )
  const passkey = passkeyForm(visit, drawing, pages.method_passkey)
  const sendsCode = offered.signInByCode || offered.passwordOptional
  const code =
    sendsCode && wayOf('ways', html`${icon('mail')}${pages.send_code}`, to('/sign-in/code'), 'button quiet')
  if (providers.length === 0 && passkey === null && !code) return null
  const or = html`<p class="or">${pages.or}</p>`
  // Without script there are no passkeys, and so without the others nothing to choose from.
  if (providers.length === 0 && !code) return html`<div data-with-passkeys hidden>${or}${passkey}</div>`
  return html`${or}<div class="stack">${providers}<div class="pair">${passkey}${code}</div></div>`
}

/** Without a label its button stands elsewhere on the page. */
function passkeyForm(
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

/** Only somebody with the right password is told, and so led to the page of confirmation with what was typed. */
function unconfirmedNotice({ texts, flow }: View, { to }: Drawing): Html | null {
  if (flow.problem?.code !== 'account_unconfirmed') return null
  const on = html`<form method="post" action="${to('/sign-in/confirm')}"><button class="link">${texts.pages.confirm_title}</button></form>`
  return notice(texts.errors.account_unconfirmed, 'bad', on)
}

export function signInScreen(visit: View, drawing: Drawing): Screen {
  const { texts, flow } = visit
  const { pages } = texts
  const { offered, to, now } = drawing
  const problem = showProblem(visit, ['identifier', 'password'], { now, support: offered.support })
  const title = pages.sign_in_to.replace('{service}', offered.service)
  return {
    title: pages.sign_in,
    content: html`${heading(title)}
${unconfirmedNotice(visit, drawing) ?? problem.above ?? noticeOf(visit)}
<form method="post" action="${to('/sign-in')}" id="ways">${pressedByEnter}
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
  after: otherWay(pages.forgot_password, to('/sign-in/forgot')),
})}
${check('stay', pages.stay_signed_in, { checked: flow.typed?.stay === 'yes' })}
${submit(pages.sign_in, '', problem.wait)}
</form>
${otherWays(visit, drawing)}
${canRegister(visit, offered) && html`<p class="foot">${pages.no_account.replace('{service}', offered.service)} ${wayOf('ways', pages.create_account, to('/sign-in/register'))}</p>`}`,
  }
}

const canRegister = ({ flow }: View, { registration }: Offered): boolean =>
  registration === 'open' || (registration === 'invitation' && flow.invitation !== undefined)

/** Tells whether a code signs in somebody who has an account, and opens one for anybody else. */
const createsByCode = (visit: View, offered: Offered): boolean =>
  offered.passwordOptional && canRegister(visit, offered)

/** Somebody who is signed in followed the link of an invitation. */
function joinScreen(visit: View, { to, now, offered }: Drawing): Screen {
  const { pages } = visit.texts
  const who = visit.session?.account.email ?? visit.session?.account.phone ?? ''
  const title = pages.join_service.replace('{service}', offered.service)
  return {
    title,
    content: html`${heading(title, withContact(pages.join_lead, who))}
${showProblem(visit, [], { now }).above}
<form method="post" action="${to('/sign-up/join')}">${submit(pages.join)}</form>
<p class="foot"><a href="${to('/leave')}">${pages.not_now}</a></p>`,
  }
}

function closedScreen({ texts: { pages, errors } }: View, { to }: Drawing): Screen {
  return {
    title: pages.create_account,
    content: html`${heading(pages.create_account, errors.registration_closed)}
<a class="button main" href="${to('/sign-in')}">${pages.sign_in}</a>`,
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
    content: html`${heading(title, withTerms(visit.texts, offered.terms, isNew ? pages.terms_lead : pages.new_terms_lead))}
${showProblem(visit, [], { now }).above}
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
  const problem = showProblem(visit, ['email', 'phone', 'password', 'terms'], drawing)
  return {
    title: pages.create_account,
    content: html`${heading(pages.create_account)}
${problem.above}
<form method="post" action="${to('/sign-up')}" id="ways">
${identifierInput(visit, offered, {
  value: typed.identifier ?? '',
  wrong: problem.of('email', 'phone'),
  autofocus: problem.of('password') === null,
})}
${newPassword(visit, drawing, problem.of('password'), offered.passwordOptional)}
${termsCheck(visit, drawing)}
${submit(pages.create_account, '', problem.wait)}
${offered.providers.length > 0 && html`<p class="or">${pages.or}</p>`}
<div class="stack">${offered.providers.map((name) =>
      otherWay(
        providerLabel(visit, name),
        to('/sign-up/provider'),
        'button quiet',
        html` name="provider" value="${name}"`,
      ),
    )}</div>
</form>
<p class="foot">${pages.have_account} ${wayOf('ways', pages.sign_in, to('/sign-up/sign-in'))}</p>`,
  }
}

function newPassword(
  { texts }: View,
  { offered }: Drawing,
  wrong: FieldOptions['wrong'],
  mayBeLeftOut = false,
) {
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

function identifierField(visit: View, { offered }: Drawing, wrong: FieldOptions['wrong']): Html {
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
  const { to, now } = drawing
  const problem = showProblem(visit, ['identifier', 'otp', 'password'], { now, wrongCode: pages.wrong_code })
  const inThisBrowser = visit.ticket?.kind === 'registration'
  const named = visit.flow.typed?.identifier
  const lead = sentTo(visit, pages.confirm_lead, pages.code_sent_confirm)
  return {
    title: pages.confirm_title,
    content: html`${
      named
        ? // A form of its own: Enter in the field of the code must not press this button.
          html`${heading(pages.confirm_title)}<form class="lead" id="lead" method="post" action="${to('/confirm/change')}">${lead} <button class="link">${pages.correct}</button></form>`
        : heading(pages.confirm_title, lead)
    }
${problem.above ?? noticeOf(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/confirm')}">
${identifierField(visit, drawing, problem.of('identifier'))}
${codeField({
  label: pages.code,
  letters: false,
  wrong: problem.of('otp'),
  autofocus: isNext(visit, problem),
  titled: inThisBrowser && Boolean(named),
})}
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
  const { to, offered, now } = drawing
  const creates = createsByCode(visit, offered)
  const problem = showProblem(visit, ['identifier', 'otp'], { now, wrongCode: pages.wrong_code })
  const named = Boolean(visit.flow.typed?.identifier)
  return {
    title: pages.code_title,
    content: html`${heading(pages.code_title, sentTo(visit, pages.code_lead, creates && !offered.isForDomains ? pages.code_sent_create : undefined))}
${problem.above ?? noticeOf(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/code')}">
${identifierField(visit, drawing, problem.of('identifier'))}
${codeField({ label: pages.code, letters: false, wrong: problem.of('otp'), autofocus: isNext(visit, problem), titled: named })}
${creates && termsCheck(visit, drawing)}
${submit(pages.sign_in)}
${sendAgain(visit, drawing, '/code/again', problem.wait)}
<p class="next">${otherWay(pages.other_way, to('/code/sign-in'))}</p>
</form>`,
  }
}

/** What the second step asks for, of all that the account has: a passkey alone, letters, or six digits. */
function askedFor({ flow: { methods = [], letters } }: View, usesPasskey: boolean) {
  const takesDigits = methods.some(isOfDigits)
  const takesLetters = methods.includes('recovery_code')
  if (takesLetters && (letters || !(takesDigits || usesPasskey))) return 'letters'
  if (takesDigits) return 'digits'
  return usesPasskey ? 'passkey' : 'none'
}

type Asked = ReturnType<typeof askedFor>

interface SecondStepWords {
  title: string
  lead: Html | string
  wrongCode?: string
}

function secondFactorWords({ texts: { pages, sentences }, flow }: View, asked: Asked): SecondStepWords {
  const { methods = [], sentTo: contact } = flow
  switch (asked) {
    case 'letters':
      return {
        title: pages.recovery_code_title,
        lead: pages.recovery_code_lead,
        wrongCode: pages.wrong_recovery_code,
      }
    case 'passkey':
      return { title: pages.second_factor_passkey_title, lead: sentences.two_factor_passkey_required }
    case 'none':
      return { title: pages.second_factor_none, lead: sentences.two_factor_unavailable }
    case 'digits':
      if (methods.includes('totp'))
        return {
          title: pages.second_factor_app,
          lead: pages.second_factor_app_lead,
          wrongCode: pages.wrong_app_code,
        }
      return {
        title: pages.code_title,
        lead: contact ? withContact(pages.code_sent_to, contact) : sentences.two_factor_required,
        wrongCode: pages.wrong_code,
      }
  }
}

/** The other ways through the second step, as rows: a code of the other kind, and another sign-in. */
function otherSteps(
  { texts: { pages }, flow }: View,
  { to }: Drawing,
  asked: Asked,
  passkey: Html | false,
): Html {
  const { methods = [] } = flow
  const letters = asked === 'letters'
  const hasOther = letters
    ? methods.some((method) => method !== 'recovery_code')
    : methods.includes('recovery_code')
  const field = (icon: IconName, label: string, detail: string | null = null) =>
    rowButton(to('/code/field'), { icon, label, detail }, changesCodeField(!letters))
  return html`${group(pages.another_way)}${rows([
    passkey && asked !== 'passkey' && { withPasskeys: passkey },
    hasOther && !letters && field('key', pages.use_recovery_code, pages.use_recovery_code_why),
    hasOther && letters && methods.some(isOfDigits) && field('phone', pages.use_digits),
    otherWay(
      html`${icon('back', 'back')}<span class="text"><span>${pages.start_over}</span></span>`,
      to('/code/sign-in'),
      'row',
    ),
  ])}`
}

/** Who is signing in, as it was typed. */
const whoSignsIn = ({ flow: { typed } }: View): Html | null =>
  typed?.identifier
    ? html`<div class="who"><span class="avatar" aria-hidden="true">${initialsOf(typed.identifier)}</span><span class="small">${isolated(typed.identifier)}</span></div>`
    : null

function secondFactorScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, offered, now } = drawing
  const { methods = [] } = visit.flow
  const sent = methods.includes('email') || methods.includes('sms')
  const usesPasskey = methods.includes('passkey') && offered.passkeys
  const asked = askedFor(visit, usesPasskey)
  const { title, lead, wrongCode } = secondFactorWords(visit, asked)
  const problem = showProblem(visit, ['otp'], { now, support: offered.support, wrongCode })
  const letters = asked === 'letters'
  const takesCode = letters || asked === 'digits'
  const codePart = html`${codeField({ label: pages.code, letters, wrong: problem.of('otp'), autofocus: true, titled: true })}
${offered.trustDevice && check('trust', pages.trust_device, { checked: visit.flow.typed?.trust === 'yes' })}
${submit(pages.sign_in, '', sent ? 0 : problem.wait)}
${sent && !letters && sendAgain(visit, drawing, '/code/again', problem.wait)}`
  // The row is a button of the form below the rows.
  const passkeyRow =
    usesPasskey &&
    html`<button class="row" form="passkey">${icon('passkey')}<span class="text"><span>${pages.use_passkey}</span></span>${icon('chevron', 'chevron')}</button>`
  return {
    title,
    content: html`${whoSignsIn(visit)}${heading(title, lead)}
${problem.above ?? noticeOf(visit)}${!letters && lateNotice(visit, drawing)}
${asked === 'passkey' && html`${withoutPasskeys(visit)}${passkeyForm(visit, drawing, pages.use_passkey, 'button main')}`}
<form method="post" action="${to('/code')}">
${takesCode && codePart}
${otherSteps(visit, drawing, asked, passkeyRow)}
</form>${takesCode && usesPasskey && passkeyForm(visit, drawing)}`,
  }
}

const isOfDigits = (method: string) => method !== 'passkey' && method !== 'recovery_code'

export function recoverScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { offered, to } = drawing
  const problem = showProblem(visit, ['identifier'], drawing)
  return {
    title: pages.recover_title,
    content: html`${heading(pages.recover_title, pages.recover_lead)}
${problem.above}
<form method="post" action="${to('/recover')}">
${identifierInput(visit, offered, {
  value: visit.flow.typed?.identifier ?? '',
  wrong: problem.of('identifier'),
  autofocus: true,
})}
${submit(pages.send_code, '', problem.wait)}
<p class="next">${otherWay(pages.have_code, to('/recover/code'))}</p>
<p class="next">${otherWay(pages.back_to_sign_in, to('/recover/sign-in'))}</p>
</form>`,
  }
}

export function choosePasswordScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, now } = drawing
  const problem = showProblem(visit, ['identifier', 'otp', 'password', 'password_confirmation'], {
    now,
    wrongCode: pages.wrong_code,
  })
  // Only the browser that asked for a code knows that six digits come.
  const letters = visit.flow.letters || !visit.flow.typed?.identifier
  return {
    title: pages.choose_password_title,
    content: html`${heading(pages.choose_password_title, sentTo(visit, pages.choose_password_lead))}
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

/** Browsers go on at once; the button is for those that do not. */
export function leaveScreen({ texts: { pages } }: View, to: string): Screen {
  return {
    title: pages.leave_title,
    refreshTo: to,
    content: html`<div class="spinner" aria-hidden="true"></div>${heading(pages.leave_title, pages.leave_lead.replace('{host}', new URL(to).host))}
<a class="button quiet main later" href="${to}">${pages.continue}</a>`,
  }
}

export function signedOutScreen(visit: View, { to }: Drawing): Screen {
  const { pages } = visit.texts
  return {
    title: pages.signed_out_title,
    content: html`<div class="round" aria-hidden="true">${icon('check')}</div>${heading(pages.signed_out_title, pages.signed_out_lead)}
${noticeOf(visit)}
<a class="button quiet main" href="${to('/sign-in')}">${pages.sign_in}</a>`,
  }
}
