/** The fields of an account that commands set, and the account as they print it. */
import type { Command } from 'commander'
import { parseWholeNumber } from '../platform/http/read-values.ts'
import type { Options } from './door.ts'
import { CommandFailure } from './failure.ts'
import { printJson, printRecord } from './print.ts'

export type Account = Record<string, unknown> & {
  uuid: string
  email: string | null
  phone: string | null
  account_confirmed: boolean
  locked_at: string | null
  role_id: number
  created_at: string
}

export interface FieldOptions {
  role?: string
  accountableType?: string
  accountableId?: string
  language?: string
  metadata?: string
}

export const addFieldOptions = (command: Command, metadata: string): Command =>
  command
    .option('--role <id>', 'role_id')
    .option('--accountable-type <type>', 'accountable_type')
    .option('--accountable-id <id>', 'accountable_id')
    .option('--language <language>', 'the language of its messages')
    .option('--metadata <json>', metadata)

/** Those that were given, as bodies have them. */
export const fieldsOf = ({ role, accountableType, accountableId, language, metadata }: FieldOptions) => ({
  ...(role !== undefined && { role_id: readNumber('--role', role) }),
  ...(accountableType !== undefined && { accountable_type: accountableType }),
  ...(accountableId !== undefined && { accountable_id: readNumber('--accountable-id', accountableId) }),
  ...(language !== undefined && { language }),
  ...(metadata !== undefined && { metadata: readObject(metadata) }),
})

function readNumber(option: string, text: string): number {
  const number = parseWholeNumber(text)
  if (number !== null) return number
  throw new CommandFailure(2, `${option} must be a whole number, not ${text}`)
}

function readObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  throw new CommandFailure(2, '--metadata must be a JSON object, such as {"plan":"team"}')
}

export function printAccount(account: Account, { json }: Options): void {
  if (json) printJson(account)
  else printRecord(account)
}
