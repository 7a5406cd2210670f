/** The overview of an account, and its pages that hold one form or one list. */

import { lacksTerms } from '../../domain/accounts/admission/service.ts'
import type { AccountRecord } from '../../domain/accounts/core/account-schema.ts'
import { askedFields, type Profile } from '../../domain/accounts/core/profile.ts'
import type { EventRecord } from '../../domain/foundation/events/event-schema.ts'
import type { Security } from '../../domain/self-service/me/me-schema.ts'
import type { SessionRecord } from '../../domain/sessions/core/service.ts'
import type { IconName } from '../../platform/look/icons.ts'
import { profileFields } from '../../platform/postgres/schema.ts'
import { nameOfLanguage } from '../../texts/languages.ts'
import { nameOfProvider } from '../../texts/names.ts'
import {
  badge,
  codeField,
  field,
  group,
  hiddenUsername,
  icon,
  isolated,
  notice,
  passwordInput,
  row,
  rowLink,
  rows,
  submit,
  withoutPasskeys,
  withTerms,
  wrongText,
} from '../frame/elements.ts'
import { Html, html } from '../frame/html.ts'
import type { Screen } from '../visits/service.ts'
import type { Offered } from '../ways-in/screens.ts'
import {
  ago,
  day,
  deviceName,
  homePage,
  linkButton,
  otherCode,
  otherProofs,
  ownAccount,
  page,
  problemOf,
  proofFields,
  secondFactorField,
  sendProofCode,
  time,
} from './elements.ts'
import type { OwnVisit } from './service.ts'

/** The offers of the configuration. */
export interface AccountOffered
  extends Pick<
    Offered,
    'service' | 'phone' | 'email' | 'passkeys' | 'providers' | 'terms' | 'termsVersion' | 'minimumLength'
  > {
  languages: readonly string[]
  /** The applications that are not told when a session of them ends. */
  untold: readonly string[]
}

interface Overview {
  security: Security
  account: AccountRecord
  profile: Profile | null
  /** The names of passkeys, and of the providers that are linked. */
  passkeys: readonly string[]
  identities: readonly string[]
}

/** What asks for something, above everything else. */
function overviewNotices(visit: OwnVisit, offered: AccountOffered, { security }: Overview): Html {
  const { pages } = visit.texts
  const { account, recoveryCodesLeft, removalAt } = security
  const newTerms = () => {
    const accept = html`<form method="post" action="${visit.to('/account/terms')}"><button class="link">${pages.accept}</button></form>`
    return notice(withTerms(visit.texts, offered.terms, pages.new_terms_lead), '', accept)
  }
  const passwordIsAll = !account.twoFactorEnabled && account.passwordDigest !== null
  return html`${removalAt && notice(html`${pages.removal_waits} ${time(visit, removalAt)}.`, 'bad')}
${account.twoFactorEnabled && recoveryCodesLeft < FEW_CODES && notice(pages.few_recovery_codes, 'warn', linkButton(pages.new_codes, '/account/two-factor/codes', 'quiet little'))}
${lacksTerms(account, offered.termsVersion) && newTerms()}
${passwordIsAll && notice(pages.only_step_notice, 'warn', linkButton(pages.turn_on_two_factor, '/account/two-factor', 'quiet little'))}`
}

/** Below that, somebody has to make new ones soon. */
const FEW_CODES = 3

export function overviewScreen(visit: OwnVisit, offered: AccountOffered, overview: Overview): Screen {
  const { pages } = visit.texts
  const { security, account, profile } = overview
  const own = security.account
  const contact = (kind: 'email' | 'phone') => {
    const value = account[kind]
    const isVerified = (kind === 'email' ? own.emailConfirmedAt : own.phoneConfirmedAt) !== null
    return (
      (value !== null || offered[kind]) &&
      rowLink(`/account/${kind}`, {
        icon: kind === 'email' ? 'mail' : 'phone',
        label: pages[kind],
        detail: value ? isolated(value) : pages.not_set,
        badge: value ? (isVerified ? badge(pages.verified, 'good') : badge(pages.unverified, 'warn')) : null,
      })
    )
  }
  const others = security.counts.sessions - 1
  return homePage(
    visit,
    profile?.name ?? null,
    html`${overviewNotices(visit, offered, overview)}
${group(pages.profile)}${rows([
  rowLink('/account/profile', { icon: 'person', label: pages.name, detail: profile?.name ?? pages.not_set }),
  contact('email'),
  contact('phone'),
  rowLink('/account/language', {
    icon: 'globe',
    label: pages.language,
    detail: nameOfLanguage(own.language),
  }),
])}
${group(pages.signing_in)}${rows(signingInRows(visit, offered, overview))}
${group(pages.where_signed_in)}${rows([
  rowLink('/account/sessions', {
    icon: 'laptop',
    label: pages.sessions,
    detail: others < 1 ? pages.this_device_only : pages.this_and_others.replace('{count}', String(others)),
  }),
  rowLink('/account/history', { icon: 'clock', label: pages.history, detail: pages.history_lead }),
])}
${group(pages.data)}${rows([
  rowLink('/account/export', { icon: 'download', label: pages.export, detail: pages.export_lead }),
  rowLink('/account/delete', { icon: 'bin', label: pages.delete_account, detail: pages.delete_lead }),
])}`,
  )
}

function signingInRows(
  visit: OwnVisit,
  offered: AccountOffered,
  { security, passkeys, identities }: Overview,
): (Html | false)[] {
  const { pages } = visit.texts
  const { account, methods } = security
  const changedAt = account.passwordChangedAt
  const factors = methods
    .filter((method) => method !== 'recovery_code')
    .map((method) => pages[`method_${method}` as keyof typeof pages])
  return [
    rowLink('/account/password', {
      icon: 'lock',
      label: pages.password,
      detail:
        account.passwordDigest === null
          ? pages.not_set
          : changedAt && pages.changed_on.replace('{date}', day(visit, changedAt)),
    }),
    rowLink('/account/two-factor', {
      icon: 'shield',
      label: pages.two_factor,
      detail: account.twoFactorEnabled
        ? factors.join(', ')
        : account.passwordDigest === null
          ? null
          : pages.only_step,
      badge: account.twoFactorEnabled ? badge(pages.on, 'good') : badge(pages.off, 'warn'),
    }),
    offered.passkeys &&
      rowLink('/account/passkeys', {
        icon: 'passkey',
        label: pages.passkeys,
        detail: passkeys.length > 0 ? passkeys.join(', ') : pages.no_passkeys,
      }),
    offered.providers.length > 0 &&
      rowLink('/account/providers', {
        icon: 'link',
        label: pages.providers,
        detail: identities.length > 0 ? identities.map(nameOfProvider).join(', ') : pages.none,
      }),
  ]
}

export function profileScreen(visit: OwnVisit, profile: Profile | null): Screen {
  const { pages } = visit.texts
  const labels: Partial<Record<string, string>> = pages
  const problem = problemOf(visit, ['profile', ...askedFields.map((name) => `profile.${name}`)])
  const fields = askedFields.map((name) =>
    field({
      name,
      label: labels[name] ?? name,
      autocomplete: profileFields[name].autocomplete ?? '',
      required: false,
      maxlength: 200,
      value: visit.flow.typed?.[name] ?? profile?.[name] ?? '',
      wrong: problem.of(`profile.${name}`),
    }),
  )
  return page(
    visit,
    pages.profile,
    html`<form method="post" action="${visit.to('/account/profile')}">
${fields}
${submit(pages.save)}</form>`,
    problem,
  )
}

export function languageScreen(visit: OwnVisit, { languages }: AccountOffered): Screen {
  const { pages } = visit.texts
  const present = visit.session.account.language
  return page(
    visit,
    pages.language,
    html`<form method="post" action="${visit.to('/account/language')}"><div class="field"><div class="label"><label for="language">${pages.language}</label></div>
<select id="language" name="language" autocomplete="language">${languages.map(
      (tag) =>
        html`<option value="${tag}" lang="${tag}"${tag === present && html` selected`}>${nameOfLanguage(tag)}</option>`,
    )}</select></div>${submit(pages.save)}</form>`,
  )
}

export function passwordScreen(visit: OwnVisit, security: Security, { minimumLength }: AccountOffered) {
  const { pages } = visit.texts
  const problem = problemOf(visit, ['password', 'current_password', 'new_password', 'otp'])
  // The service names the new password `password`, and the present one `current_password`.
  const wrongNew = problem.of('password')
  const present = {
    ...problem,
    of: (...names: string[]) => (names.includes('otp') ? problem.of('otp') : problem.of('current_password')),
  }
  return page(
    visit,
    pages.password,
    html`<form method="post" action="${visit.to('/account/password')}">
${security.account.passwordDigest === null && hiddenUsername(security.account.email ?? security.account.phone ?? '')}${proofFields(visit, security, present)}
${passwordInput(visit.texts, {
  name: 'new_password',
  label: pages.new_password,
  autocomplete: 'new-password',
  wrong: wrongNew,
  hint: pages.password_hint.replace('{count}', String(minimumLength)),
})}${submit(pages.save_password)}${otherProofs(visit, security)}</form>`,
    problem,
  )
}

export function contactScreen(visit: OwnVisit, security: Security, kind: 'email' | 'phone'): Screen {
  const { pages } = visit.texts
  const present = security.account[kind]
  const problem = problemOf(visit, [kind, 'contact', 'password', 'otp'])
  const change = html`<form method="post" action="${visit.to(`/account/${kind}`)}">
${field({
  name: 'contact',
  label: kind === 'email' ? pages.new_email : pages.new_phone,
  type: kind === 'email' ? 'email' : 'tel',
  autocomplete: kind === 'email' ? 'email' : 'tel',
  value: visit.flow.typed?.contact ?? '',
  wrong: problem.of(kind, 'contact'),
})}${proofFields(visit, security, problem)}${submit(pages.send_code)}${otherProofs(visit, security, pages.send_proof_code)}
${present !== null && html`<p class="next"><button class="link" formaction="${visit.to(`/account/${kind}/remove`)}" formnovalidate>${kind === 'email' ? pages.remove_email : pages.remove_phone}</button></p>`}</form>`
  return page(visit, pages[kind], change, problem, present !== null ? isolated(present) : null)
}

interface CodeOptions {
  title: string
  lead: Html | string
  action: string
  before?: Html
  wrongCode?: string
  /** Sends the code again, or leads back to what was typed. */
  after?: Html
}

/** Six digits that were sent, or that an app shows. */
export function confirmCodeScreen(
  visit: OwnVisit,
  { title, lead, action, before, after, wrongCode = visit.texts.pages.wrong_code }: CodeOptions,
): Screen {
  const { pages } = visit.texts
  const problem = problemOf(visit, ['otp'], wrongCode)
  return page(
    visit,
    title,
    html`${before}<form method="post" action="${visit.to(action)}">
${codeField({ label: pages.code, letters: false, wrong: problem.of('otp'), autofocus: true })}
${submit(pages.confirm)}${after}</form>`,
    problem,
    lead,
  )
}

/** A form that needs nothing but the proof of who sits there. */
export function proofScreen(
  visit: OwnVisit,
  security: Security,
  {
    title,
    lead,
    action,
    button,
    danger = false,
    before = null,
  }: {
    title: string
    lead: Html | string
    action: string
    button: string
    danger?: boolean
    before?: Html | null
  },
): Screen {
  const problem = problemOf(visit, ['password', 'otp'])
  return page(
    visit,
    title,
    html`<form method="post" action="${visit.to(action)}">${before}
${proofFields(visit, security, problem)}${submit(button, danger ? 'danger' : '')}${otherProofs(visit, security)}</form>`,
    problem,
    lead,
  )
}

export function twoFactorScreen(visit: OwnVisit, { account, methods, recoveryCodesLeft }: Security): Screen {
  const { pages } = visit.texts
  const on = account.twoFactorEnabled
  const hasApp = methods.includes('totp')
  const left = pages.recovery_codes_left.replace('{count}', String(recoveryCodesLeft))
  return page(
    visit,
    pages.two_factor,
    html`${rows([
      rowLink('/account/two-factor/app', {
        icon: 'phone',
        label: pages.method_totp,
        detail: pages.app_lead,
        badge: hasApp ? badge(pages.on, 'good') : badge(pages.recommended),
      }),
      !on &&
        account.passwordDigest !== null &&
        rowLink('/account/two-factor/on', {
          icon: 'mail',
          label: pages.sent_codes,
          detail: pages.sent_codes_lead,
        }),
      on &&
        rowLink('/account/two-factor/codes', {
          icon: 'key',
          label: pages.recovery_codes,
          detail: pages.new_codes,
          badge: badge(left, recoveryCodesLeft < FEW_CODES ? 'warn' : ''),
        }),
    ])}
${on && html`<div class="section">${linkButton(pages.turn_off_two_factor, '/account/two-factor/off', 'quiet danger')}</div>`}`,
    undefined,
    on ? pages.two_factor_on_lead : pages.two_factor_lead,
  )
}

/** Shown once: nothing keeps them. */
export function recoveryCodesScreen(
  visit: OwnVisit,
  codes: readonly string[],
  { service }: AccountOffered,
): Screen {
  const { pages } = visit.texts
  const { email, phone } = visit.session.account
  /** Says on paper and in the file whose codes these are. */
  const whose = [service, email ?? phone ?? '', day(visit, visit.now)]
  const text = [whose.filter(Boolean).join(' · '), '', ...codes, ''].join('\n')
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`
  return page(
    visit,
    pages.recovery_codes,
    html`<figure><figcaption class="small soft">${whose.map((part, at) => html`${at > 0 && ' · '}${isolated(part)}`)}</figcaption>
<ol class="codes" id="codes" dir="ltr">${codes.map((code) => html`<li>${code}</li>`)}</ol></figure>
<div class="trio"><button class="button quiet" type="button" data-copy="codes" data-done="${pages.copied}" hidden>${icon('copy')}<span>${pages.copy}</span></button>
<button class="button quiet" type="button" data-print hidden>${icon('print')}${pages.print}</button>
<a class="button quiet" href="${file}" download="recovery-codes.txt">${icon('download')}${pages.save_file}</a></div>
${linkButton(pages.codes_kept, '/account/two-factor', 'main')}`,
    undefined,
    pages.recovery_codes_lead,
  )
}

/** The page of a step whose ticket is over. */
export function startAgainScreen(visit: OwnVisit, title: string, path: string): Screen {
  const { pages } = visit.texts
  const why = visit.flow.problem === undefined && notice(pages.start_again, 'bad')
  return page(visit, title, html`${why}${linkButton(pages.try_again, path)}`)
}

/** Somebody came back to the page, or sent it twice, after two factors were turned on. */
export function alreadyOnScreen(visit: OwnVisit, title: string): Screen {
  const { pages } = visit.texts
  const codes = linkButton(pages.new_codes, '/account/two-factor/codes')
  return page(
    visit,
    title,
    html`${notice(pages.already_on, 'good')}${codes}`,
    problemOf({ ...visit, flow: {} }, []),
  )
}

export function appScreen(visit: OwnVisit, { methods }: Security): Screen {
  const { pages } = visit.texts
  const { ticket } = visit
  const cameWithout = visit.flow.ticket === undefined && methods.includes('totp')
  if (ticket?.kind === 'done' || cameWithout) return alreadyOnScreen(visit, pages.method_totp)
  if (ticket?.kind !== 'app') return startAgainScreen(visit, pages.method_totp, '/account/two-factor/app')
  return confirmCodeScreen(visit, {
    title: pages.method_totp,
    lead: pages.scan_lead,
    action: '/account/two-factor/app/confirm',
    wrongCode: pages.wrong_app_code,
    before: html`<div class="qr" role="img" aria-label="${pages.qr}">${new Html(ticket.picture ?? '')}</div>
${ticket.uri && html`<a class="button quiet main on-phone" href="${ticket.uri}">${pages.open_in_app}</a>`}
<p class="next small">${pages.app_secret}</p>
<div class="key"><span id="secret" dir="ltr"><code>${ticket.secret}</code></span><button class="button quiet little" type="button" data-copy="secret" data-done="${pages.copied}" hidden>${icon('copy')}<span>${pages.copy}</span></button></div>`,
  })
}

export function passkeysScreen(
  visit: OwnVisit,
  passkeys: readonly { id: string; name: string; createdAt: Date; lastUsedAt: Date | null }[],
): Screen {
  const { pages } = visit.texts
  return page(
    visit,
    pages.passkeys,
    html`${
      passkeys.length === 0
        ? html`<div class="card empty">${pages.no_passkeys}</div>`
        : rows(
            passkeys.map(({ id, name, createdAt, lastUsedAt }) =>
              row(
                {
                  icon: 'passkey',
                  label: name,
                  detail: html`${pages.added} ${ago(visit, createdAt)}${lastUsedAt && html` · ${pages.last_used} ${ago(visit, lastUsedAt)}`}`,
                },
                html`<form method="post" action="${visit.to('/account/passkeys/choose')}"><input type="hidden" name="name" value="${name}"><button class="button quiet little" name="passkey" value="${id}">${pages.change}</button></form>`,
              ),
            ),
          )
    }
<div class="section" data-with-passkeys hidden>${linkButton(pages.add_passkey, '/account/passkeys/add', '')}</div>${withoutPasskeys(visit)}`,
    undefined,
    pages.passkeys_lead,
  )
}

export function addPasskeyScreen(visit: OwnVisit, security: Security): Screen {
  const { pages } = visit.texts
  const problem = problemOf(visit, ['password', 'otp'])
  return page(
    visit,
    pages.add_passkey,
    html`${withoutPasskeys(visit)}<p class="lead" data-with-passkeys hidden>${pages.add_passkey_lead}</p>
<form method="post" action="${visit.to('/account/passkeys/add')}" data-passkey="create" data-options="${visit.to('/account/passkeys/options')}" data-failed="passkey-failed" hidden>
${proofFields(visit, security, problem)}
<input type="hidden" name="credential">${submit(pages.add_passkey)}
${wrongText('passkey-failed', pages.passkey_failed, false)}
${sendProofCode(visit, security)}${otherCode(visit, security)}</form>`,
    problem,
  )
}

export function editPasskeyScreen(visit: OwnVisit, security: Security): Screen {
  const { pages } = visit.texts
  const { passkey = '', name = '' } = visit.flow.typed ?? {}
  const id = html`<input type="hidden" name="passkey" value="${passkey}">`
  const problem = problemOf(visit, ['name', 'password', 'otp'])
  return page(
    visit,
    name || pages.passkeys,
    html`<form method="post" action="${visit.to('/account/passkeys/rename')}">${id}
${field({ name: 'name', label: pages.name, autocomplete: 'off', value: name, maxlength: 60, wrong: problem.of('name') })}${submit(pages.save)}</form>
<div class="section"><h2>${pages.remove_passkey}</h2><form method="post" action="${visit.to('/account/passkeys/remove')}">${id}
${proofFields(visit, security, problem)}${submit(pages.remove_passkey, 'danger')}${otherProofs(visit, security)}</form></div>`,
    problem,
  )
}

/** Draws the actions on a session: the present one ends by signing out. */
function sessionForm({ texts: { pages }, to }: OwnVisit, session: SessionRecord): Html | null {
  const { id, current, trusted_device: isTrusted } = session
  const button = (path: string, label: string) =>
    html`<button class="button quiet little" formaction="${to(path)}" name="session" value="${id}">${label}</button>`
  if (current && !isTrusted) return null
  return html`<form method="post" action="${to('/account/sessions/end')}">${isTrusted && button('/account/sessions/forget', pages.forget_device)}${!current && button('/account/sessions/end', pages.end)}</form>`
}

const deviceIcon = (name: string | null): IconName =>
  /Android|iPhone|iPad|iOS/.test(name ?? '') ? 'phone' : 'laptop'

/** Trusted devices stand by themselves, since one may have no session any more. */
function trustedList(visit: OwnVisit, { trustedDevices }: Security): Html | null {
  const { pages } = visit.texts
  if (trustedDevices.length === 0) return null
  return html`${group(pages.trusted_devices)}<p class="soft small">${pages.trusted_devices_lead}</p>${rows(
    trustedDevices.map(({ id, name, createdAt, lastUsedAt }) =>
      row(
        {
          icon: deviceIcon(name),
          label: deviceName(visit, name) ?? pages.unknown_device,
          detail: html`${pages.trusted_since} ${time(visit, createdAt)}${lastUsedAt && html` · ${pages.trusted_used} ${ago(visit, lastUsedAt)}`}`,
        },
        html`<form method="post" action="${visit.to('/account/sessions/forget')}"><button class="button quiet little" name="device" value="${id}">${pages.forget_device}</button></form>`,
      ),
    ),
  )}`
}

export function sessionsScreen(
  visit: OwnVisit,
  list: readonly SessionRecord[],
  security: Security,
  { untold }: Pick<AccountOffered, 'untold'>,
): Screen {
  const { pages } = visit.texts
  const nameOfDevice = ({ device_name, device_os }: SessionRecord) =>
    deviceName(visit, device_name) ?? device_os ?? pages.unknown_device
  return page(
    visit,
    pages.sessions,
    html`${rows(
      list.map((session) =>
        row(
          {
            icon: deviceIcon(`${session.device_name} ${session.device_os}`),
            label: nameOfDevice(session),
            detail: html`${isolated(session.ip ?? '')} · ${ago(visit, session.last_used_at)}${session.trusted_device && html` · ${pages.trusted_device}`}${untold.includes(session.application ?? '') && html`<br>${pages.may_keep_signed_in}`}`,
            badge: session.current ? badge(pages.this_one, 'good') : null,
          },
          sessionForm(visit, session),
        ),
      ),
    )}${trustedList(visit, security)}
${list.length > 1 && html`<form method="post" action="${visit.to('/account/sessions/end-all')}">${submit(pages.end_all, 'quiet danger')}</form>`}`,
    undefined,
    pages.sessions_lead,
  )
}

/** Somebody tried, and did not come in. */
const alarming = new Set(['login.failed', 'login.locked_out', 'two_factor.failed', 'account.locked'])

/** The events that owners know a sentence for; the others are for programs. */
export function historyScreen(visit: OwnVisit, events: readonly EventRecord[], next: string | null): Screen {
  const { pages } = visit.texts
  const sentence = (type: string) =>
    pages[`event_${type.replaceAll('.', '_')}` as keyof typeof pages] as string | undefined
  const days = new Map<string, Html[]>()
  for (const event of events) {
    const what = sentence(event.type)
    if (what === undefined) continue
    const date = day(visit, new Date(event.created_at))
    const where = [deviceName(visit, event.device), event.address].flatMap((part) =>
      part === null ? [] : [isolated(part), ' · '],
    )
    const isBad = alarming.has(event.type)
    const shown = row({
      icon: icon(isBad ? 'alert' : 'check', isBad ? 'bad' : ''),
      label: what,
      detail: html`${where}${ago(visit, event.created_at)}`,
    })
    days.set(date, [...(days.get(date) ?? []), shown])
  }
  const list = [...days].map(([date, shown]) => html`${group(date)}${rows(shown)}`)
  return page(
    visit,
    pages.history,
    html`${list.length > 0 ? list : html`<div class="card empty">${pages.nothing_yet}</div>`}
${list.length > 0 && html`<p class="next"><a href="/account/sessions">${pages.was_not_you}</a></p>`}
${next !== null && linkButton(pages.older, `/account/history?cursor=${encodeURIComponent(next)}`)}`,
    undefined,
    pages.history_lead,
  )
}

/** A session that a trusted device opened has yet to prove the second factor. */
export function exportScreen(visit: OwnVisit, security: Security): Screen {
  const { pages } = visit.texts
  const needsSecond = security.account.twoFactorEnabled && !visit.session.claims.amr.includes('mfa')
  const problem = problemOf(visit, ['otp'])
  return page(
    visit,
    pages.export,
    html`<form method="post" action="${visit.to('/account/export')}" data-file>
${needsSecond && secondFactorField(visit, security, problem)}${submit(pages.download)}${needsSecond && otherProofs(visit, security)}</form>`,
    problem,
    pages.export_lead,
  )
}

export const deleteScreen = (visit: OwnVisit, security: Security): Screen => {
  const { pages } = visit.texts
  return proofScreen(visit, security, {
    title: pages.delete_account,
    lead: pages.delete_lead,
    action: '/account/delete',
    button: pages.delete_account,
    danger: true,
    before: rows([ownAccount(visit)]),
  })
}
