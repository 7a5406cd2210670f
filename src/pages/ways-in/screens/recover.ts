/** A new password for one that was forgotten. */
import { changesCodeField, codeField, heading, otherWay, submit } from '../../frame/elements.ts'
import { html } from '../../frame/html.ts'
import type { Screen, View } from '../../visits/visit.ts'
import { showProblem } from '../problems.ts'
import {
  askedIdentifier,
  changeButton,
  changeForm,
  type Drawing,
  hintAtCode,
  identifierInput,
  isNext,
  lateNotice,
  newPassword,
  noticeIfSo,
  sendAgain,
  sentTo,
} from './parts.ts'

export function recoverScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { offered, to } = drawing
  const problem = showProblem(visit, ['identifier'], drawing)
  return {
    title: pages.recover_title,
    content: html`${heading(pages.recover_title, pages.recover_lead)}
${problem.above}
<form method="post" action="${to('/recover')}">
${identifierInput(visit, offered, {
  value: visit.flow.typed?.identifier ?? '',
  wrong: problem.of('identifier'),
  autofocus: true,
})}
${submit(pages.send_code, '', problem.wait)}
<p class="next">${otherWay(pages.have_code, to('/recover/code'))}</p>
<p class="next">${otherWay(pages.back_to_sign_in, to('/recover/sign-in'))}</p>
</form>`,
  }
}

export function choosePasswordScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, now } = drawing
  const problem = showProblem(visit, ['identifier', 'otp', 'password', 'password_confirmation'], {
    now,
    wrongCode: pages.wrong_code,
  })
  const named = Boolean(visit.flow.typed?.identifier)
  // Only the browser that asked for a code knows that six digits come.
  const letters = visit.flow.letters || !named
  return {
    title: pages.choose_password_title,
    content: html`${heading(pages.choose_password_title, html`${sentTo(visit, pages.choose_password_lead)}${changeButton(visit)}`)}
${problem.above ?? noticeIfSo(visit)}${lateNotice(visit, drawing)}
<form method="post" action="${to('/choose-password')}">
${askedIdentifier(visit, drawing, problem.of('identifier'))}
${codeField({
  label: pages.code,
  letters,
  wrong: problem.of('otp'),
  autofocus: isNext(visit, problem),
  hint: hintAtCode(visit, problem) ?? (letters ? pages.access_code_hint : undefined),
})}
${newPassword(visit, drawing, problem.of('password', 'password_confirmation'), { label: pages.new_password })}
${submit(pages.save_password)}
${sendAgain(visit, drawing, '/choose-password/again', problem.wait)}
${!letters && html`<p class="next">${otherWay(pages.have_access_code, to('/choose-password/field'), 'link', changesCodeField(true))}</p>`}
<p class="next">${otherWay(pages.back_to_sign_in, to('/choose-password/sign-in'))}</p>
</form>${changeForm(visit, drawing, '/choose-password/change')}`,
  }
}
