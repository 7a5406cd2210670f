/** The account as it is stored, and the record that clients see: 24 fields in a fixed order. */
import type { Config } from '../../../platform/config/types.ts'
import type { ValuesOf } from '../../../platform/postgres/statement.ts'
import { maskDigest } from '../../foundation/hashing/digest.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { accountRow } from './account-sql.ts'
import type { Roles } from './roles.ts'

/** A row of the table `accounts`: its columns, and what each of them means, are in platform/postgres/schema.ts. */
export type Account = ValuesOf<typeof accountRow>

/** An account and the session acting for it. If the session ends before a change commits, the change is refused. */
export interface AccountSession {
  account: Account
  sessionId: string
}

export type AccountRecord = ReturnType<typeof accountRecord>

const iso = (time: Date | null) => time?.toISOString() ?? null

/** `password_digest` keeps its type and shape; salt and hash are shown only if the configuration says "full". */
export function accountRecord(account: Account, passwordDigest: Config['accounts']['passwordDigest']) {
  return {
    failed_attempts: account.failedAttempts,
    id: account.id,
    uuid: account.uuid,
    email: account.email,
    phone: account.phone,
    password_digest:
      passwordDigest === 'full' ? (account.passwordDigest ?? '') : maskDigest(account.passwordDigest),
    accountable_type: account.accountableType,
    accountable_id: account.accountableId ?? account.id,
    role_id: account.roleId,
    remember_created_at: iso(account.rememberCreatedAt),
    sign_in_count: account.signInCount,
    current_sign_in_at: iso(account.currentSignInAt),
    last_sign_in_at: iso(account.lastSignInAt),
    current_sign_in_ip: account.currentSignInIp,
    last_sign_in_ip: account.lastSignInIp,
    account_confirmed_at: iso(account.accountConfirmedAt),
    account_confirmed: account.accountConfirmedAt !== null,
    unlock_token: account.unlockToken,
    locked_at: iso(account.lockedAt),
    two_factor_enabled: account.twoFactorEnabled,
    provider: account.provider,
    provider_uid: account.providerUid,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  }
}

export type CarriedRecord = ReturnType<typeof carriedRecord>

/** What the account carries beside its 24 fields. */
export function carriedRecord(
  { profile, username, groups, roleId }: Pick<Account, 'profile' | 'username' | 'groups' | 'roleId'>,
  roles: Pick<Roles, 'nameOf'>,
) {
  return { profile: profile ?? {}, username, groups: groups ?? [], role: roles.nameOf(roleId) }
}

/** The account's contact of that kind, verified or claimed; null if it has none. */
export function contactOf(account: Account, kind: Identifier['kind']): string | null {
  return kind === 'email' ? account.email : account.phone
}

export interface Contact {
  channel: 'email' | 'sms'
  destination: string
}

/** The contacts to which codes for this account may go: the verified ones, the named kind first. */
export function verifiedContacts(
  account: Pick<Account, 'email' | 'emailConfirmedAt' | 'phone' | 'phoneConfirmedAt'>,
  first: Identifier['kind'] = 'email',
): Contact[] {
  const contacts: Contact[] = []
  if (account.email !== null && account.emailConfirmedAt !== null) {
    contacts.push({ channel: 'email', destination: account.email })
  }
  if (account.phone !== null && account.phoneConfirmedAt !== null) {
    contacts.push({ channel: 'sms', destination: account.phone })
  }
  return first === 'phone' ? contacts.reverse() : contacts
}

/** The verified identifiers of the account in comparable form, the e-mail address first. */
export function verifiedKeys(account: Account): string[] {
  const keys = [account.emailConfirmedAt && account.emailKey, account.phoneConfirmedAt && account.phone]
  return keys.filter((key) => key !== null)
}

/** Whether the account has verified this identifier, so that nobody else can have it. */
export function hasVerified(account: Account, { kind, key }: Identifier): boolean {
  return kind === 'email'
    ? account.emailKey === key && account.emailConfirmedAt !== null
    : account.phone === key && account.phoneConfirmedAt !== null
}

export const channelOf = (kind: Identifier['kind']): 'email' | 'sms' => (kind === 'email' ? 'email' : 'sms')
