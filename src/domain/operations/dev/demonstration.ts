/** The demonstration page of --dev: a whole client in one page that uses the public interface and nothing else. */
import { type Language, textDirection } from '../../../texts/languages.ts'
import type { Texts } from '../../../texts/texts.ts'
import source from './demonstration.html' with { type: 'text' }
import { pagePolicy } from './page-policy.ts'

const page = source as unknown as string

const between = (start: string, end: string) => {
  const from = page.indexOf(start) + start.length
  return page.slice(from, page.indexOf(end, from))
}

export const demonstrationPolicy = pagePolicy({
  style: between('<style>', '</style>'),
  script: between('<script type="module">', '</script>'),
})

/** `<` is escaped, so that no word can end the element that holds them. */
export function demonstrationPage(language: Language, texts: Texts): string {
  const words = JSON.stringify(texts.demonstration).replaceAll('<', '\\u003c')
  return page
    .replace('lang="en"', `lang="${language}" dir="${textDirection(language)}"`)
    .replace('id="words">{}<', () => `id="words">${words}<`)
}
