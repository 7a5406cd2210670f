/** A code that signs in, and the second step. */
import type { IconName } from '../../../platform/look/icons.ts'
import {
  changesCodeField,
  check,
  codeField,
  group,
  heading,
  icon,
  otherWay,
  rowButton,
  rows,
  submit,
  whoIs,
  withContact,
  withoutPasskeys,
  withSupport,
} from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Screen, View } from '../../visits/visit.ts'
import { noticeOf, showProblem } from '../problems.ts'
import {
  askedIdentifier,
  changeButton,
  changeForm,
  createsByCode,
  type Drawing,
  isNext,
  lateNotice,
  noticeIfSo,
  passkeyForm,
  sendAgain,
  sentTo,
  termsCheck,
} from './parts.ts'

export function codeScreen(visit: View, drawing: Drawing): Screen {
  return visit.ticket?.kind === 'second_factor'
    ? secondFactorScreen(visit, drawing)
    : signInCodeScreen(visit, drawing)
}

function signInCodeScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, offered, now } = drawing
  const creates = createsByCode(visit, offered)
  const problem = showProblem(visit, ['identifier', 'otp'], { now, wrongCode: pages.wrong_code })
  const named = Boolean(visit.flow.typed?.identifier)
  const opensAccount = creates && !offered.isForDomains
  const lead = sentTo(visit, pages.code_lead, opensAccount ? pages.code_sent_create : undefined)
  return {
    title: pages.code_title,
    content: html`${heading(pages.code_title, html`${lead}${changeButton(visit)}`)}
${problem.above ?? (opensAccount ? noticeOf(visit) : noticeIfSo(visit))}${lateNotice(visit, drawing)}
<form method="post" action="${to('/code')}">
${askedIdentifier(visit, drawing, problem.of('identifier'))}
${codeField({ label: pages.code, letters: false, wrong: problem.of('otp'), autofocus: isNext(visit, problem), titled: named })}
${creates && termsCheck(visit, drawing)}
${submit(pages.sign_in)}
${sendAgain(visit, drawing, '/code/again', problem.wait)}
<p class="next">${otherWay(pages.other_way, to('/code/sign-in'))}</p>
</form>${changeForm(visit, drawing, '/code/sign-in')}`,
  }
}

/** What the second step asks for, of all that the account has: a passkey alone, letters, or six digits. */
function askedFor({ flow: { methods = [], letters } }: View, usesPasskey: boolean) {
  const takesDigits = methods.some(isOfDigits)
  const takesLetters = methods.includes('recovery_code')
  if (takesLetters && (letters || !(takesDigits || usesPasskey))) return 'letters'
  if (takesDigits) return 'digits'
  return usesPasskey ? 'passkey' : 'none'
}

type Asked = ReturnType<typeof askedFor>

interface SecondStepWords {
  title: string
  lead: Html | string
  wrongCode?: string
}

function secondFactorWords(
  { texts: { pages, sentences }, flow }: View,
  asked: Asked,
  support: string,
): SecondStepWords {
  const { methods = [], sentTo: contact } = flow
  switch (asked) {
    case 'letters':
      return {
        title: pages.recovery_code_title,
        lead: pages.recovery_code_lead,
        wrongCode: pages.wrong_recovery_code,
      }
    case 'passkey':
      return { title: pages.second_factor_passkey_title, lead: sentences.two_factor_passkey_required }
    case 'none':
      return {
        title: pages.second_factor_none,
        lead:
          support === ''
            ? pages.second_factor_none_lead
            : withSupport(pages.second_factor_none_support, support),
      }
    case 'digits':
      if (methods.includes('totp'))
        return {
          title: pages.second_factor_app,
          lead: pages.second_factor_app_lead,
          wrongCode: pages.wrong_app_code,
        }
      return {
        title: pages.code_title,
        lead: contact ? withContact(pages.code_sent_to, contact) : sentences.two_factor_required,
        wrongCode: pages.wrong_code,
      }
  }
}

/** The other ways through the second step, as rows: a code of the other kind, and another sign-in. */
function otherSteps(
  { texts: { pages }, flow }: View,
  { to }: Drawing,
  asked: Asked,
  passkey: Html | false,
): Html {
  const { methods = [] } = flow
  const letters = asked === 'letters'
  const isSent = asked === 'digits' && !methods.includes('totp')
  const why = isSent ? pages.use_recovery_code_unsent : pages.use_recovery_code_why
  const field = (icon: IconName, label: string, detail: string | null = null) =>
    rowButton(to('/code/field'), { icon, label, detail }, changesCodeField(!letters))
  const startOver = otherWay(
    html`${icon('back', 'back')}<span class="text"><span>${pages.start_over}</span></span>`,
    to('/code/sign-in'),
    'row',
  )
  const byPasskey = asked !== 'passkey' && passkey && { withPasskeys: passkey }
  const byCode = letters
    ? methods.some(isOfDigits) && field('phone', pages.use_digits)
    : methods.includes('recovery_code') && field('key', pages.use_recovery_code, why)
  if (byPasskey || byCode)
    return html`${group(pages.another_way, !byCode)}${rows([byPasskey, byCode, startOver])}`
  if (asked === 'none') return otherWay(pages.start_over, to('/code/sign-in'), 'button quiet')
  return html`<p class="next">${otherWay(pages.start_over, to('/code/sign-in'))}</p>`
}

/** Who is signing in, as it was typed, and a way for somebody else. */
const whoSignsIn = ({ texts: { pages }, flow: { typed } }: View): Html | null =>
  typed?.identifier
    ? whoIs(typed.identifier, html`<button class="link" form="leave">${pages.not_you}</button>`)
    : null

function secondFactorScreen(visit: View, drawing: Drawing): Screen {
  const { pages } = visit.texts
  const { to, offered, now } = drawing
  const { methods = [] } = visit.flow
  const sent = methods.includes('email') || methods.includes('sms')
  const usesPasskey = methods.includes('passkey') && offered.passkeys
  const asked = askedFor(visit, usesPasskey)
  const { title, lead, wrongCode } = secondFactorWords(visit, asked, offered.support)
  const problem = showProblem(visit, ['otp'], { now, support: offered.support, wrongCode })
  const letters = asked === 'letters'
  const takesCode = letters || asked === 'digits'
  const codePart = html`${codeField({ label: pages.code, letters, wrong: problem.of('otp'), autofocus: true, titled: true })}
${offered.trustDevice && check('trust', pages.trust_device, { checked: visit.flow.typed?.trust === 'yes' })}
${submit(pages.sign_in, '', sent ? 0 : problem.wait)}
${sent && !letters && sendAgain(visit, drawing, '/code/again', problem.wait)}`
  // The row is a button of the form below the rows.
  const passkeyRow =
    usesPasskey &&
    html`<button class="row" form="passkey">${icon('passkey')}<span class="text"><span>${pages.use_passkey}</span></span>${icon('chevron', 'chevron')}</button>`
  return {
    title,
    content: html`${whoSignsIn(visit)}${heading(title, lead)}
${problem.above ?? noticeOf(visit)}${!letters && lateNotice(visit, drawing)}
${asked === 'passkey' && html`${withoutPasskeys(visit)}${passkeyForm(visit, drawing, pages.use_passkey, 'button main')}`}
<form method="post" action="${to('/code')}">
${takesCode && codePart}
${otherSteps(visit, drawing, asked, passkeyRow)}
</form>${takesCode && usesPasskey && passkeyForm(visit, drawing)}
<form id="leave" method="post" action="${to('/code/sign-in')}"></form>`,
  }
}

const isOfDigits = (method: string) => method !== 'passkey' && method !== 'recovery_code'
