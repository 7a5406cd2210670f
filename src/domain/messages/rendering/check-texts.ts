/**
 * The findings of `poterne texts check`: texts that are allowed and yet not wise. Texts that cannot be used at all stop
 * the service already when it reads the files.
 */
import type { Config } from '../../../platform/config/types.ts'
import { type Catalog, fallbackOf, type OwnTexts } from '../../../texts/catalog.ts'
import { isBuiltIn, type Language, languageName } from '../../../texts/languages.ts'
import { leavesOf, placeholdersIn, textAt } from '../../../texts/read-file.ts'
import { smsLength } from '../../../texts/sms-length.ts'
import { sentCodePurposes } from '../codes/store.ts'
import { type MessagePurpose, messagePurposes } from '../outbox/message.ts'
import { createSamples, type RenderSample } from './sample-messages.ts'

export interface TextFinding {
  level: 'error' | 'warning'
  language: Language
  /** `messages.codes.confirmation.sms`; null: about the whole language. */
  key: string | null
  message: string
}

export type CheckedLanguage = ReturnType<typeof checkTexts>['languages'][number]

type CheckedConfig = Pick<Config, 'server' | 'smtp' | 'sms' | 'texts' | 'codes'>

export function checkTexts(config: CheckedConfig, catalog: Catalog) {
  const { own, fallback } = config.texts
  const findings = catalog.tags.flatMap((language) => [
    ...(Object.hasOwn(own, language) ? checkOwn(language, own[language] as OwnTexts, fallback) : []),
    ...checkLinks(language, catalog),
    ...checkLengths(language, createSamples(config, catalog)),
  ])
  const languages = catalog.tags.map((language) => ({
    language,
    /** True if the operator wrote a file for it. */
    isOwn: Object.hasOwn(own, language),
    /** The longest name of the service with which each SMS without a link is one segment; 0: none. */
    longestName: longestName(language, config, catalog),
  }))
  return { languages, findings }
}

/** Texts that a file lacks, and placeholders that it does not use. */
function checkOwn(language: Language, texts: OwnTexts, fallback: Language): TextFinding[] {
  const warn = (key: string | null, message: string): TextFinding => ({
    level: 'warning',
    language,
    key,
    message,
  })
  const written = new Set(leavesOf(texts).map(({ key }) => key))
  const missing = leavesOf(textAt('')).filter(({ key }) => !written.has(key))
  const unused = leavesOf(texts).flatMap(({ key, value }) => {
    const expected = placeholdersIn(textAt(key)).map((name) => (name === 'minutes' ? 'duration' : name))
    const used = placeholdersIn(value).map((name) => (name === 'minutes' ? 'duration' : name))
    const lacking = [...new Set(expected)].filter((name) => !used.includes(name))
    return lacking.length === 0 || key.startsWith('messages.duration')
      ? []
      : [warn(key, `does not use ${lacking.map((name) => `{${name}}`).join(', ')}`)]
  })
  if (missing.length === 0 || isBuiltIn(language)) return unused
  const first = missing.slice(0, 3).map(({ key }) => key)
  const source = languageName(fallbackOf(language, fallback))
  const message = `${missing.length} texts are missing and come from ${source}: ${first.join(', ')}${missing.length > 3 ? ', …' : ''}`
  return [...unused, warn(null, message)]
}

const link = /:\/\/|\bwww\.|\b[\w-]{1,63}\.[a-z]{2,24}\/|<a\b/i

/** People who are used to links in messages with codes follow those of somebody else, too. */
function checkLinks(language: Language, catalog: Catalog): TextFinding[] {
  const { codes, below_code } = catalog.of(language).messages
  return leavesOf({ messages: { codes, below_code } })
    .filter(({ value }) => [value].flat().some((text) => typeof text === 'string' && link.test(text)))
    .map(({ key }) => ({
      level: 'error',
      language,
      key,
      message: 'a message with a code must not hold a link',
    }))
}

function checkLengths(language: Language, sample: RenderSample): TextFinding[] {
  return messagePurposes.flatMap((purpose) => {
    const { text } = sample(language, purpose, 'sms')
    const { alphabet, segments, foreign } = smsLength(text)
    // Other letters than Latin ones cannot be spared.
    const canBeSpared = alphabet === 'UCS-2' && !foreign.some((one) => /(?!\p{Script=Latin})\p{L}/u.test(one))
    if (segments === 1 && !canBeSpared) return []
    const because = canBeSpared ? `, since ${foreign.join(' ')} is not in the alphabet of SMS` : ''
    const price =
      segments === 1 ? '70 fit one segment, not 160' : `${segments} segments, at ${segments} times the price`
    const message = `${text.length} characters in ${alphabet}${because}: ${price}`
    return [{ level: 'warning' as const, language, key: `${keyOf(purpose)}.sms`, message }]
  })
}

/** The names of services have at most 60 characters. */
const LONGEST_NAME = 60

function longestName(language: Language, config: CheckedConfig, catalog: Catalog): number {
  const fits = (length: number) => {
    const texts = { ...config.texts, serviceName: 'x'.repeat(length) }
    const sample = createSamples({ ...config, texts }, catalog, null)
    return messagePurposes.every((purpose) => smsLength(sample(language, purpose, 'sms').text).segments === 1)
  }
  let [low, high] = [0, LONGEST_NAME]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

const codes: readonly string[] = sentCodePurposes
const keyOf = (purpose: MessagePurpose) =>
  `messages.${codes.includes(purpose) ? 'codes' : 'notices'}.${purpose}`
