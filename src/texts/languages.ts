/**
 * The languages that are built in: a new one is a file like fr.ts and a line in `languages`. catalog.ts adds those of
 * the operator's own files.
 */
import { ar } from './ar.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { pt } from './pt.ts'
import type { Texts } from './texts.ts'

export const languages = { fr, en, es, pt, ar } satisfies Record<string, Texts>

/** A BCP 47 tag of the catalog: `fr`, `pt-BR`. */
export type Language = string

export type BuiltInLanguage = keyof typeof languages

export const builtInTags = Object.keys(languages) as BuiltInLanguage[]

export function isBuiltIn(tag: string): tag is BuiltInLanguage {
  return Object.hasOwn(languages, tag)
}

/** Returns the usual spelling (`pt-BR`), or null for text that is no tag. */
export function canonicalTag(text: string): Language | null {
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(text)) return null
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null
  } catch {
    return null
  }
}

/** `pt` of `pt-BR`. */
export const primaryTag = (tag: Language): Language => tag.split('-', 1)[0] as string

/** The name of a language, in English. */
export function languageName(tag: Language): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? tag
}

/** The letters of a language decide. */
export function textDirection(tag: Language): 'ltr' | 'rtl' {
  // The types of the library do not have it yet.
  const locale = new Intl.Locale(tag) as Intl.Locale & { getTextInfo?(): { direction?: 'ltr' | 'rtl' } }
  return locale.getTextInfo?.().direction ?? 'ltr'
}

const ownNames = new Map<Language, string>()

/** Returns the name in the language itself, with a capital letter: "Français". Each page names all of the catalog. */
export const nameOfLanguage = (tag: Language): string => ownNames.getOrInsertComputed(tag, findOwnName)

function findOwnName(tag: Language): string {
  const name = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1)
}
