/**
 * Reads the values of options before anything else is done. A value that the command line alone can refuse ends with
 * exit code 2, and the refusal names what is taken. The service checks what depends on its configuration.
 */
import { isUuid, parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import { isDomain } from '../../platform/config/formats.ts'
import { parseDuration } from '../../platform/duration.ts'
import { parseAddressRange } from '../../platform/http/address-ranges.ts'
import { parseTime, parseWholeNumber } from '../../platform/http/read-values.ts'
import { CommandFailure } from './failure.ts'

const readerOf = (option: string, expected: string, isRight: (text: string) => boolean) => (text: string) => {
  if (isRight(text)) return text
  throw new CommandFailure(2, `${option} must be ${expected}, not ${text}`)
}

/** An option that takes one of a few values, which its help and its refusal name. */
export const oneOf = (option: string, values: readonly string[]) =>
  readerOf(option, listed(values), (text) => values.includes(text))

export const listed = (values: readonly string[]): string =>
  `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`

export const timeOf = (option: string) =>
  readerOf(option, 'a time such as 2026-07-01 or 2026-07-01T12:00:00Z', (text) => parseTime(text) !== null)

const SHORTEST = '1m'

export const durationOf = (option: string, longest: string) =>
  readerOf(option, `a duration from ${SHORTEST} to ${longest}, such as 12h`, (text) => {
    const ms = parseDuration(text) ?? 0
    return ms >= parseDuration(SHORTEST)! && ms <= parseDuration(longest)!
  })

export const wholeNumberOf = (option: string, { minimum, maximum }: { minimum: number; maximum?: number }) =>
  readerOf(
    option,
    `a whole number from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`,
    (text) => parseWholeNumber(text, { minimum, ...(maximum !== undefined && { maximum }) }) !== null,
  )

/** The values of an option that may be repeated. */
export const eachOf =
  (read: (text: string) => string) =>
  (text: string, before: string[] = []) => [...before, read(text)]

export const addressRangeOf = (option: string) =>
  readerOf(
    option,
    'an address or a block such as 203.0.113.7 or 203.0.113.0/24',
    (text) => parseAddressRange(text) !== null,
  )

export const versionOf = (option: string) =>
  readerOf(option, 'a version such as 1.2.3', (text) => /^\d+\.\d+\.\d+/.test(text))

const isEmail = (text: string) => parseIdentifier(text, '')?.kind === 'email'

/** The country of a number without one stands in the configuration. */
const mayBePhone = (text: string) =>
  parseIdentifier(text, '')?.kind === 'phone' || /^[^+\p{L}@][^\p{L}@]*$/u.test(text)

export const emailOf = (option: string) =>
  readerOf(option, 'an e-mail address such as ada@example.com', isEmail)

export const phoneOf = (option: string) => readerOf(option, 'a phone number such as +33612345678', mayBePhone)

export const mailDomainOf = (option: string) => readerOf(option, 'a domain such as example.com', isDomain)

/** The identifier of an account, or its uuid. */
export const identifierOf = (argument: string) =>
  readerOf(
    argument,
    'an e-mail address, a phone number or a uuid',
    (text) => isUuid(text) || isEmail(text) || mayBePhone(text),
  )

/** The options that every command takes; `run` adds them where a command does not describe its own. */
export const jsonOption = ['--json', 'print JSON, for programs'] as const
export const yesOption = ['--yes', 'do not ask for confirmation'] as const

export interface CommonOptions {
  json?: boolean
  yes?: boolean
}
