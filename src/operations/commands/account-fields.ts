/** The fields of an account that commands set, and the account as they print it. */
import type { Command } from 'commander'
import type { ListedAccount } from '../../administration/directory/directory-schema.ts'
import { parseWholeNumber } from '../../platform/http/read-values.ts'
import { findUnkeepable, parseExactly } from '../../platform/http/request-body.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import { CommandFailure } from './failure.ts'
import { printJson, printRecord } from './print.ts'
import type { Options } from './service-call.ts'

export interface AccountFieldOptions {
  role?: string
  accountableType?: string
  accountableId?: string
  language?: string
  metadata?: string
}

export interface CarriedOptions {
  username?: string
  group?: string[]
  profile?: string
  endTokens?: boolean
}

export const addFieldOptions = (command: Command, metadata: string): Command =>
  command
    .option('--role <role>', 'the number of a role, or its name')
    .option('--accountable-type <type>', 'the kind of record that the account belongs to (accountable_type)')
    .option('--accountable-id <id>', 'the number of that record (accountable_id)')
    .option('--language <language>', 'the language of its messages')
    .option('--metadata <json>', metadata)

/** Returns the fields that were given, as bodies have them. */
export const fieldsOf = ({
  role,
  accountableType,
  accountableId,
  language,
  metadata,
}: AccountFieldOptions) => ({
  ...(role !== undefined && { role_id: parseWholeNumber(role) ?? role }),
  ...(accountableType !== undefined && { accountable_type: accountableType }),
  ...(accountableId !== undefined && { accountable_id: readNumber('--accountable-id', accountableId) }),
  ...(language !== undefined && { language }),
  ...(metadata !== undefined && { metadata: readObject('--metadata', metadata, '{"plan":"team"}') }),
})

/** Collects the values of an option that may be repeated. */
export const repeated = (value: string, before: string[] = []) => [...before, value]

const addPersonOptions = (
  command: Command,
  { username, group, profile }: { username: string; group: string; profile: string },
) =>
  command
    .option('--username <name>', username)
    .option('--group <name>', group, repeated)
    .option('--profile <json>', profile)

export const addNewPersonOptions = (command: Command): Command =>
  addPersonOptions(command, {
    username: 'its username, also a reserved one',
    group: 'a group that it is in; may be repeated',
    profile: 'fields of the profile as a JSON object',
  })

/** The options of `set`. */
export const addCarriedOptions = (command: Command): Command =>
  addPersonOptions(command, {
    username: 'its username, also a reserved one; "" takes it away',
    group: 'a group: +staff joins, -guests leaves, and names without a sign take the place of all',
    profile: 'fields of the profile as a JSON object; null removes one',
  }).option('--end-tokens', 'refuse the access tokens that were signed before this second')

export const carriedOf = ({ username, group, profile, endTokens }: CarriedOptions) => ({
  ...(username !== undefined && { username: username === '' ? null : username }),
  ...(group !== undefined && { groups: groupsOf(group) }),
  ...(profile !== undefined && { profile: readObject('--profile', profile, '{"name":"Ada"}') }),
  ...(endTokens && { end_tokens: true }),
})

function groupsOf(names: string[]): string[] | { add: string[]; remove: string[] } {
  const signed = (sign: string) => names.filter((name) => name.startsWith(sign)).map((name) => name.slice(1))
  const [add, remove] = [signed('+'), signed('-')]
  if (add.length + remove.length === 0) return names.filter((name) => name !== '')
  if (add.length + remove.length === names.length) return { add, remove }
  throw new CommandFailure(2, '--group takes names with + and -, or names without a sign, and not both')
}

function readNumber(option: string, text: string): number {
  const number = parseWholeNumber(text)
  if (number !== null) return number
  throw new CommandFailure(2, `${option} must be a whole number, not ${text}`)
}

function readObject(option: string, text: string, example: string): object {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {}
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommandFailure(2, `${option} must be a JSON object, such as ${example}`)
  const [lost] = [...findUnkeepable(value), ...findUnstorable(value).map(({ field }) => field)]
  if (lost !== undefined) throw new CommandFailure(2, `${option} cannot be kept as it is written: ${lost}`)
  return value
}

export function printAccount(account: ListedAccount, { json }: Options): void {
  if (json) printJson(account)
  else printRecord(account)
}
