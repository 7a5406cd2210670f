/** A line of an import, as it was read, and the names under which a line or an account may be there already. */
import type { ForeignPassword } from '../../domain/credentials/foreign-digests/foreign-password.ts'
import { parseEmail } from '../../domain/foundation/identifiers/email.ts'
import { parsePhone } from '../../domain/foundation/identifiers/phone.ts'
import type { Profile } from '../../platform/postgres/schema.ts'
import type { Language } from '../../texts/languages.ts'

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
export interface LineKey {
  field: string
  key: string
  /** A contact that the line does not verify: others may have it as well, unless they verified it. */
  isClaim?: true
}

/** Read from the line as it came, so that the command, which has no store, finds the same ones. */
export function keysOf(record: Record<string, unknown>, defaultCountry: string): LineKey[] {
  const text = (field: string) => (typeof record[field] === 'string' ? (record[field] as string) : '')
  // A line with more is refused.
  const list = (field: string) =>
    Array.isArray(record[field]) ? (record[field] as unknown[]).slice(0, 100) : []
  const email = parseEmail(text('email'))?.key
  const phone = parsePhone(text('phone'), defaultCountry)?.key
  const identities = list('identities')
  const contact = (field: string, key: string | undefined, verified: unknown, waits: boolean): LineKey[] => {
    if (key === undefined) return []
    const proved = { field, key: `${key} verified` }
    if (verified) return [{ field, key }, proved]
    return waits
      ? [
          { field, key },
          { ...proved, isClaim: true },
        ]
      : [{ ...proved, isClaim: true }]
  }
  const isConfirmed = Boolean(record.email_verified_at || record.phone_verified_at || identities.length > 0)
  return [
    { field: 'uuid', key: text('uuid').toLowerCase() },
    ...contact('email', email, record.email_verified_at, !isConfirmed),
    ...contact('phone', phone, record.phone_verified_at, !isConfirmed && email === undefined),
    { field: 'username', key: text('username').toLowerCase() },
    ...identities.map((each) => ({
      field: 'identities',
      key: joined(each, ['provider', 'issuer', 'subject']),
    })),
    ...list('passkeys').map((each) => ({ field: 'passkeys', key: joined(each, ['id']) })),
  ].filter(({ key }) => key !== '')
}

function joined(value: unknown, fields: string[]): string {
  const record = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return fields.map((field) => String(record[field] ?? '')).join(' ')
}

const digest = Buffer.alloc(32)

/** 53 bits in the place of the key, so that a command can keep those of every line. */
export function shortKey({ field, key }: LineKey): number {
  Bun.CryptoHasher.hash('sha256', `${field} ${key}`, digest)
  return digest.readUInt32BE(0) * 2 ** 21 + (digest.readUInt32BE(4) >>> 11)
}
