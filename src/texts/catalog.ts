/** All languages of a service: those that are built in, and those that its operator wrote or changed. */
import { pickLanguage } from './accept-language.ts'
import {
  type BuiltInLanguage,
  builtInTags,
  isBuiltIn,
  type Language,
  languages,
  primaryTag,
} from './languages.ts'
import { isTable } from './table.ts'
import type { Texts } from './texts.ts'

/** The texts of a file: any of the keys. */
export type OwnTexts = Partial<{ [Part in keyof Texts]: PartialTexts<Texts[Part]> }>
type PartialTexts<Value> = Value extends string | readonly string[]
  ? Value
  : { [Key in keyof Value]?: PartialTexts<Value[Key]> }

interface CatalogOptions {
  /** Callers who ask for none of the languages get this one. */
  language: Language
  /** Supplies the texts that a language of `own` lacks. */
  fallback?: Language
  own?: Record<Language, OwnTexts>
}

export type Catalog = ReturnType<typeof createCatalog>

export function createCatalog({ language, fallback = 'en', own = {} }: CatalogOptions) {
  const tags: readonly Language[] = [...new Set([...builtInTags, ...Object.keys(own)])]
  const known = new Set(tags)
  const merged = new Map<Language, Texts>()
  /** A language is merged when it is first asked for, since most services use few of them. */
  const textsOf = (tag: Language) => merged.getOrInsertComputed(tag, () => mergeTexts(tag, { own, fallback }))
  const defaults = () => (known.has(language) ? textsOf(language) : languages.en)
  return {
    /** The languages that can be chosen. */
    tags,
    /** Callers who ask for none of them get this one. */
    language,
    has: (tag: string) => known.has(tag),
    /** The texts of a language, or those of the default one: a message may wait in a language that is gone. */
    of: (tag: Language): Texts => (known.has(tag) ? textsOf(tag) : defaults()),
    /** The language that an Accept-Language header asks for, or the default one. */
    pick: (acceptLanguage: string | null | undefined) => pickLanguage(acceptLanguage, tags, language),
  }
}

/** A language of a file gets most of what it lacks from this one. */
export function fallbackOf(tag: Language, fallback: Language): Language {
  const primary = primaryTag(tag)
  return primary !== tag && isBuiltIn(primary) ? primary : fallback
}

/**
 * A text that a file lacks comes from the built-in texts of its language, else of the language without its region, else
 * of the fallback, and at last of English.
 */
function mergeTexts(
  tag: Language,
  { own, fallback }: { own: Record<Language, OwnTexts>; fallback: Language },
): Texts {
  const sources = [tag, primaryTag(tag), fallback, 'en'].flatMap((each) => [
    ...(Object.hasOwn(own, each) ? [own[each]] : []),
    ...(isBuiltIn(each) ? [languages[each as BuiltInLanguage]] : []),
  ])
  return sources.reduceRight<unknown>((base, source) => overlay(base, source), undefined) as Texts
}

/** Plural forms belong together, so that a language never takes one of them from another. */
function overlay(base: unknown, source: unknown): unknown {
  if (!isTable(base) || !isTable(source) || 'other' in source) return source
  const entries = Object.entries(source).map(([key, value]) => [
    key,
    Object.hasOwn(base, key) ? overlay(base[key], value) : value,
  ])
  return { ...base, ...Object.fromEntries(entries) }
}
