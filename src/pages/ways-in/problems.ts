/** The problems of a form in words: beside its field where a field is to blame, otherwise above the form. */
import type { Language } from '../../texts/languages.ts'
import { nameOfProvider } from '../../texts/names.ts'
import { fieldSentence, fillSentence } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import { isolated, notice, withContact, withSupport } from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import { isMistake, type Problem } from '../visits/flow.ts'
import { waitSentence } from '../visits/refusals.ts'
import type { View } from '../visits/visit.ts'

export interface ShownProblem {
  /** The problem of the field of this name; null where nothing is wrong with it, true where the sentence above says it. */
  of(...names: string[]): string | true | null
  /** Above the form. */
  above: Html | null
  /** Seconds until another try is worth it. */
  wait: number
}

/** The elements of fields that services call otherwise. */
const ids: Record<string, string> = {
  email: 'identifier',
  phone: 'identifier',
  password_confirmation: 'password',
}

/** These errors say that what was typed into a field is wrong, and name no field. */
const blamed: Partial<Record<Problem['code'], string>> = {
  invalid_credentials: 'password',
  invalid_code: 'otp',
}

interface ProblemOptions {
  now: Date
  /** People reach those who run the service there; empty: they are not told. */
  support?: string
  /** Says what to do about a code that is wrong. */
  wrongCode?: string | undefined
  /** One field takes an e-mail address or a phone number: text that is neither is no number that was mistyped. */
  takesBoth?: boolean
}

/** `fields`: those that the form has, by the names that the services use for them. */
export function showProblem(
  { client: { language }, flow, texts }: View,
  fields: readonly string[],
  { now, support = '', wrongCode, takesBoth = false }: ProblemOptions,
): ShownProblem {
  const { problem } = flow
  if (problem === undefined) return { of: () => null, above: null, wait: 0 }
  const wrong = (problem.fields ?? []).filter(({ field }) => fields.includes(field))
  const wait = Math.max(0, (problem.until ?? 0) - Math.floor(now.getTime() / 1000))
  /** One mistake is beside its field, which has the focus. Several are listed first, with links. */
  const summary = (list: [string, string][]) =>
    notice(
      texts.pages.check_fields,
      'bad',
      html`<ul>${list.map(([name, text]) => html`<li><a href="#${ids[name] ?? name}">${text}</a></li>`)}</ul>`,
    )
  const sentence = (error: (typeof wrong)[number]) =>
    takesBoth && error.code === 'invalid_phone' ? texts.pages.identifier_invalid : fieldSentence(error, texts)
  return {
    of(...names) {
      const found = wrong.find(({ field }) => names.includes(field))
      if (found !== undefined) return sentence(found)
      const field = blamed[problem.code]
      return field !== undefined && fields.includes(field) && names.includes(field) ? true : null
    },
    above:
      wrong.length > 1
        ? summary(wrong.map((each) => [each.field, sentence(each)]))
        : wrong.length === 0
          ? notice(
              sentenceOf(problem, wait, { texts, language, support, wrongCode }),
              isMistake(problem) ? 'bad' : '',
            )
          : null,
    wait,
  }
}

function sentenceOf(
  { code, until, message, provider }: Problem,
  wait: number,
  {
    texts,
    language,
    support,
    wrongCode,
  }: { texts: Texts; language: Language; support: string; wrongCode: string | undefined },
): string | Html {
  const { pages, errors } = texts
  if (code === 'start_again' || code === 'login_expired' || code === 'invalid_sign_in_state')
    return pages.start_again
  if (code === 'provider_denied' || code === 'earlier_sign_in') return pages[code]
  if (code === 'provider_failed')
    return fillSentence(pages.provider_failed, {
      provider: provider === undefined ? pages.other_provider : nameOfProvider(provider),
    })
  if (message !== undefined) return isolated(message)
  if (until !== undefined && wait > 0)
    return html`${pages.too_many_tries} ${waitSentence(texts, language, wait)}`
  if (code === 'invalid_credentials') return pages.wrong_password
  if (code === 'invalid_code' && wrongCode !== undefined) return wrongCode
  return code === 'account_locked' && support !== '' ? withSupport(pages.locked, support) : errors[code]
}

/** Returns the sentence about what was done. */
export const noticeOf = ({ flow, texts }: Pick<View, 'flow' | 'texts'>): Html | null => {
  const sentence =
    flow.notice === undefined ? undefined : texts.pages[flow.notice as keyof typeof texts.pages]
  if (sentence === undefined) return null
  const { sentTo, typed } = flow
  // Of a flow that was too long nothing is left that was typed.
  if (sentence.includes('{provider}') && !typed?.provider) return null
  return notice(
    sentTo && sentence.includes('{contact}')
      ? withContact(sentence, sentTo)
      : fillSentence(sentence, { provider: nameOfProvider(typed?.provider ?? '') }),
    // The account is less protected than before.
    flow.notice === 'two_factor_off' ? '' : 'good',
  )
}
