/** The overview of an account, and its pages that hold one form or one list. */

import { lacksTerms } from '../../domain/accounts/admission/service.ts'
import type { AccountRecord } from '../../domain/accounts/core/account-schema.ts'
import { askedFields, type Profile } from '../../domain/accounts/core/profile.ts'
import type { EventRecord } from '../../domain/foundation/events/event-schema.ts'
import type { Security } from '../../domain/self-service/me/me-schema.ts'
import type { SessionRecord } from '../../domain/sessions/core/service.ts'
import { profileFields } from '../../platform/postgres/schema.ts'
import {
  codeField,
  field,
  hiddenUsername,
  isolated,
  notice,
  passwordInput,
  submit,
  withoutPasskeys,
  withTerms,
} from '../frame/elements.ts'
import { Html, html } from '../frame/html.ts'
import type { Screen } from '../visits/service.ts'
import type { Offered } from '../ways-in/screens.ts'
import {
  ago,
  linkButton,
  otherCode,
  otherProofs,
  ownAccount,
  page,
  problemOf,
  proofFields,
  row,
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

const nameOfLanguage = (tag: string) => new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag

export function overviewScreen(
  visit: OwnVisit,
  offered: AccountOffered,
  { security, account, profile }: { security: Security; account: AccountRecord; profile: Profile | null },
): Screen {
  const { pages } = visit.texts
  const { counts, methods, recoveryCodesLeft, removalAt } = security
  const change = (path: string, has = true) => linkButton(has ? pages.change : pages.add, path)
  const contact = (kind: 'email' | 'phone') =>
    (account[kind] !== null || offered[kind]) &&
    row(
      pages[kind],
      account[kind] ? isolated(account[kind]) : pages.none,
      change(`/account/${kind}`, account[kind] !== null),
    )
  const newTerms = () => {
    const accept = html`<form method="post" action="${visit.to('/account/terms')}"><button class="link">${pages.accept}</button></form>`
    return notice(withTerms(visit.texts, offered.terms, pages.new_terms_lead), '', accept)
  }
  const factors = methods.map((method) => pages[`method_${method}` as keyof typeof pages]).join(', ')
  return page(
    visit,
    pages.account,
    html`${removalAt && notice(html`${pages.removal_waits} ${time(visit, removalAt)}.`, 'bad')}
${visit.session.account.twoFactorEnabled && recoveryCodesLeft < 3 && notice(pages.few_recovery_codes, 'bad')}
${lacksTerms(visit.session.account, offered.termsVersion) && newTerms()}
<div class="section"><h2>${pages.profile}</h2>
${row(pages.name, profile?.name ?? pages.none, change('/account/profile', profile?.name !== undefined))}
${contact('email')}${contact('phone')}
${row(pages.language, nameOfLanguage(security.account.language), change('/account/language'))}</div>
<div class="section"><h2>${pages.security}</h2>
${row(pages.password, security.account.passwordDigest === null ? pages.none : '••••••••', change('/account/password', security.account.passwordDigest !== null))}
${row(pages.two_factor, security.account.twoFactorEnabled ? factors : pages.off, linkButton(pages.manage, '/account/two-factor'))}
${offered.passkeys && row(pages.passkeys, String(counts.passkeys), linkButton(pages.manage, '/account/passkeys'))}
${offered.providers.length > 0 && row(pages.providers, String(counts.identities), linkButton(pages.manage, '/account/providers'))}
${row(pages.sessions, String(counts.sessions), linkButton(pages.manage, '/account/sessions'))}
${row(pages.history, pages.history_lead, linkButton(pages.show, '/account/history'))}</div>
<div class="section"><h2>${pages.data}</h2>
${row(pages.export, pages.export_lead, linkButton(pages.download, '/account/export'))}
${row(pages.delete_account, pages.delete_lead, linkButton(pages.delete, '/account/delete'))}</div>`,
  )
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
    html`<form method="post" action="${visit.to('/account/language')}"><div class="field"><label for="language">${pages.language}</label>
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
  return page(
    visit,
    pages[kind],
    html`${present !== null && html`<p class="lead">${isolated(present)}</p>`}${change}`,
    problem,
  )
}

/** Six digits that were sent, or that an app shows. */
export function confirmCodeScreen(
  visit: OwnVisit,
  { title, lead, action, before }: { title: string; lead: Html | string; action: string; before?: Html },
): Screen {
  const { pages } = visit.texts
  const problem = problemOf(visit, ['otp'])
  return page(
    visit,
    title,
    html`<p class="lead">${lead}</p>${before}<form method="post" action="${visit.to(action)}">
${codeField({ label: pages.code, letters: false, wrong: problem.of('otp'), autofocus: true })}
${submit(pages.confirm)}</form>`,
    problem,
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
  }: { title: string; lead: string; action: string; button: string; danger?: boolean; before?: Html | null },
): Screen {
  const problem = problemOf(visit, ['password', 'otp'])
  return page(
    visit,
    title,
    html`<p class="lead">${lead}</p><form method="post" action="${visit.to(action)}">${before}
${proofFields(visit, security, problem)}${submit(button, danger ? 'danger' : '')}${otherProofs(visit, security)}</form>`,
    problem,
  )
}

export function twoFactorScreen(visit: OwnVisit, { account, methods, recoveryCodesLeft }: Security): Screen {
  const { pages } = visit.texts
  const on = account.twoFactorEnabled
  const left = pages.recovery_codes_left.replace('{count}', String(recoveryCodesLeft))
  return page(
    visit,
    pages.two_factor,
    html`<p class="lead">${on ? pages.two_factor_on_lead : pages.two_factor_lead}</p>
<div class="section">${row(pages.method_totp, methods.includes('totp') ? pages.on : pages.app_lead, linkButton(methods.includes('totp') ? pages.change : pages.add, '/account/two-factor/app'))}
${!on && account.passwordDigest !== null && row(pages.sent_codes, pages.sent_codes_lead, linkButton(pages.turn_on, '/account/two-factor/on'))}
${on && row(pages.recovery_codes, left, linkButton(pages.new_codes, '/account/two-factor/codes'))}</div>
${on && html`<div class="section">${row(pages.turn_off_two_factor, null, linkButton(pages.turn_off, '/account/two-factor/off'))}</div>`}`,
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
  const day = new Intl.DateTimeFormat(visit.client.language, { dateStyle: 'long', timeZone: 'UTC' })
  /** Says on paper and in the file whose codes these are. */
  const whose = [service, email ?? phone ?? '', day.format(visit.now)]
  const text = [whose.filter(Boolean).join(' · '), '', ...codes, ''].join('\n')
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`
  return page(
    visit,
    pages.recovery_codes,
    html`<p class="lead">${pages.recovery_codes_lead}</p>
<figure><figcaption class="small soft">${whose.map((part, at) => html`${at > 0 && ' · '}${isolated(part)}`)}</figcaption>
<ol class="codes" id="codes" dir="ltr">${codes.map((code) => html`<li>${code}</li>`)}</ol></figure>
<button class="button quiet" type="button" data-copy="codes" data-done="${pages.copied}" hidden>${pages.copy}</button>
<button class="button quiet" type="button" data-print hidden>${pages.print}</button>
<a class="button quiet" href="${file}" download="recovery-codes.txt">${pages.save_file}</a>
<a class="button" href="/account/two-factor">${pages.codes_kept}</a>`,
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
    before: html`<div class="qr" role="img" aria-label="${pages.qr}">${new Html(ticket.picture ?? '')}</div>
<p class="small">${pages.app_secret} <code>${ticket.secret}</code></p>`,
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
    html`<p class="lead">${pages.passkeys_lead}</p>
<div class="section">${
      passkeys.length === 0
        ? html`<p class="soft">${pages.no_passkeys}</p>`
        : passkeys.map(({ id, name, createdAt, lastUsedAt }) =>
            row(
              name,
              html`${pages.added} ${ago(visit, createdAt)}${lastUsedAt && html` · ${pages.last_used} ${ago(visit, lastUsedAt)}`}`,
              html`<form method="post" action="${visit.to('/account/passkeys/choose')}"><input type="hidden" name="name" value="${name}"><button class="button quiet" name="passkey" value="${id}">${pages.change}</button></form>`,
            ),
          )
    }</div>
<div data-with-passkeys hidden>${linkButton(pages.add_passkey, '/account/passkeys/add')}</div>${withoutPasskeys(visit)}`,
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
<p class="wrong" id="passkey-failed" role="alert" hidden>${pages.passkey_failed}</p>
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
    html`<button class="button quiet" formaction="${to(path)}" name="session" value="${id}">${label}</button>`
  if (current && !isTrusted) return null
  return html`<form method="post" action="${to('/account/sessions/end')}">${isTrusted && button('/account/sessions/forget', pages.forget_device)}${!current && button('/account/sessions/end', pages.end)}</form>`
}

/** Trusted devices stand by themselves, since one may have no session any more. */
function trustedList(visit: OwnVisit, { trustedDevices }: Security): Html | null {
  const { pages } = visit.texts
  if (trustedDevices.length === 0) return null
  return html`<div class="section"><h2>${pages.trusted_devices}</h2><p class="soft">${pages.trusted_devices_lead}</p>${trustedDevices.map(
    ({ id, name, createdAt, lastUsedAt }) =>
      row(
        name ?? pages.unknown_device,
        html`${pages.trusted_since} ${time(visit, createdAt)}${lastUsedAt && html` · ${pages.trusted_used} ${ago(visit, lastUsedAt)}`}`,
        html`<form method="post" action="${visit.to('/account/sessions/forget')}"><button class="button quiet" name="device" value="${id}">${pages.forget_device}</button></form>`,
      ),
  )}</div>`
}

export function sessionsScreen(
  visit: OwnVisit,
  list: readonly SessionRecord[],
  security: Security,
  { untold }: Pick<AccountOffered, 'untold'>,
): Screen {
  const { pages } = visit.texts
  return page(
    visit,
    pages.sessions,
    html`<p class="lead">${pages.sessions_lead}</p><div class="section">${list.map((session) =>
      row(
        html`${session.device_name ?? session.device_os ?? pages.unknown_device} ${session.current && html`<span class="badge">${pages.this_one}</span>`}`,
        html`${isolated(session.ip ?? '')} · ${ago(visit, session.last_used_at)}${session.trusted_device && html` · ${pages.trusted_device}`}${untold.includes(session.application ?? '') && html`<br>${pages.may_keep_signed_in}`}`,
        sessionForm(visit, session),
      ),
    )}</div>${trustedList(visit, security)}
<form method="post" action="${visit.to('/account/sessions/end-all')}">${submit(pages.end_all, 'danger')}</form>`,
  )
}

/** The events that owners know a sentence for; the others are for programs. */
export function historyScreen(visit: OwnVisit, events: readonly EventRecord[], next: string | null): Screen {
  const { pages } = visit.texts
  const sentence = (type: string) =>
    pages[`event_${type.replaceAll('.', '_')}` as keyof typeof pages] as string | undefined
  const rows = events.flatMap((event) => {
    const what = sentence(event.type)
    if (what === undefined) return []
    const where = [event.device, event.address].flatMap((part) =>
      part === null ? [] : [isolated(part), ' · '],
    )
    return [row(what, html`${where}${ago(visit, event.created_at)}`)]
  })
  return page(
    visit,
    pages.history,
    html`<p class="lead">${pages.history_lead}</p><div class="section">${rows.length > 0 ? rows : html`<p class="soft">${pages.none}</p>`}</div>
${next !== null && linkButton(pages.older, `/account/history?cursor=${encodeURIComponent(next)}`)}`,
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
    html`<p class="lead">${pages.export_lead}</p><form method="post" action="${visit.to('/account/export')}" data-file>
${needsSecond && secondFactorField(visit, security, problem)}${submit(pages.download)}${needsSecond && otherProofs(visit, security)}</form>`,
    problem,
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
    before: html`<div class="section">${ownAccount(visit)}</div>`,
  })
}
