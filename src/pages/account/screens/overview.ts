/** The overview of an account. */
import { lacksTerms } from '../../../domain/accounts/admission/service.ts'
import type { AccountRecord } from '../../../domain/accounts/core/account-schema.ts'
import type { Profile } from '../../../domain/accounts/core/profile.ts'
import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import { writeList } from '../../../texts/dates.ts'
import { nameOfLanguage } from '../../../texts/languages.ts'
import { nameOfProvider } from '../../../texts/names.ts'
import { badge, contactParts, group, notice, rows, withTerms } from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import {
  type AccountOffered,
  day,
  homePage,
  linkButton,
  onwardsButton,
  pageRow,
  passkeysRow,
} from '../elements.ts'
import type { OwnVisit } from '../service.ts'
import { FEW_CODES, namesOfFactors, removalNotice } from './two-factor.ts'

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
  const { account, recoveryCodesLeft } = security
  const newTerms = () => {
    const accept = html`<form method="post" action="${visit.to('/account/terms')}"><button class="button quiet little">${pages.accept}</button></form>`
    return notice(withTerms(visit.texts, offered.terms, pages.new_terms_lead), '', accept)
  }
  const passwordIsAll = !account.twoFactorEnabled && account.passwordDigest !== null
  const codesLeft = [pages.no_recovery_codes, pages.last_recovery_code][recoveryCodesLeft]
  const fewCodes = codesLeft ?? pages.few_recovery_codes.replace('{count}', String(recoveryCodesLeft))
  return html`${removalNotice(visit, security, offered)}
${account.twoFactorEnabled && recoveryCodesLeft < FEW_CODES && notice(fewCodes, 'warn', linkButton(visit, pages.new_codes, '/account/two-factor/codes', 'quiet little'))}
${lacksTerms(account, offered.termsVersion) && newTerms()}
${passwordIsAll && notice(pages.only_step_notice, 'warn', linkButton(visit, pages.turn_on_two_factor, '/account/two-factor', 'quiet little'))}`
}

export function overviewScreen(visit: OwnVisit, offered: AccountOffered, overview: Overview): Screen {
  const { pages } = visit.texts
  const { security, account, profile } = overview
  const own = security.account
  const contact = (kind: 'email' | 'phone') => {
    const value = account[kind]
    const isVerified = (kind === 'email' ? own.emailConfirmedAt : own.phoneConfirmedAt) !== null
    return (
      (value !== null || offered[kind]) &&
      pageRow(visit, `/account/${kind}`, {
        icon: kind === 'email' ? 'mail' : 'phone',
        label: pages[kind],
        detail: value ? contactParts(value) : pages.not_set,
        badge: value ? (isVerified ? badge(pages.verified, 'good') : badge(pages.unverified, 'warn')) : null,
      })
    )
  }
  const others = Math.max(0, security.counts.sessions - 1)
  const devices = [pages.this_device_only, pages.this_and_another][others] ?? pages.this_and_others
  return homePage(
    visit,
    profile?.name ?? null,
    html`${overviewNotices(visit, offered, overview)}
${own.twoFactorEnabled && onwardsButton(visit, offered)}${group(pages.profile)}${rows([
  pageRow(visit, '/account/profile', {
    icon: 'person',
    label: pages.name,
    detail: profile?.name ?? pages.not_set,
  }),
  contact('email'),
  contact('phone'),
  pageRow(visit, '/account/language', {
    icon: 'globe',
    label: pages.language,
    detail: nameOfLanguage(own.language),
  }),
])}
${group(pages.signing_in)}${rows(signingInRows(visit, offered, overview))}
${group(pages.where_signed_in)}${rows([
  pageRow(visit, '/account/sessions', {
    icon: 'laptop',
    label: pages.sessions,
    detail: devices.replace('{count}', String(others)),
  }),
  pageRow(visit, '/account/history', { icon: 'clock', label: pages.history, detail: pages.history_lead }),
])}
${group(pages.data)}${rows([
  pageRow(visit, '/account/export', { icon: 'download', label: pages.export, detail: pages.export_lead }),
  pageRow(visit, '/account/delete', { icon: 'bin', label: pages.delete_account, detail: pages.delete_lead }),
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
  return [
    pageRow(visit, '/account/password', {
      icon: 'lock',
      label: pages.password,
      detail:
        account.passwordDigest === null
          ? pages.not_set
          : changedAt
            ? pages.changed_on.replace('{date}', day(visit, changedAt))
            : pages.is_set,
    }),
    pageRow(visit, '/account/two-factor', {
      icon: 'shield',
      label: pages.two_factor,
      detail: account.twoFactorEnabled
        ? writeList(namesOfFactors(visit, methods), visit.client.language)
        : account.passwordDigest === null
          ? pages.one_step
          : pages.only_step,
      badge: account.twoFactorEnabled ? badge(pages.on, 'good') : badge(pages.off, 'warn'),
    }),
    offered.passkeys && passkeysRow(visit, passkeys),
    offered.providers.length > 0 &&
      pageRow(visit, '/account/providers', {
        icon: 'link',
        label: pages.providers,
        detail:
          identities.length > 0
            ? writeList(identities.map(nameOfProvider), visit.client.language)
            : pages.none,
      }),
  ]
}
