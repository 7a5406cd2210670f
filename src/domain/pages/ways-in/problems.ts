/** What went wrong, in words: beside its field where a field is to blame, otherwise above the form. */
import type { Texts } from '../../../texts/texts.ts'
import { notice } from '../frame/elements.ts'
import type { Html } from '../frame/html.ts'
import type { Problem } from '../visits/flow.ts'
import type { Visit } from '../visits/service.ts'

export interface ShownProblem {
  /** For the field of this name; null where nothing is wrong with it. */
  of(...names: string[]): string | null
  /** Above the form. */
  above: Html | null
  /** Seconds until another try is worth it. */
  wait: number
}

/** `fields`: those that the form has, by the names that the services use for them. */
export function showProblem({ flow, texts }: Visit, fields: readonly string[], now: Date): ShownProblem {
  const { problem } = flow
  if (problem === undefined) return { of: () => null, above: null, wait: 0 }
  const wrong = (problem.fields ?? []).filter(({ field }) => fields.includes(field))
  const wait = Math.max(0, (problem.until ?? 0) - Math.floor(now.getTime() / 1000))
  return {
    of(...names) {
      const found = wrong.find(({ field }) => names.includes(field))
      if (found === undefined) return null
      return found.reason ? texts.weak_password[found.reason] : texts.fields[found.code]
    },
    above: wrong.length > 0 ? null : notice(sentenceOf(problem, wait, texts), 'bad'),
    wait,
  }
}

function sentenceOf({ code, until }: Problem, wait: number, { pages, errors }: Texts): string {
  if (code === 'start_again') return pages.start_again
  if (code === 'cookies_blocked') return pages.cookies_blocked
  if (until === undefined || wait === 0)
    return code === 'invalid_credentials' ? pages.wrong_password : errors[code]
  const minutes = Math.ceil(wait / 60)
  const when =
    wait < 60 ? pages.try_again_soon : pages.try_again_minutes.replace('{minutes}', String(minutes))
  return `${pages.too_many} ${when}`
}
