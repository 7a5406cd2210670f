/** The parts that the pages of an account share: rows, times, and the fields that prove who sits there. */
import { maskDestination } from '../../domain/foundation/identifiers/identifier.ts'
import type { Security } from '../../domain/self-service/me/me-schema.ts'
import { IN_TITLE } from '../../platform/look/line-breaks.ts'
import { browserName } from '../../texts/browser-name.ts'
import { writeAgo, writeDate, writeList } from '../../texts/dates.ts'
import { fillSentence } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import {
  codeField,
  contactParts,
  heading,
  hiddenUsername,
  icon,
  initialsOf,
  isolated,
  otherWay,
  passwordInput,
  pressedByEnter,
  row,
  rowLink,
  submit,
  withContact,
  wrongText,
} from '../frame/elements.ts'
import { Html, html } from '../frame/html.ts'
import { onwardsOf } from '../visits/flow.ts'
import type { Screen } from '../visits/visit.ts'
import { noticeOf, type ShownProblem, showProblem } from '../ways-in/problems.ts'
import type { Offered } from '../ways-in/screens/parts.ts'
import type { OwnVisit } from './service.ts'

/** The offers of the configuration. */
export interface AccountOffered
  extends Pick<
    Offered,
    | 'service'
    | 'phone'
    | 'email'
    | 'passkeys'
    | 'providers'
    | 'terms'
    | 'termsVersion'
    | 'minimumLength'
    | 'resendAfter'
  > {
  languages: readonly string[]
  /** The name of each application. */
  applications: ReadonlyMap<string, string>
  /** The applications that are not told when a session of them ends. */
  untold: readonly string[]
}

/** The pages between a page and the account. */
const above = (pages: Texts['pages'], path: string): [string, string] => {
  const parents: [string, string][] = [
    ['/account/two-factor', pages.two_factor],
    ['/account/passkeys', pages.passkeys],
    ['/account/providers', pages.providers],
    ['/account/email', pages.email],
    ['/account/phone', pages.phone],
  ]
  return parents.find(([parent]) => path.startsWith(`${parent}/`)) ?? ['/account', pages.account]
}

/** The way to sign out, for the head of every page. */
const signOut = ({ texts: { pages }, to }: OwnVisit): Html =>
  html`<form method="post" action="${to('/sign-out')}"><button class="button quiet little">${pages.sign_out}</button></form>`

/** Who is signed in. Somebody may have several accounts, and signs in with one after another. */
export const ownContact = ({ session: { account } }: OwnVisit): string | null =>
  account.email ?? account.phone

/** A page below `/account`, with the way back, whose account it is, what was done, and the way to sign out. */
export function page(
  visit: OwnVisit,
  title: string,
  content: Html,
  problem: ShownProblem = problemOf(visit, []),
  lead: Html | string | null = null,
): Screen {
  const [parent, name] = above(visit.texts.pages, visit.path)
  const up =
    visit.within !== null && parent === '/account'
      ? visit.within
      : { href: onTheWay(visit, parent), label: name }
  const who = ownContact(visit)
  // Once is enough where the page is about it.
  const isLead = who !== null && lead instanceof Html && lead.text === isolated(who).text
  return {
    title,
    wide: true,
    ...(visit.within === null && { aside: signOut(visit) }),
    content: html`<p class="up"><a href="${up.href}">${icon('back', 'back')}${up.label}</a>${who !== null && !isLead && contactParts(who)}</p>
${heading(title, lead)}
${problem.above ?? noticeOf(visit)}
${visit.flow.problem?.code === 'reauthentication_required' ? signInAgain(visit) : content}`,
  }
}

/** It takes the place of what the page is for: that would be refused again. */
const signInAgain = ({ path, texts: { pages }, to }: OwnVisit): Html =>
  html`<form method="post" action="${to('/account/sign-in-again')}"><input type="hidden" name="page" value="${path}">${submit(pages.sign_in)}</form>`

/** The first page of an account: the person is its title. */
export function homePage(visit: OwnVisit, name: string | null, content: Html): Screen {
  const who = ownContact(visit)
  const title = name ?? who ?? visit.texts.pages.account
  return {
    title: visit.texts.pages.account,
    wide: true,
    aside: signOut(visit),
    content: html`<div class="who"><span class="avatar big" aria-hidden="true">${initialsOf(title)}</span><div>${
      name === null
        ? html`<h1 class="address">${contactParts(title)}</h1>`
        : html`<h1>${isolated(name, IN_TITLE)}</h1>${who !== null && html`<p class="soft">${contactParts(who)}</p>`}`
    }</div></div>
${problemOf(visit, []).above ?? noticeOf(visit)}
${content}`,
  }
}

/** Returns the problem of a form that a signed-in person sent. */
export function problemOf(visit: OwnVisit, fields: readonly string[], wrongCode?: string): ShownProblem {
  const code = wrongCode ?? (visit.flow.letters ? visit.texts.pages.wrong_recovery_code : undefined)
  return showProblem(visit, fields, { now: visit.now, wrongCode: code })
}

/** The address of another page of an account, on the way that an application waits for, if one does. */
export function onTheWay({ flow, to }: OwnVisit, path: string): string {
  if (!flow.handOver) return path
  const [page = '', query] = path.split('?')
  return `${to(page, onwardsOf(flow))}${query === undefined ? '' : `&${query}`}`
}

export const linkButton = (visit: OwnVisit, label: string, path: string, kind = 'quiet main'): Html =>
  html`<a class="button ${kind}" href="${onTheWay(visit, path)}">${label}</a>`

/** A row that leads to another page of an account. */
export const pageRow = (visit: OwnVisit, path: string, parts: Parameters<typeof rowLink>[1]): Html =>
  rowLink(onTheWay(visit, path), parts)

/** `names`: those of the passkeys. */
export const passkeysRow = (visit: OwnVisit, names: readonly string[], shown: Html | null = null): Html => {
  const { pages } = visit.texts
  return pageRow(visit, '/account/passkeys', {
    icon: 'passkey',
    label: pages.passkeys,
    detail: names.length > 0 ? writeList(names, visit.client.language) : pages.no_passkeys,
    badge: shown,
  })
}

/** Leads on to the application that waits for the end of this way. */
export function onwardsButton(
  visit: OwnVisit,
  { applications }: Pick<AccountOffered, 'applications'>,
): Html | null {
  const { handOver } = visit.flow
  const name = handOver && applications.get(handOver.application)
  if (name === undefined) return null
  const label = fillSentence(visit.texts.pages.continue_to, { application: name })
  return linkButton(visit, label, '/oauth2/continue', 'main')
}

/** The account that a form changes. */
export function ownAccount(visit: OwnVisit): Html | null {
  const contact = ownContact(visit)
  return contact === null
    ? null
    : row({ icon: 'person', label: visit.texts.pages.account, detail: isolated(contact) })
}

/** Names of browsers of ours, in the reader's language and the direction of the page. */
export function deviceName({ texts: { pages } }: OwnVisit, name: string | null): Html | null {
  if (name === null) return null
  const browser = browserName(name, pages.browser_on)
  return browser === null ? isolated(name) : html`${browser}`
}

const DAY_SECONDS = 86_400
const UNITS = [
  ['day', DAY_SECONDS],
  ['hour', 3600],
  ['minute', 60],
  ['second', 60],
] as const

/** Writes a day in the reader's language. */
export const day = ({ client }: Pick<OwnVisit, 'client'>, at: Date): string =>
  writeDate(at, client.language, { dateStyle: 'long' })

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
      ? writeAgo(Math.floor(seconds / size), unit, language)
      : writeDate(date, language, { dateStyle: 'long' })
  return html`<time datetime="${date.toISOString()}" title="${exactly(date, language)}">${text}</time>`
}

/** Writes a time by the clock, below the day as a heading. The page says once that it is in UTC: nothing says where the reader is. */
export function clockTime({ client: { language } }: OwnVisit, at: Date | string): Html {
  const date = new Date(at)
  const text = writeDate(date, language, { timeStyle: 'short' })
  return html`<time datetime="${date.toISOString()}">${text}</time>`
}

const exactly = (date: Date, language: string): string =>
  `${writeDate(date, language, { dateStyle: 'long', timeStyle: 'short' })} UTC`

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

/**
 * The form is never sent by itself: it changes what opens the account. A code that is sent is asked for above its field, and for
 * another time below it.
 */
export function secondFactorField(visit: OwnVisit, security: Security, problem: ShownProblem): Html {
  const { pages } = visit.texts
  const letters = takesLetters(visit, security)
  const send = sendProofCode(visit, security)
  const wasSent = visit.flow.sentTo !== undefined
  const code = security.methods.includes('totp') ? pages.app_code : wasSent ? pages.message_code : pages.code
  return html`${send && pressedByEnter}${!wasSent && send}${codeField({
    label: letters ? pages.method_recovery_code : code,
    letters,
    wrong: problem.of('otp'),
    waits: true,
  })}${wasSent && send}`
}

/** The ways below the button of a form with `proofFields`. They come after it, since Enter presses the first button of a form. */
export const otherProofs = (visit: OwnVisit, security: Security): Html =>
  html`${security.counts.passkeys > 0 && proofByPasskey(visit)}${otherCode(visit, security)}`

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
  html`<input type="hidden" name="credential"><button class="button quiet" type="button" data-step-up="${to('/account/step-up')}" data-failed="step-up-failed" hidden>${icon('passkey')}${pages.confirm_with_passkey}</button>
${wrongText('step-up-failed', pages.passkey_failed, false)}`

/** Sends a code of the second factor, where the account takes one. Until one was sent its button says where it goes. */
function sendProofCode(visit: OwnVisit, security: Security): Html | null {
  const { pages } = visit.texts
  const { account, methods } = security
  const contact = methods.includes('email') ? account.email : methods.includes('sms') ? account.phone : null
  if (contact === null || takesLetters(visit, security)) return null
  const button = (label: string | Html, kind: 'link' | 'button quiet') =>
    otherWay(label, visit.to('/account/code'), kind, html` name="page" value="${visit.path}"`)
  if (visit.flow.sentTo !== undefined) return html`<p class="hint">${button(pages.send_again, 'link')}</p>`
  const label = withContact(pages.send_code_to, maskDestination(contact))
  return html`<div class="field">${button(label, 'button quiet')}</div>`
}
