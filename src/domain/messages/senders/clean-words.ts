/**
 * Prepares the words of a mail server or gateway for the log, the database and the terminal: removes the secrets of the
 * configuration, addresses, numbers and codes.
 */
import type { Redact } from '../../../platform/redact.ts'
import type { RenderedMessage } from './sender.ts'

const MAXIMUM_LENGTH = 500
/** Read no further: a reply may be long. */
const READ_LENGTH = 1000
/** It is as long as the longest secret and what is read, because half of a secret would not be found. */
const REDACTED_LENGTH = 8000

export function cleanWords(text: string, { to, code }: Pick<RenderedMessage, 'to' | 'code'>, redact: Redact) {
  const flat = oneLine(text, redact)
  const cleaned = [...personalPatterns(to, code), digitRuns].reduce(
    (words, pattern) => words.replace(pattern, '…'),
    flat.replace(eachWord, (word) => (isAddress.test(word) ? '…' : word)),
  )
  return cleaned.slice(0, MAXIMUM_LENGTH)
}

/** Cleans the words for the one who typed the recipient: the secrets go, and everything that a terminal obeys. */
export const plainWords = (text: string, redact: Redact) => oneLine(text, redact).slice(0, MAXIMUM_LENGTH)

const oneLine = (text: string, redact: Redact): string =>
  redact(text.slice(0, REDACTED_LENGTH))
    .slice(0, READ_LENGTH)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim()

/** E-mail addresses are found word by word: one pattern for both would read a long word again from each of its letters. */
const eachWord = /[^\s<>"'(),;:=]+/g
/** An address may also be percent-encoded. */
const isAddress = /.(?:@|%40)./i

/** A code is as long. */
const digitRuns = /\d{6,}/g

function personalPatterns(to: string, code: string | null): RegExp[] {
  const patterns = code === null ? [] : [spaced(code)]
  if (to === '') return patterns
  const at = to.lastIndexOf('@')
  // The name of a user may be a part of other words, such as `auth`.
  if (at === -1 && !/\d/.test(to))
    return [...patterns, new RegExp(`(?<![\\p{L}\\p{N}])${escapeRegExp(to)}(?![\\p{L}\\p{N}])`, 'giu')]
  // A number, with or without its country, in any grouping of its last digits.
  if (at === -1)
    return [
      ...patterns,
      new RegExp(`[+\\d(][\\d\\s().-]{0,20}${spaced(to.slice(-6)).source}`, 'g'),
      spaced(to.slice(-6)),
    ]
  const localPart = to.slice(0, at)
  const names = localPart.length < 3 ? [to] : [to, localPart]
  return [...patterns, ...names.map((name) => new RegExp(escapeRegExp(name), 'gi'))]
}

/** These digits, whatever separates them. */
const spaced = (digits: string) => new RegExp([...digits].map(escapeRegExp).join('[\\s().-]*'), 'g')

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
