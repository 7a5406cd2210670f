/** Registration: the form, an invitation, the terms, the confirmation. */

import { writeList } from '../../../texts/dates.ts'
import { fillSentence } from '../../../texts/sentences.ts'
import { codeField, heading, otherWay, submit, wayOf, whoIs, withTerms } from '../../frame/elements.ts'
import { html } from '../../frame/html.ts'
import type { Screen, View } from '../../visits/visit.ts'
import { noticeOf, showProblem } from '../problems.ts'
import {
  askedIdentifier,
  canRegister,
  type Drawing,
  hintAtCode,
  identifierInput,
  isNext,
  lateNotice,
  newPassword,
  providerLabel,
  sendAgain,
  sentTo,
  termsCheck,
} from './parts.ts'

function groupsGiven({ texts: { pages }, client }: View, given: Drawing['given']): string[] {
  if (!given || given.groups.length === 0) return []
  return [fillSentence(pages.invited_groups, { groups: writeList(given.groups, client.language) })]
}

/** What the invitation gives a new account. */
function invitedLead(visit: View, { given }: Drawing): string | null {
  const { pages } = visit.texts
  if (!given) return null
  const role = given.role === null ? [] : [fillSentence(pages.invited_role, { role: given.role })]
  return [pages.invited, ...role, ...groupsGiven(visit, given)].join(' ')
}

/** Whoever said that it is somebody else's account may open one. */
const isSignedIn = ({ session, flow: { signInAfter = 0 } }: View): boolean =>
  session !== null && session.authenticatedAt.getTime() >= signInAfter

/** Somebody who is signed in followed the link of an invitation. */
function joinScreen(visit: View, { to, now, offered, given }: Drawing): Screen {
  const { pages } = visit.texts
  const { problem: _, ...flow } = visit.flow
  const another = to('/sign-in', { ...flow, signInAfter: now.getTime() })
  const who = visit.session?.account.email ?? visit.session?.account.phone ?? ''
  const title = fillSentence(pages.join_service, { service: offered.service })
  return {
    title,
    content: html`${who !== '' && whoIs(who, html`<a href="${another}">${pages.not_you}</a>`)}${heading(title, [pages.join_lead, ...groupsGiven(visit, given)].join(' '))}
${showProblem(visit, [], { now }).above}
<form method="post" action="${to('/sign-up/join')}">${submit(pages.join)}</form>
<p class="next"><a href="${to('/leave')}">${pages.not_now}</a></p>`,
  }
}

function closedScreen({ texts: { pages, errors } }: View, { to }: Drawing): Screen {
  return {
    title: pages.create_account,
    content: html`${heading(pages.create_account, errors.registration_closed)}
<a class="button main" href="${to('/sign-in')}">${pages.sign_in}</a>`,
  }
}

/** Somebody who came by a provider accepts the terms before the account is opened; others are asked after a new version. */
export function termsScreen(visit: View, drawing: Drawing, { isNew }: { isNew: boolean }): Screen {
  const { pages } = visit.texts
  const { to, now, offered } = drawing
  const title = pages.terms
  return {
    title,
    content: html`${heading(title, withTerms(visit.texts, offered.terms, isNew ? pages.terms_lead : pages.new_terms_lead))}
${showProblem(visit, [], { now }).above}
<form method="post" action="${to(isNew ? '/sign-up/terms' : '/sign-in/terms')}">${submit(pages.accept)}</form>
<p class="next"><a href="${to(isNew ? '/sign-in' : '/leave')}">${isNew ? pages.back_to_sign_in : pages.not_now}</a></p>`,
  }
}

export function signUpScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  if (visit.flow.invitation && isSignedIn(visit)) return joinScreen(visit, drawing)
  if (!canRegister(visit, drawing.offered)) return closedScreen(visit, drawing)
  const { offered, to } = drawing
  const { typed = {} } = visit.flow
  const problem = showProblem(visit, ['email', 'phone', 'password', 'terms'], {
    ...drawing,
    takesBoth: offered.email && offered.phone,
  })
  return {
    title: pages.create_account,
    content: html`${heading(pages.create_account, invitedLead(visit, drawing))}
${problem.above}
<form method="post" action="${to('/sign-up')}" id="ways">
${identifierInput(visit, offered, {
  value: typed.identifier ?? '',
  wrong: problem.of('email', 'phone'),
  autofocus: problem.of('password') === null,
})}
${newPassword(visit, drawing, problem.of('password'), { mayBeLeftOut: offered.passwordOptional })}
${termsCheck(visit, drawing)}
${submit(pages.create_account, '', problem.wait)}
${offered.providers.length > 0 && html`<p class="or">${pages.or}</p>`}
<div class="stack">${offered.providers.map((name) =>
      otherWay(
        providerLabel(visit, name),
        to('/sign-up/provider'),
        'button quiet',
        html` name="provider" value="${name}"`,
      ),
    )}</div>
</form>
<p class="foot">${pages.have_account} ${wayOf('ways', pages.sign_in, to('/sign-up/sign-in'))}</p>`,
  }
}

export function confirmScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, now } = drawing
  const problem = showProblem(visit, ['identifier', 'otp', 'password'], { now, wrongCode: pages.wrong_code })
  const inThisBrowser = visit.ticket?.kind === 'registration'
  const named = visit.flow.typed?.identifier
  const lead = sentTo(visit, pages.confirm_lead, pages.code_sent_confirm)
  return {
    title: pages.confirm_title,
    content: html`${
      named
        ? // A form of its own: Enter in the field of the code must not press this button.
          html`${heading(pages.confirm_title)}<form class="lead" id="lead" method="post" action="${to('/confirm/change')}">${lead} <button class="link">${pages.correct}</button></form>`
        : heading(pages.confirm_title, lead)
    }
${problem.above ?? noticeOf(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/confirm')}">
${askedIdentifier(visit, drawing, problem.of('identifier'))}
${codeField({
  label: pages.code,
  letters: false,
  wrong: problem.of('otp'),
  hint: hintAtCode(visit, problem),
  autofocus: isNext(visit, problem),
  titled: inThisBrowser && Boolean(named),
})}
${
  !inThisBrowser &&
  html`${newPassword(visit, drawing, problem.of('password'), { mayBeLeftOut: drawing.offered.passwordOptional })}
${termsCheck(visit, drawing)}`
}
${submit(pages.confirm)}
${sendAgain(visit, drawing, '/confirm/again', problem.wait)}
</form>`,
  }
}
