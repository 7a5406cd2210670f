/** The problems of a form in words: beside its field where a field is to blame, otherwise above the form. */
import { fieldSentence } from '../../texts/field-sentence.ts'
import type { Texts } from '../../texts/texts.ts'
import { notice } from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import type { Problem } from '../visits/flow.ts'
import { waitSentence } from '../visits/refusals.ts'
import type { View } from '../visits/service.ts'

export interface ShownProblem {
  /** The problem of the field of this name; null where nothing is wrong with it. */
  of(...names: string[]): string | null
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

/** `fields`: those that the form has, by the names that the services use for them. */
export function showProblem({ flow, texts }: View, fields: readonly string[], now: Date): ShownProblem {
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
  const sentence = (error: (typeof wrong)[number]) => fieldSentence(error, texts)
  return {
    of(...names) {
      const found = wrong.find(({ field }) => names.includes(field))
      return found === undefined ? null : sentence(found)
    },
    above:
      wrong.length > 1
        ? summary(wrong.map((each) => [each.field, sentence(each)]))
        : wrong.length === 0
          ? notice(sentenceOf(problem, wait, texts), 'bad')
          : null,
    wait,
  }
}

function sentenceOf({ code, until }: Problem, wait: number, texts: Texts): string | Html {
  const { pages, errors } = texts
  if (code === 'start_again' || code === 'login_expired' || code === 'invalid_sign_in_state')
    return pages.start_again
  if (code === 'provider_denied' || code === 'provider_failed' || code === 'earlier_sign_in')
    return pages[code]
  if (until === undefined || wait === 0)
    return code === 'invalid_credentials' ? pages.wrong_password : errors[code]
  return html`${pages.too_many} ${waitSentence(texts, wait)}`
}

/** Returns the sentence about what was done. */
export const noticeOf = ({ flow, texts }: Pick<View, 'flow' | 'texts'>): Html | null => {
  const sentence =
    flow.notice === undefined ? undefined : texts.pages[flow.notice as keyof typeof texts.pages]
  return sentence === undefined ? null : notice(sentence, 'good')
}
