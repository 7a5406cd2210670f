/**
 * The languages of the service: a new one is a file like fr.ts and a line in `languages`. Everything that names
 * languages (configuration, documentation, messages, the mailbox) derives from that table.
 */
import { ar } from './ar.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import type { MessageTexts } from './messages.ts'
import { pt } from './pt.ts'

/** What each language must have: the rows of the French one. */
export type Texts = {
  [Part in keyof typeof fr]: Part extends 'messages'
    ? MessageTexts<keyof typeof fr.messages.codes, keyof typeof fr.messages.notices>
    : Record<keyof (typeof fr)[Part], string>
}

export const languages = { fr, en, es, pt, ar } satisfies Record<string, Texts>

export type Language = keyof typeof languages

export const languageTags = Object.keys(languages) as Language[]

/** The names of the languages, in English. */
export const languageNames = languageTags.map((tag) => languageName(tag))

/** Tells whether this is one of ours; a message of the outbox may have been queued by another version. */
export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(languages, tag)
}

/** Headers of people have fewer; only the first ones are read. */
const MAXIMUM_RANGES = 32

/**
 * The supported language that an Accept-Language header (RFC 9110 §12.5.4) asks for, or `fallback` if it asks for none.
 * Among equal weights the first one wins. `q=0` refuses a language, also against `*`.
 */
export function pickLanguage(acceptLanguage: string | null | undefined, fallback: Language): Language {
  if (!acceptLanguage) return fallback
  const ranges = acceptLanguage.split(',', MAXIMUM_RANGES).map(parseRange)
  const refused = new Set(ranges.filter(({ weight }) => weight === 0).map(({ tag }) => tag))
  const wanted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    if (isLanguage(tag)) return tag
    if (tag === '*') return [fallback, ...languageTags].find((each) => !refused.has(each)) ?? fallback
  }
  return fallback
}

/** `en-GB;q=0.8` becomes `{ tag: 'en', weight: 0.8 }`. A weight that is not valid neither asks for nor refuses anything. */
function parseRange(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const weight =
    quality === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : -1
  return { tag: tag.split('-', 1)[0] ?? '', weight }
}

/** Of the letters of a language. */
export function textDirection(tag: string): 'ltr' | 'rtl' {
  // Not yet in the types of the library.
  const locale = new Intl.Locale(tag) as Intl.Locale & { getTextInfo?(): { direction?: 'ltr' | 'rtl' } }
  return locale.getTextInfo?.().direction ?? 'ltr'
}

function languageName(tag: Language): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? tag
}
