/** The parts that the pages of an account share: rows, times, and the fields that prove who sits there. */
import type { Security } from '../../domain/self-service/me/me-schema.ts'
import { codeField, hiddenUsername, isolated, notice, otherWay, passwordInput } from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import type { Screen } from '../visits/service.ts'
import { noticeOf, type ShownProblem, showProblem } from '../ways-in/problems.ts'
import type { OwnVisit } from './service.ts'

/** A page below `/account`, with the way back, what was done, and the way to sign out. */
export function page(
  visit: OwnVisit,
  title: string,
  content: Html,
  problem: ShownProblem = problemOf(visit, []),
): Screen {
  const { pages } = visit.texts
  const isOverview = visit.path === '/account'
  const up = visit.within ?? { href: '/account', label: pages.account }
  return {
    title,
    wide: true,
    ...(visit.within === null && {
      aside: html`<form method="post" action="${visit.to('/sign-out')}"><button class="link">${pages.sign_out}</button></form>`,
    }),
    content: html`${!isOverview && html`<p class="small up"><a href="${up.href}">${up.label}</a></p>`}
<h1>${title}</h1>
${problem.above ?? noticeOf(visit)}
${content}`,
  }
}

/** Returns the problem of a form that a signed-in person sent. A sign-in that is too old leads to the sign-in page. */
export function problemOf(visit: OwnVisit, fields: readonly string[]): ShownProblem {
  const shown = showProblem(visit, fields, visit.now)
  if (visit.flow.problem?.code !== 'reauthentication_required') return shown
  const { errors, pages } = visit.texts
  const again = html`<form method="post" action="${visit.to('/account/sign-in-again')}"><input type="hidden" name="page" value="${visit.path}"><button class="link">${pages.sign_in}</button></form>`
  return { ...shown, above: notice(errors.reauthentication_required, 'bad', again) }
}

export const row = (label: Html | string, detail: Html | string | null, action: Html | null = null): Html =>
  html`<div class="row"><div><div>${label}</div>${detail !== null && html`<div class="soft small">${detail}</div>`}</div>${action}</div>`

export const linkButton = (label: string, href: string): Html =>
  html`<a class="button quiet" href="${href}">${label}</a>`

/** The account that a form changes. Somebody may have several, and signs in with one after another. */
export function ownAccount({ texts: { pages }, session: { account } }: OwnVisit): Html | null {
  const contact = account.email ?? account.phone
  return contact === null ? null : row(pages.account, isolated(contact))
}

const DAY_SECONDS = 86_400
const UNITS = [
  ['day', DAY_SECONDS],
  ['hour', 3600],
  ['minute', 60],
  ['second', 60],
] as const

/** Writes a time in the reader's language, to the minute. */
export function time({ client }: OwnVisit, at: Date | string): Html {
  const date = new Date(at)
  return html`<time datetime="${date.toISOString()}">${exactly(date, client.language)}</time>`
}

/**
 * Writes a time of the past in the reader's language: "3 hours ago", which needs no time zone. A time of more than a week ago is a date. The exact time is the title.
 */
export function ago({ client: { language }, now }: OwnVisit, at: Date | string): Html {
  const date = new Date(at)
  const seconds = Math.max(0, (now.getTime() - date.getTime()) / 1000)
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? UNITS[3]
  const text =
    seconds < 7 * DAY_SECONDS
      ? new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-Math.floor(seconds / size), unit)
      : new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(date)
  return html`<time datetime="${date.toISOString()}" title="${exactly(date, language)}">${text}</time>`
}

const exactly = (date: Date, language: string): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(date)} UTC`

/** Password and second factor, whichever the account has. */
export function proofFields(visit: OwnVisit, security: Security, problem: ShownProblem): Html {
  const { account } = security
  const password =
    account.passwordDigest !== null &&
    html`${hiddenUsername(account.email ?? account.phone ?? '')}${passwordInput(visit.texts, {
      name: 'password',
      label: visit.texts.pages.current_password,
      autocomplete: 'current-password',
      wrong: problem.of('password', 'current_password'),
    })}`
  return html`${password}${account.twoFactorEnabled && secondFactorField(visit, security, problem)}`
}

const hasDigits = ({ methods }: Security) =>
  methods.some((method) => method !== 'passkey' && method !== 'recovery_code')

/** It takes letters where the account has nothing else, or the person wants to type a recovery code. */
const takesLetters = ({ flow }: OwnVisit, security: Security) => Boolean(flow.letters) || !hasDigits(security)

/** It is never sent by itself: the form changes what opens the account. */
export function secondFactorField(visit: OwnVisit, security: Security, problem: ShownProblem): Html {
  const { pages } = visit.texts
  const letters = takesLetters(visit, security)
  return codeField({
    label: letters ? pages.method_recovery_code : pages.second_factor_code,
    letters,
    wrong: problem.of('otp'),
    waits: true,
  })
}

/** The ways below the button of a form with `proofFields`. They come after it, since Enter presses the first button of a form. */
export const otherProofs = (visit: OwnVisit, security: Security, sendLabel?: string): Html =>
  html`${security.counts.passkeys > 0 && proofByPasskey(visit)}${sendProofCode(visit, security, sendLabel)}${otherCode(visit, security)}`

/** The field of the other kind, for whoever has codes of both. */
export function otherCode(visit: OwnVisit, security: Security): Html | null {
  const { pages } = visit.texts
  if (!security.account.twoFactorEnabled || !hasDigits(security) || security.recoveryCodesLeft === 0)
    return null
  const letters = takesLetters(visit, security)
  const more = html` name="field" value="${letters ? 'digits' : 'letters'} ${visit.path}"`
  return html`<p class="next">${otherWay(letters ? pages.use_digits : pages.use_recovery_code, visit.to('/account/field'), 'link', more)}</p>`
}

/** A passkey of the account takes the place of `proofFields`. */
const proofByPasskey = ({ texts: { pages }, to }: OwnVisit): Html =>
  html`<input type="hidden" name="credential"><button class="button quiet" type="button" data-step-up="${to('/account/step-up')}" data-failed="step-up-failed" hidden>${pages.confirm_with_passkey}</button>
<p class="wrong" id="step-up-failed" role="alert" hidden>${pages.passkey_failed}</p>`

/** Sends a code of the second factor, where the account takes one. */
export function sendProofCode(
  visit: OwnVisit,
  security: Security,
  label = visit.texts.pages.send_code,
): Html | null {
  const { account, methods } = security
  if (!account.twoFactorEnabled || !(methods.includes('email') || methods.includes('sms'))) return null
  if (takesLetters(visit, security)) return null
  const page = html` name="page" value="${visit.path}"`
  return html`<p class="next">${otherWay(label, visit.to('/account/code'), 'link', page)}</p>`
}
