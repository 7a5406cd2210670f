/** A code that was sent, the proof of who sits there, and the forms that need nothing else. */
import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import { codeField, hiddenUsername, notice, passwordInput, rows, submit } from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import {
  type AccountOffered,
  linkButton,
  otherProofs,
  ownAccount,
  page,
  problemOf,
  proofFields,
  secondFactorField,
} from '../elements.ts'
import type { OwnVisit } from '../service.ts'

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
  // Above what stands before the form a sentence would be out of sight.
  const isFar = before !== undefined && problem.of('otp') === true
  return page(
    visit,
    title,
    html`${before}<form method="post" action="${visit.to(action)}">
${codeField({ label: pages.code, letters: false, wrong: isFar ? wrongCode : problem.of('otp'), autofocus: true })}
${submit(pages.confirm)}${after}</form>`,
    isFar ? { ...problem, above: null } : problem,
    lead,
  )
}

export interface Proof {
  title: string
  lead: Html | string
  action: string
  button: string
  danger?: boolean
  before?: Html | null
}

/** A form that needs nothing but the proof of who sits there. */
export function proofScreen(
  visit: OwnVisit,
  security: Security,
  { title, lead, action, button, danger = false, before = null }: Proof,
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

/** The page of a step whose ticket is over. */
export function startAgainScreen(visit: OwnVisit, title: string, path: string): Screen {
  const { pages } = visit.texts
  const why = visit.flow.problem === undefined && notice(pages.start_again)
  return page(visit, title, html`${why}${linkButton(visit, pages.start_over, path)}`)
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
