/** The pages of the accounts elsewhere that are linked with this one. A page that links or unlinks names both. */

import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import type { LinkedIdentity } from '../../../domain/sign-in/identities/store.ts'
import { nameOfProvider } from '../../../texts/names.ts'
import { fillSentence } from '../../../texts/sentences.ts'
import {
  badge,
  contactParts,
  isolated,
  markOf,
  notice,
  row,
  rowForm,
  rows,
  withContact,
} from '../../frame/elements.ts'
import { html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import { type AccountOffered, linkButton, ownAccount, page } from '../elements.ts'
import { identityIn, type OwnVisit } from '../service.ts'
import { proofScreen, startAgainScreen } from './proof.ts'

type Linked = Pick<LinkedIdentity, 'provider' | 'email'>

export function providersScreen(visit: OwnVisit, offered: AccountOffered, linked: readonly Linked[]): Screen {
  const { pages } = visit.texts
  return page(
    visit,
    pages.providers,
    rows(
      offered.providers.map((name) => {
        const identity = linked.find(({ provider }) => provider === name)
        const [action, does] = identity
          ? ['/account/providers/choose', pages.unlink]
          : ['/account/providers/link', pages.link]
        return rowForm(
          {
            icon: markOf(name),
            label: nameOfProvider(name),
            detail: identity ? identity.email && contactParts(identity.email) : pages.not_linked,
            badge: identity ? badge(pages.linked, 'good') : null,
          },
          { action: visit.to(action), sends: ['provider', name], does },
        )
      }),
    ),
    undefined,
    pages.providers_lead,
  )
}

/** Names the identity that is to open the account from now on. */
export function linkScreen(visit: OwnVisit, security: Security): Screen {
  const { pages } = visit.texts
  const identity = identityIn(visit.ticket)
  if (visit.ticket?.kind === 'done') {
    const { provider } = visit.ticket
    const linked = provider && fillSentence(pages.provider_linked, { provider: nameOfProvider(provider) })
    const list = linkButton(visit, pages.done, '/account/providers', 'main')
    return page(visit, pages.providers, html`${linked && notice(linked, 'good')}${list}`)
  }
  if (identity === null) return startAgainScreen(visit, pages.providers, '/account/providers')
  const { provider, email } = identity
  const name = nameOfProvider(provider)
  return proofScreen(visit, security, {
    title: fillSentence(pages.link_title, { provider: name }),
    lead: fillSentence(pages.link_lead, { provider: name }),
    action: '/account/providers/confirm',
    button: pages.link,
    before: rows([
      row({ icon: markOf(provider), label: name, detail: email && isolated(email.address.destination) }),
      ownAccount(visit),
    ]),
  })
}

export function unlinkScreen(visit: OwnVisit, security: Security, linked: readonly Linked[]): Screen {
  const { pages } = visit.texts
  const provider = visit.flow.typed?.provider ?? ''
  const email = linked.find((identity) => identity.provider === provider)?.email ?? null
  const name = nameOfProvider(provider)
  return proofScreen(visit, security, {
    title: fillSentence(pages.unlink_title, { provider: name }),
    lead: withContact(fillSentence(pages.unlink_lead, { provider: name }), email ?? pages.your_account_there),
    action: '/account/providers/remove',
    button: pages.unlink,
    danger: true,
    before: html`<input type="hidden" name="provider" value="${provider}">
${rows([row({ icon: markOf(provider), label: name, detail: email && isolated(email) }), ownAccount(visit)])}`,
  })
}
