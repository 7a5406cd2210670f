/** The buttons of e-mails: the first one of a notice does what it advises, the second leads to what it is about. */
import type { MessageFacts, MessageTexts } from '../../../texts/messages.ts'
import type { Texts } from '../../../texts/texts.ts'
import type { MessagePurpose, NoticePurpose, OperatorPurpose } from '../outbox/message.ts'
import type { EmailButton } from './email-layout.ts'

/** What they do, where they carry a link. */
const actions: Partial<Record<NoticePurpose, keyof MessageTexts['actions']>> = {
  email_changed: 'undo',
  phone_changed: 'undo',
  email_removed: 'undo',
  phone_removed: 'undo',
  two_factor_removal: 'keep',
  invited: 'accept',
}

type Labels = Pick<MessageTexts, 'review' | 'reset' | 'actions'> & Pick<Texts, 'pages'>

/** A page has its own name, but where the notice advises what is done there. */
const places = {
  sign_in: ['/sign-in', ({ pages }) => pages.sign_in],
  recover: ['/recover', ({ reset }) => reset],
  password: ['/account/password', ({ reset }) => reset],
  recovery: ['/choose-password', ({ reset }) => reset],
  invitation: ['/choose-password', ({ actions }) => actions.accept],
  email: ['/account/email', ({ pages }) => pages.email],
  passkeys: ['/account/passkeys', ({ pages }) => pages.passkeys],
  two_factor: ['/account/two-factor', ({ pages }) => pages.two_factor],
  providers: ['/account/providers', ({ pages }) => pages.providers],
  sessions: ['/account/sessions', ({ review }) => review],
} satisfies Record<string, [path: string, label: (labels: Labels) => string]>

/** Where they lead without a link. `recover`: nobody signs in with the password of before, or only with the app of somebody else. */
const pagesAfter: Record<Exclude<NoticePurpose, OperatorPurpose>, readonly (keyof typeof places)[]> = {
  account_exists: ['sign_in', 'recover'],
  password_changed: ['recover'],
  email_changed: ['password'],
  phone_changed: ['password'],
  email_removed: ['password'],
  phone_removed: ['password'],
  contact_claimed: ['email'],
  contact_restored: ['recover'],
  account_erased: [],
  account_exported: ['password'],
  account_unlocked: ['sign_in'],
  two_factor_enabled: ['recover', 'two_factor'],
  two_factor_disabled: ['password', 'two_factor'],
  two_factor_kept: ['password', 'two_factor'],
  two_factor_removal: ['two_factor'],
  authenticator_changed: ['recover', 'two_factor'],
  authenticator_lost: ['two_factor'],
  recovery_code_used: ['password', 'two_factor'],
  recovery_codes_replaced: ['password', 'two_factor'],
  second_factor_failed: ['password'],
  passkey_added: ['passkeys', 'password'],
  passkey_removed: ['password', 'passkeys'],
  passkey_copied: ['passkeys'],
  identity_linked: ['providers', 'password'],
  identity_unlinked: ['password', 'providers'],
  new_device: ['password', 'sessions'],
  refresh_token_reused: ['password', 'sessions'],
  // The administrators are told, by whom the notice names.
  recovery_created: [],
  invited: [],
}

/** The screens of administration that messages to the operator are about; null: no screen shows it. */
const screens: Record<OperatorPurpose, string | null> = {
  operator_prefix_closed: 'prefixes',
  operator_wrong_codes: 'events',
  operator_pool_dry: 'messages',
  operator_gateway_suspended: 'messages?gateway={about}',
  operator_removal_stopped: 'events?type=undo.used',
  operator_access_granted: 'events',
  operator_accounts_exported: 'events?type=accounts.exported',
  operator_webhook_away: '',
  operator_webhook_given_up: '',
  operator_claim_missing: null,
}

export const isForOperator = (purpose: MessagePurpose): purpose is OperatorPurpose => purpose in screens

/** The origins of the pages and of administration; null: there are none, or no mail can lead there. */
export interface Origins {
  pages: string | null
  administration: string | null
}

export function noticeButtons(
  purpose: NoticePurpose,
  { link, about = '' }: Partial<MessageFacts>,
  labels: Labels,
  at: Origins,
): EmailButton[] {
  const action = actions[purpose]
  if (action && link) return [{ label: labels.actions[action], href: link }]
  if (isForOperator(purpose)) {
    const screen = screens[purpose]
    if (at.administration === null || screen === null) return []
    const address = screen.replace('{about}', encodeURIComponent(about))
    return [{ label: labels.actions.administer, href: `${at.administration}/admin/#/${address}` }]
  }
  return pageButtons(pagesAfter[purpose], labels, at)
}

/** The codes of an administrator come to people who asked for none on any page. Others are entered where they were asked for. */
export const codeButtons = (purpose: string, labels: Labels, at: Origins): EmailButton[] =>
  purpose === 'recovery' || purpose === 'invitation' ? pageButtons([purpose], labels, at) : []

const pageButtons = (names: readonly (keyof typeof places)[], labels: Labels, { pages }: Origins) =>
  names.flatMap((name) => {
    const [path, label] = places[name]
    return pages === null ? [] : [{ label: label(labels), href: `${pages}${path}` }]
  })
