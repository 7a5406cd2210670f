/** Reads the header by which a client says which languages its reader knows. */
import type { Language } from './languages.ts'

/** Headers of people have fewer; only the first ones are read. */
const MAXIMUM_RANGES = 32
/** The longest tag that RFC 5646 names has 35, and a weight of three digits eight. */
const MAXIMUM_CHARACTERS = 64

/**
 * The one of `tags` that an Accept-Language header (RFC 9110 §12.5.4) asks for, or `fallback` if it asks for none.
 * Among equal weights the first one wins; `en-GB` is served by `en`. `q=0` refuses a language, also against `*`.
 */
export function pickLanguage(
  acceptLanguage: string | null | undefined,
  tags: readonly Language[],
  fallback: Language,
): Language {
  if (!acceptLanguage) return fallback
  const ranges = acceptLanguage
    .split(',', MAXIMUM_RANGES)
    .map((range) => parseRange(range.slice(0, MAXIMUM_CHARACTERS)))
  const refused = new Set(ranges.filter(({ weight }) => weight === 0).map(({ range }) => range))
  const wanted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  for (const { range } of wanted) {
    if (range === '*') {
      return [fallback, ...tags].find((each) => !refused.has(canonical(each))) ?? fallback
    }
    const found = lookUp(range, tags)
    if (found !== undefined) return found
  }
  return fallback
}

/** Some clients leave out the zero before the point. */
const WEIGHT = /^(?:0(?:\.\d{0,3})?|\.\d{1,3}|1(?:\.0{0,3})?)$/

/** RFC 4647 §3.4: the range itself, then without its last part, and so on. */
function lookUp(range: string, tags: readonly Language[]): Language | undefined {
  const parts = range.split('-', 4)
  for (let length = parts.length; length > 0; length -= 1) {
    const shorter = parts.slice(0, length).join('-')
    const found = tags.find((tag) => canonical(tag) === shorter)
    if (found !== undefined) return found
  }
  return undefined
}

/** Names that languages had before, which Java and older systems still write, and the one that stands for a group. */
const FORMER: Record<string, string> = { iw: 'he', in: 'id', ji: 'yi', no: 'nb' }

/** The form that is compared. Java, Android and iOS write `en_US`. */
const canonical = (tag: string): string =>
  tag
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^[a-z]+/, (language) => FORMER[language] ?? language)

/** `en_GB;q=.8` becomes `{ range: 'en-gb', weight: 0.8 }`. A weight that is not valid neither asks for nor refuses anything. */
function parseRange(text: string): { range: string; weight: number } {
  const [range = '', ...parameters] = text.split(';').map((part) => part.replace(/\s/g, '').toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const weight = quality === undefined ? 1 : WEIGHT.test(quality) ? Number(quality) : -1
  return { range: canonical(range), weight }
}
