/** What an account says of a person: profile, language, contacts. */
import { verifiedContacts } from '../../../domain/accounts/core/account.ts'
import { askedFields, type Profile } from '../../../domain/accounts/core/profile.ts'
import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import { profileFields } from '../../../platform/postgres/schema.ts'
import { nameOfLanguage } from '../../../texts/languages.ts'
import { field, isolated, otherWay, submit, withContact } from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import { type AccountOffered, otherProofs, page, problemOf, proofFields } from '../elements.ts'
import type { OwnVisit } from '../service.ts'

export function profileScreen(visit: OwnVisit, profile: Profile | null): Screen {
  const { pages } = visit.texts
  const problem = problemOf(visit, ['profile', ...askedFields.map((name) => `profile.${name}`)])
  const fields = askedFields.map((name) =>
    field({
      name,
      label: pages[name],
      autocomplete: profileFields[name].autocomplete,
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

/** It stands in the form of the change, whose proof it takes. */
function removal({ texts: { pages }, to }: OwnVisit, { account }: Security, kind: 'email' | 'phone'): Html {
  const other = verifiedContacts(account)
    .map(({ destination }) => destination)
    .find((contact) => contact !== account[kind])
  const title = kind === 'email' ? pages.remove_email : pages.remove_phone
  return html`<div class="section"><h2>${title}</h2>
${other !== undefined && html`<p class="hint">${withContact(pages.remove_contact_lead, other)}</p>`}
<div class="field">${otherWay(title, to(`/account/${kind}/remove`), 'button quiet danger')}</div></div>`
}

export function contactScreen(
  visit: OwnVisit,
  security: Security,
  { kind, mayRemove }: { kind: 'email' | 'phone'; mayRemove: boolean },
): Screen {
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
  hint: kind === 'phone' ? pages.phone_hint : undefined,
})}${proofFields(visit, security, problem)}${submit(pages.send_code)}${otherProofs(visit, security)}
${mayRemove && removal(visit, security, kind)}</form>`
  return page(visit, pages[kind], change, problem, present !== null ? isolated(present) : null)
}
