/** A line of an import, as it was read, and the names under which a line or an account may be there already. */
import type { ForeignPassword } from '../../domain/credentials/foreign-digests/foreign-password.ts'
import { parseEmail } from '../../domain/foundation/identifiers/email.ts'
import { parsePhone } from '../../domain/foundation/identifiers/phone.ts'
import type { Profile } from '../../platform/postgres/schema.ts'
import type { Language } from '../../texts/languages.ts'

/** The fields of a line: what an import reads and an export writes. */
export const lineFields = [
  ...['email', 'phone', 'email_verified_at', 'phone_verified_at', 'uuid', 'password'],
  ...['role_id', 'accountable_type', 'accountable_id', 'username', 'groups', 'profile'],
  ...['metadata', 'language', 'locked_at', 'locked_reason', 'terms_version', 'terms_accepted_at'],
  ...['sign_in_count', 'current_sign_in_at', 'last_sign_in_at', 'created_at', 'account_confirmed_at', 'totp'],
  ...['two_factor_enabled', 'identities', 'passkeys'],
] as const
export type LineField = (typeof lineFields)[number]

export interface ImportedLine {
  /** Null: one is made. */
  uuid: string | null
  email: string | null
  emailKey: string | null
  emailConfirmedAt: Date | null
  phone: string | null
  phoneConfirmedAt: Date | null
  /** The contact that an account waits for which nobody confirmed. */
  waitingFor: string | null
  accountConfirmedAt: Date | null
  createdAt: Date
  password: ForeignPassword | null
  roleId: number
  accountableType: string
  accountableId: number | null
  username: string | null
  groups: string[] | null
  profile: Profile | null
  metadata: Record<string, unknown> | undefined
  language: Language
  lockedAt: Date | null
  lockedReason: string | null
  termsVersion: string | null
  termsAcceptedAt: Date | null
  signInCount: number
  currentSignInAt: Date | null
  lastSignInAt: Date | null
  twoFactorEnabled: boolean
  totpSecret: string | null
  identities: ImportedIdentity[]
  passkeys: ImportedPasskey[]
}

export interface ImportedIdentity {
  provider: string
  issuer: string
  subject: string
  email: string | null
}

/** As an export writes it. */
export interface ImportedPasskey {
  credentialId: string
  publicKey: string
  userHandle: string
  counter: number
  name: string
  createdAt: Date
  lastUsedAt: Date | null
  backupEligible: boolean
  backedUp: boolean
  transports: string[]
  aaguid: string
}

export type RefusalCode =
  | 'not_json'
  | 'too_long'
  | 'unknown_field'
  | 'invalid_value'
  | 'no_contact'
  | 'taken'
  | 'erased'
  | 'twice_in_file'
  | 'unsupported_hash'
  | 'hash_too_costly'
  | 'claims_too_large'

/** Thrown by the reader of a line, and caught where its result is made. */
export class LineRefused extends Error {
  constructor(
    readonly code: RefusalCode,
    readonly field?: string,
  ) {
    super(code)
  }
}

/** One line for people: `line 3: invalid_value (email)`. */
export const describeRefusal = (line: number, { code, field }: { code?: string; field?: string }): string =>
  `line ${line}: ${code}${field ? ` (${code === 'unknown_field' ? `the nearest one is ${field}` : field})` : ''}`

/** The name of a thing that only one account may have, and the field that says it. */
export interface LineKey<Key = string> {
  field: string
  key: Key
  /** A contact that the line does not verify is `waiting`, or `claimed` where others may have it unless they verified it. */
  as: 'held' | 'waiting' | 'claimed'
}

/** The contacts of a line as they are compared. */
interface Contacts {
  email: string | null
  phone: string | null
}

const textIn = (record: Record<string, unknown>, field: string) =>
  typeof record[field] === 'string' ? (record[field] as string) : ''

export const comparedContacts = (record: Record<string, unknown>, defaultCountry: string): Contacts => ({
  email: parseEmail(textIn(record, 'email'))?.key ?? null,
  phone: parsePhone(textIn(record, 'phone'), defaultCountry)?.key ?? null,
})

/** Read from the line as it came, so that the command, which has no store, finds the same ones. */
export function keysOf(record: Record<string, unknown>, { email, phone }: Contacts): LineKey[] {
  // A line with more is refused.
  const list = (field: string) =>
    Array.isArray(record[field]) ? (record[field] as unknown[]).slice(0, 100) : []
  const identities = list('identities')
  const isConfirmed = Boolean(record.email_verified_at || record.phone_verified_at || identities.length > 0)
  const contact = (field: string, name: string | null, verified: unknown, mayWait: boolean) =>
    named(field, name ?? '', verified ? 'held' : mayWait && !isConfirmed ? 'waiting' : 'claimed')
  return [
    named('uuid', textIn(record, 'uuid').toLowerCase()),
    contact('email', email, record.email_verified_at, true),
    contact('phone', phone, record.phone_verified_at, email === null),
    named('username', textIn(record, 'username').toLowerCase()),
    ...identities.map((each) => named('identities', joined(each, ['provider', 'issuer', 'subject']))),
    ...list('passkeys').map((each) => named('passkeys', joined(each, ['id']))),
  ].flat()
}

const named = (field: string, name: string, as: LineKey['as'] = 'held'): LineKey[] =>
  name === '' ? [] : [{ field, key: `${field} ${name}`, as }]

function joined(value: unknown, fields: string[]): string {
  const record = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return fields.map((field) => String(record[field] ?? '')).join(' ')
}

/** Of lines that name the same, the first one that is not refused has it; null where no earlier line has one of the names. */
export function findTwice<Key>(keys: LineKey<Key>[], lines: { get(key: Key): number | undefined }) {
  for (const { field, key, as } of keys) {
    const kept = lines.get(key)
    if (kept !== undefined && (kept >= 0 || as !== 'claimed'))
      return { field, line: kept >= 0 ? kept : ~kept }
  }
  return null
}

/** Keeps the names of a line that was not refused. The line of a contact that waits is kept below zero. */
export function keepNames<Key>(
  keys: LineKey<Key>[],
  line: number,
  lines: { set(key: Key, line: number): unknown },
): void {
  for (const { key, as } of keys) if (as !== 'claimed') lines.set(key, as === 'held' ? line : ~line)
}

const digest = Buffer.alloc(32)

/** 53 bits in the place of the key, none of them 0 alone, so that a command can keep those of every line. */
export function shortKey(key: string): number {
  Bun.CryptoHasher.hash('sha256', key, digest)
  return digest.readUInt32BE(0) * 2 ** 21 + (digest.readUInt32BE(4) >>> 11) + 1
}
