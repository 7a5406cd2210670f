/** The sentences by language, and which language a client gets. */
import type { Language } from '../platform/config/types.ts'
import { en } from './en.ts'
import { fr, type Texts } from './fr.ts'

export type { Texts } from './fr.ts'

export type MessageKey = keyof Texts['messages']

export const texts: Record<Language, Texts> = { fr, en }

/** A longer header is not from somebody who wants to read French or English. */
const MAXIMUM_RANGES = 32

/**
 * The language an Accept-Language header (RFC 9110 §12.5.4) asks for, among those there are; `fallback` where it
 * names none. Equal weights: the first named. `q=0` refuses a language, also against `*`.
 */
export function pickLanguage(acceptLanguage: string | null | undefined, fallback: Language): Language {
  if (!acceptLanguage) return fallback
  const ranges = acceptLanguage.split(',', MAXIMUM_RANGES).map(parseRange)
  const refused = new Set(ranges.filter(({ weight }) => weight === 0).map(({ tag }) => tag))
  const wanted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  for (const { tag } of wanted) {
    if (isLanguage(tag)) return tag
    if (tag === '*') return refused.has(fallback) ? other(fallback) : fallback
  }
  return fallback
}

/** `en-GB;q=0.8` is `{ tag: 'en', weight: 0.8 }`; an unreadable weight refuses nothing and asks for nothing. */
function parseRange(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  const weight =
    quality === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : -1
  return { tag: tag.split('-', 1)[0] ?? '', weight }
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(texts, tag)
}

function other(language: Language): Language {
  return language === 'fr' ? 'en' : 'fr'
}
