/** The passkeys of an account. */
import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import { field, rowForm, rows, submit, withoutPasskeys, wrongText } from '../../frame/elements.ts'
import { html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import {
  type AccountOffered,
  ago,
  linkButton,
  onwardsButton,
  otherCode,
  otherProofs,
  page,
  problemOf,
  proofFields,
} from '../elements.ts'
import type { OwnVisit } from '../service.ts'

export function passkeysScreen(
  visit: OwnVisit,
  offered: Pick<AccountOffered, 'applications'>,
  passkeys: readonly { id: string; name: string; createdAt: Date; lastUsedAt: Date | null }[],
): Screen {
  const { pages } = visit.texts
  return page(
    visit,
    pages.passkeys,
    html`${onwardsButton(visit, offered)}${
      passkeys.length === 0
        ? html`<div class="card empty">${pages.no_passkeys}</div>`
        : rows(
            passkeys.map(({ id, name, createdAt, lastUsedAt }) =>
              rowForm(
                {
                  icon: 'passkey',
                  label: name,
                  detail: html`${pages.added} ${ago(visit, createdAt)}${lastUsedAt && html` · ${pages.last_used} ${ago(visit, lastUsedAt)}`}`,
                },
                {
                  action: visit.to('/account/passkeys/choose'),
                  sends: ['passkey', id],
                  does: pages.change,
                  fields: html`<input type="hidden" name="name" value="${name}">`,
                },
              ),
            ),
          )
    }
<div class="section" data-with-passkeys hidden>${linkButton(visit, pages.add_passkey, '/account/passkeys/add', '')}</div>${withoutPasskeys(visit)}`,
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
${otherCode(visit, security)}</form>`,
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
${proofFields(visit, security, problem)}${submit(pages.remove_passkey, 'quiet danger')}${otherProofs(visit, security)}</form></div>`,
    problem,
  )
}
