/** Two-factor sign-in: what is on, the app, the recovery codes. */
import { verifiedContacts } from '../../../domain/accounts/core/account.ts'
import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import { writeList } from '../../../texts/dates.ts'
import { fillSentence } from '../../../texts/sentences.ts'
import {
  badge,
  contactParts,
  heading,
  icon,
  isolated,
  notice,
  rows,
  withContact,
} from '../../frame/elements.ts'
import { Html, html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import {
  type AccountOffered,
  ago,
  day,
  linkButton,
  onTheWay,
  onwardsButton,
  page,
  pageRow,
  passkeysRow,
  problemOf,
  time,
} from '../elements.ts'
import type { OwnVisit } from '../service.ts'
import { confirmCodeScreen, proofScreen, startAgainScreen } from './proof.ts'

/** Below that, somebody has to make new ones soon. */
export const FEW_CODES = 3

const removalSentence = (visit: OwnVisit, at: Date): Html =>
  html`${visit.texts.pages.removal_waits} ${time(visit, at)}.`

/** A removal of two factors that waits, and what of this account stops it: a code of a message does not. */
export function removalNotice(
  visit: OwnVisit,
  { account, methods, removalAt }: Security,
  offered: AccountOffered,
): Html | null {
  const { pages } = visit.texts
  if (removalAt === null) return null
  const byApp = methods.includes('totp')
  const told = verifiedContacts(account).map(({ destination }) => destination)
  const how = html` ${withContact(pages.removal_how, writeList(told, visit.client.language))}${methods.includes('passkey') && ` ${pages.removal_how_passkey}`}`
  return notice(
    html`${removalSentence(visit, removalAt)}${!byApp && how}`,
    'bad',
    byApp
      ? linkButton(visit, pages.keep_on, '/account/two-factor/keep', 'quiet little')
      : removalAgain(visit, offered),
    false,
  )
}

/** For a message that did not come, or is not found any more. */
function removalAgain(visit: OwnVisit, { resendAfter }: AccountOffered): Html {
  const { flow, now } = visit
  const untilAdmitted = (flow.sendAgainAt ?? 0) - Math.floor(now.getTime() / 1000)
  const wait =
    flow.notice === 'removal_sent_again' ? Math.max(resendAfter, untilAdmitted) : problemOf(visit, []).wait
  return html`<form method="post" action="${visit.to('/account/two-factor/removal/again')}"><button class="button quiet little"${wait > 0 && html` data-wait="${wait}"`}>${visit.texts.pages.removal_send_again}</button></form>`
}

/** The form asks for what stops a removal: the app, or a passkey in its place. Null where there is nothing to stop by them. */
export function keepScreen(visit: OwnVisit, security: Security): Screen | null {
  const { pages } = visit.texts
  const { removalAt, methods } = security
  if (removalAt === null || !methods.includes('totp')) return null
  return proofScreen(
    visit,
    { ...security, methods: ['totp'], recoveryCodesLeft: 0 },
    {
      title: pages.two_factor,
      lead: removalSentence(visit, removalAt),
      action: '/account/two-factor/keep',
      button: pages.keep_on,
    },
  )
}

/** The methods of the account that are second factors by themselves, named for people. */
export const namesOfFactors = ({ texts: { pages } }: OwnVisit, methods: Security['methods']): string[] =>
  methods
    .filter((method) => method !== 'recovery_code')
    .map((method) => pages[`method_${method}` as keyof typeof pages])

/** Each factor of the account, and those that it could have. A code that is sent leads to its contact. */
function factorRows(
  visit: OwnVisit,
  { account, methods, appAddedAt, recoveryCodesLeft }: Security,
  offered: AccountOffered,
  passkeys: readonly string[],
): (Html | false)[] {
  const { pages } = visit.texts
  const on = account.twoFactorEnabled
  const isOn = badge(pages.on, 'good')
  const byApp = methods.includes('totp')
  const sent = (kind: 'email' | 'phone', label: string) =>
    pageRow(visit, `/account/${kind}`, {
      icon: kind === 'email' ? 'mail' : 'phone',
      label,
      detail: contactParts(account[kind] ?? ''),
      badge: isOn,
    })
  return [
    pageRow(visit, '/account/two-factor/app', {
      icon: 'phone',
      label: pages.method_totp,
      detail: byApp && appAddedAt ? html`${pages.added} ${ago(visit, appAddedAt)}` : pages.not_set_up,
      badge: byApp ? isOn : badge(pages.recommended),
    }),
    !on &&
      account.passwordDigest !== null &&
      pageRow(visit, '/account/two-factor/on', {
        icon: 'mail',
        label: pages.sent_codes,
        detail: pages.not_set_up,
      }),
    methods.includes('email') && sent('email', pages.method_email),
    methods.includes('sms') && sent('phone', pages.method_sms),
    on && offered.passkeys && passkeysRow(visit, passkeys, methods.includes('passkey') ? isOn : null),
    on &&
      pageRow(visit, '/account/two-factor/codes', {
        icon: 'key',
        label: pages.recovery_codes,
        detail: pages.recovery_codes_left.replace('{count}', String(recoveryCodesLeft)),
        badge: recoveryCodesLeft < FEW_CODES ? badge(pages.too_few, 'warn') : null,
      }),
  ]
}

/** `passkeys`: their names. */
export function twoFactorScreen(
  visit: OwnVisit,
  security: Security,
  offered: AccountOffered,
  passkeys: readonly string[],
): Screen {
  const { pages } = visit.texts
  const { account, removalAt } = security
  const on = account.twoFactorEnabled
  const hasPassword = account.passwordDigest !== null
  const [offLead, onLead] = hasPassword
    ? [pages.two_factor_lead, pages.two_factor_on_lead]
    : [pages.two_factor_lead_without_password, pages.two_factor_on_lead_without_password]
  return page(
    visit,
    pages.two_factor,
    html`${removalNotice(visit, security, offered)}${on && onwardsButton(visit, offered)}${rows(factorRows(visit, security, offered, passkeys))}
${on && removalAt === null && html`<div class="section">${linkButton(visit, pages.turn_off_two_factor, '/account/two-factor/off', 'quiet danger')}</div>`}`,
    undefined,
    on ? onLead : offLead,
  )
}

/** Shown once, since nothing keeps them: so one button leads on, and nothing else away. */
export function recoveryCodesScreen(
  visit: OwnVisit,
  codes: readonly string[],
  offered: AccountOffered,
): Screen {
  const { pages } = visit.texts
  const { email, phone } = visit.session.account
  /** Says on paper and in the file whose codes these are. */
  const whose = [offered.service, email ?? phone ?? '', day(visit, visit.now)].filter(Boolean)
  const text = [whose.join(' · '), '', ...codes, ''].join('\n')
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`
  // The session was read before the form did its work.
  const wasOn = visit.session.account.twoFactorEnabled
  return {
    title: pages.recovery_codes,
    wide: true,
    shownOnce: true,
    content: html`${heading(fillSentence(pages.keep_codes, { count: String(codes.length) }), pages.recovery_codes_lead)}
${!wasOn && notice(pages.two_factor_on, 'good')}
<figure><figcaption class="small soft">${whose.map((part, at) => html`${at > 0 && ' '}<span>${at > 0 && html`<i>· </i>`}${isolated(part)}</span>`)}</figcaption>
<ol class="codes" id="codes" dir="ltr">${codes.map((code) => html`<li>${code}</li>`)}</ol></figure>
<div class="trio"><button class="button quiet" type="button" data-copy="codes" data-done="${pages.copied}" hidden>${icon('copy')}<span>${pages.copy}</span></button>
<button class="button quiet" type="button" data-print hidden>${icon('print')}${pages.print}</button>
<a class="button quiet" href="${file}" download="recovery-codes.txt">${icon('download')}${pages.save_file}</a></div>
${onwardsButton(visit, offered) ?? linkButton(visit, pages.codes_kept, '/account/two-factor', 'main')}`,
  }
}

/** Somebody came back to the page, or sent it twice, after two factors were turned on. New codes would end those that were saved. */
export function alreadyOnScreen(visit: OwnVisit, title: string, sentence: string): Screen {
  const { pages } = visit.texts
  return page(
    visit,
    title,
    html`${notice(sentence, 'good')}${linkButton(visit, pages.done, '/account/two-factor', 'main')}
<p class="next"><a href="${onTheWay(visit, '/account/two-factor/codes')}">${pages.codes_not_saved}</a></p>`,
    problemOf({ ...visit, flow: {} }, []),
  )
}

/** For whoever types it. */
const inGroups = (key: string): string => key.replaceAll(/.{4}(?=.)/g, '$& ')

export function appScreen(visit: OwnVisit, { methods }: Security): Screen {
  const { pages } = visit.texts
  const { ticket } = visit
  const cameWithout = visit.flow.ticket === undefined && methods.includes('totp')
  if (ticket?.kind === 'done' || cameWithout) return alreadyOnScreen(visit, pages.method_totp, pages.app_on)
  if (ticket?.kind !== 'app') return startAgainScreen(visit, pages.method_totp, '/account/two-factor/app')
  return confirmCodeScreen(visit, {
    title: pages.method_totp,
    lead: pages.scan_lead,
    action: '/account/two-factor/app/confirm',
    wrongCode: pages.wrong_app_code,
    before: html`${ticket.uri && html`<a class="button quiet main on-phone" href="${ticket.uri}">${pages.open_in_app}</a>`}
<div class="qr" role="img" aria-label="${pages.qr}">${new Html(ticket.picture ?? '')}</div>
<p class="next small">${pages.app_secret}</p>
<div class="key"><span id="secret" dir="ltr"><code>${inGroups(ticket.secret ?? '')}</code></span><button class="button quiet little" type="button" data-copy="secret" data-done="${pages.copied}" hidden>${icon('copy')}<span>${pages.copy}</span></button></div>`,
  })
}
