/** The page that signs in, and those at the end of a way. */

import { fillSentence } from '../../../texts/sentences.ts'
import {
  check,
  heading,
  icon,
  notice,
  otherWay,
  passwordInput,
  pressedByEnter,
  submit,
  wayOf,
} from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Screen, View } from '../../visits/visit.ts'
import { noticeOf, showProblem } from '../problems.ts'
import { canRegister, type Drawing, identifierInput, passkeyForm, providerLabel } from './parts.ts'

/** The other ways in: providers, a passkey, a code. What was typed goes along to the code. */
function otherWays(visit: View, drawing: Drawing): Html | null {
  const { pages } = visit.texts
  const { offered, to } = drawing
  const providers = offered.providers.map(
    (name) =>
      html`<form method="post" action="${to('/sign-in/provider')}"><button class="button quiet" name="provider" value="${name}">${providerLabel(visit, name)}</button></form>`,
  )
  const passkey = passkeyForm(visit, drawing, pages.method_passkey)
  const sendsCode = offered.signInByCode || offered.passwordOptional
  const code =
    sendsCode && wayOf('ways', html`${icon('mail')}${pages.send_code}`, to('/sign-in/code'), 'button quiet')
  if (providers.length === 0 && passkey === null && !code) return null
  const or = html`<p class="or">${pages.or}</p>`
  // Without script there are no passkeys, and so without the others nothing to choose from.
  if (providers.length === 0 && !code) return html`<div data-with-passkeys hidden>${or}${passkey}</div>`
  return html`${or}<div class="stack">${providers}<div class="pair">${passkey}${code}</div></div>`
}

/** Only somebody with the right password is told, and so led to the page of confirmation with what was typed. */
function unconfirmedNotice({ texts, flow }: View, { to }: Drawing): Html | null {
  if (flow.problem?.code !== 'account_unconfirmed') return null
  const on = html`<form method="post" action="${to('/sign-in/confirm')}"><button class="link">${texts.pages.confirm_title}</button></form>`
  return notice(texts.errors.account_unconfirmed, 'bad', on)
}

export function signInScreen(visit: View, drawing: Drawing): Screen {
  const { texts, flow } = visit
  const { pages } = texts
  const { offered, to, now } = drawing
  const problem = showProblem(visit, ['identifier', 'password'], { now, support: offered.support })
  const title = fillSentence(pages.sign_in_to, { service: offered.service })
  return {
    title: pages.sign_in,
    content: html`${heading(title)}
${unconfirmedNotice(visit, drawing) ?? problem.above ?? noticeOf(visit)}
<form method="post" action="${to('/sign-in')}" id="ways">${pressedByEnter}
${identifierInput(visit, offered, {
  autocomplete: offered.passkeys ? 'username webauthn' : 'username',
  value: flow.typed?.identifier ?? '',
  wrong: problem.of('identifier'),
  autofocus: !flow.typed?.identifier,
})}
${passwordInput(visit.texts, {
  name: 'password',
  label: pages.password,
  autocomplete: 'current-password',
  wrong: problem.of('password'),
  autofocus: Boolean(flow.typed?.identifier),
  after: otherWay(pages.forgot_password, to('/sign-in/forgot')),
})}
${check('stay', pages.stay_signed_in, { checked: flow.typed?.stay === 'yes' })}
${submit(pages.sign_in, '', problem.wait)}
</form>
${otherWays(visit, drawing)}
${canRegister(visit, offered) && html`<p class="foot">${fillSentence(pages.no_account, { service: offered.service })} ${wayOf('ways', pages.create_account, to('/sign-in/register'))}</p>`}`,
  }
}

/** Browsers go on at once; the button is for those that do not. */
export function leaveScreen({ texts: { pages } }: View, to: string): Screen {
  return {
    title: pages.leave_title,
    refreshTo: to,
    content: html`<div class="spinner" aria-hidden="true"></div>${heading(pages.leave_title, pages.leave_lead.replace('{host}', new URL(to).host))}
<a class="button quiet main later" href="${to}">${pages.continue}</a>`,
  }
}

/** After an account was deleted there is nothing to sign in to. */
export function signedOutScreen(visit: View, { to }: Drawing): Screen {
  const { pages } = visit.texts
  const isErased = visit.flow.notice === 'account_erased'
  const title = isErased ? pages.account_erased : pages.signed_out_title
  const signIn = html`${noticeOf(visit)}
<a class="button quiet main" href="${to('/sign-in')}">${pages.sign_in}</a>`
  return {
    title,
    content: html`<div class="round" aria-hidden="true">${icon('check')}</div>${heading(title, pages.signed_out_lead)}
${!isErased && signIn}`,
  }
}
