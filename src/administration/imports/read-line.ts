/** Reads a line of an import: every field, what the fields say together, and what poterne allows. */
import { closest } from 'fastest-levenshtein'
import { Secret } from 'otpauth'
import { mergeGroups, mergeProfile, profileNames, readProfile } from '../../domain/accounts/core/profile.ts'
import { type Roles, roleBounds } from '../../domain/accounts/core/roles.ts'
import { isMetadata } from '../../domain/accounts/core/set-fields.ts'
import type { Usernames } from '../../domain/accounts/core/usernames.ts'
import { readForeignPassword } from '../../domain/credentials/foreign-digests/read-digest.ts'
import type { ProviderService } from '../../domain/credentials/providers/service.ts'
import { parseEmail } from '../../domain/foundation/identifiers/email.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import { parsePhone } from '../../domain/foundation/identifiers/phone.ts'
import { type AccountClaims, noAccount } from '../../domain/sessions/tokens/account-claims.ts'
import { claimsOfApplications } from '../../platform/config/applications.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Profile } from '../../platform/postgres/schema.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import { type ImportedIdentity, type ImportedLine, LineRefused, lineFields } from './line.ts'
import { readPasskey } from './passkey-line.ts'
import { booleanOf, type Fields, integerOf, listOf, objectOf, pastTimeOf, textOf } from './values.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Roles
  usernames: Usernames
  accountClaims: AccountClaims
  providers: Pick<ProviderService, 'issuerOf'>
  catalog: Pick<Catalog, 'tags'>
}

const names: readonly string[] = lineFields

export type LineReader = ReturnType<typeof createLineReader>

export function createLineReader(needs: Needs) {
  const { clock, config, roles, usernames, accountClaims, providers, catalog } = needs

  function readContacts(fields: Fields, now: Date) {
    const typed = { email: textOf(fields, 'email', 512), phone: textOf(fields, 'phone', 512) }
    const email = typed.email === null ? null : parseEmail(typed.email)
    const phone = typed.phone === null ? null : parsePhone(typed.phone, config.accounts.defaultCountry)
    if (typed.email !== null && email === null) throw new LineRefused('invalid_value', 'email')
    if (typed.phone !== null && phone === null) throw new LineRefused('invalid_value', 'phone')
    const verifiedAt = (field: string, has: boolean) => {
      const at = fields[field] === true ? now : pastTimeOf(fields, field, now)
      if (at !== null && !has) throw new LineRefused('invalid_value', field)
      return at
    }
    return {
      email: email?.destination ?? null,
      emailKey: email?.key ?? null,
      emailConfirmedAt: verifiedAt('email_verified_at', email !== null),
      phone: phone?.key ?? null,
      phoneConfirmedAt: verifiedAt('phone_verified_at', phone !== null),
    }
  }

  function readIdentity(value: unknown): ImportedIdentity {
    const fields = objectOf(value, 'identities', ['provider', 'issuer', 'subject', 'email'])
    const provider = textOf(fields, 'provider', 64, 'identities')
    const subject = textOf(fields, 'subject', 512, 'identities')
    const known = provider === null ? null : providers.issuerOf(provider)
    const issuer = textOf(fields, 'issuer', 512, 'identities') ?? known
    if (provider === null || subject === null || known === null || issuer === null)
      throw new LineRefused('invalid_value', 'identities')
    return { provider, issuer, subject, email: textOf(fields, 'email', 512, 'identities') }
  }

  function readRole(value: unknown): number {
    if (value === undefined) return config.accounts.roleId
    const isNumber =
      typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= roleBounds.maximum
    if (!isNumber && (typeof value !== 'string' || value.length > 64))
      throw new LineRefused('invalid_value', 'role_id')
    return roles.read('role_id', value as number | string)
  }

  function readUsername(fields: Fields): string | null {
    const typed = textOf(fields, 'username', 100)
    return typed === null ? null : usernames.read(typed, { mayBeReserved: false })
  }

  function readLanguage(fields: Fields): Language {
    const language = textOf(fields, 'language', 20)
    if (language === null) return config.server.language
    if (!catalog.tags.includes(language as Language)) throw new LineRefused('invalid_value', 'language')
    return language as Language
  }

  /** What becomes claims of tokens, and must fit. */
  function readCarried(fields: Fields) {
    const { metadata, groups } = fields
    if (!isMetadata(metadata)) throw new LineRefused('invalid_value', 'metadata')
    if (groups !== undefined && !(Array.isArray(groups) && groups.every((each) => typeof each === 'string')))
      throw new LineRefused('invalid_value', 'groups')
    const carried = {
      roleId: readRole(fields.role_id),
      accountableType: textOf(fields, 'accountable_type', 100) ?? config.accounts.accountableType,
      accountableId: integerOf(fields, 'accountable_id'),
      username: readUsername(fields),
      groups: groups === undefined ? null : mergeGroups(null, groups as string[]),
      language: readLanguage(fields),
    }
    const after = { ...noAccount, ...carried, metadata: metadata ?? {} }
    const field = accountClaims.findOverflow(null, after, claimsOfApplications(config))
    if (field !== null) throw new LineRefused('claims_too_large', field)
    return { ...carried, metadata }
  }

  function readPassword(value: unknown) {
    if (value === undefined) return null
    const read = readForeignPassword(value, config.password)
    if ('refused' in read) throw new LineRefused(read.refused, 'password')
    return read
  }

  function readWhole(fields: Fields): ImportedLine {
    const now = clock.now()
    const time = (field: string) => pastTimeOf(fields, field, now)
    const contacts = readContacts(fields, now)
    const identities = listOf(fields, 'identities', 20).map(readIdentity)
    if (contacts.email === null && contacts.phone === null && identities.length === 0)
      throw new LineRefused('no_contact', 'email')
    const verifiedAt = contacts.emailConfirmedAt ?? contacts.phoneConfirmedAt
    const isConfirmed = verifiedAt !== null || identities.length > 0
    const confirmedAt = time('account_confirmed_at')
    const line = {
      ...contacts,
      uuid: uuidOf(fields),
      waitingFor: isConfirmed ? null : (contacts.emailKey ?? contacts.phone),
      accountConfirmedAt: isConfirmed ? (confirmedAt ?? verifiedAt ?? now) : null,
      createdAt: time('created_at') ?? now,
      password: readPassword(fields.password),
      ...readCarried(fields),
      profile: readOwn(fields.profile),
      lockedAt: time('locked_at'),
      lockedReason: textOf(fields, 'locked_reason', 500),
      termsVersion: textOf(fields, 'terms_version', 64),
      termsAcceptedAt: time('terms_accepted_at'),
      signInCount: integerOf(fields, 'sign_in_count', 2 ** 31 - 1) ?? 0,
      currentSignInAt: time('current_sign_in_at'),
      lastSignInAt: time('last_sign_in_at'),
      totpSecret: readTotp(fields.totp),
      identities,
      passkeys: listOf(fields, 'passkeys', 100).map((each) => readPasskey(each, now, config.passkeys.rpId)),
    }
    const asked = booleanOf(fields, 'two_factor_enabled')
    if (!isConfirmed) requireNothingShared(fields)
    requireSecondFactor(line, asked)
    return { ...line, twoFactorEnabled: asked ?? line.totpSecret !== null }
  }

  return {
    /** Throws LineRefused. */
    read(record: Record<string, unknown>): ImportedLine {
      const unknown = Object.keys(record).find((name) => !names.includes(name))
      if (unknown !== undefined) throw new LineRefused('unknown_field', closest(unknown.slice(0, 64), names))
      const fields = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
      try {
        return readWhole(fields)
      } catch (error) {
        const [first] = error instanceof AppError ? (error.details.fields ?? []) : []
        if (first === undefined) throw error
        throw new LineRefused('invalid_value', first.field.split('.')[0])
      }
    },
  }
}

function readOwn(value: unknown): Profile | null {
  if (value === undefined) return null
  const fields = objectOf(value, 'profile', profileNames)
  if (!Object.values(fields).every((each) => typeof each === 'string'))
    throw new LineRefused('invalid_value', 'profile')
  return mergeProfile(null, readProfile(fields as Record<string, string>, { mayHavePicture: true }))
}

function readTotp(value: unknown): string | null {
  if (value === undefined) return null
  const secret = textOf(objectOf(value, 'totp', ['secret']), 'secret', 256, 'totp')
  const plain = secret?.replace(/[\s=-]/g, '').toUpperCase() ?? ''
  // 16 characters of base32 are 80 bits.
  if (!/^[A-Z2-7]{16,200}$/.test(plain)) throw new LineRefused('invalid_value', 'totp')
  return Secret.fromBase32(plain).base32
}

/** Whoever proves the contact would share it with whoever claimed it. */
function requireNothingShared(fields: Fields): void {
  for (const field of ['totp', 'passkeys', 'account_confirmed_at'])
    if (Array.isArray(fields[field]) ? (fields[field] as unknown[]).length > 0 : fields[field] !== undefined)
      throw new LineRefused('invalid_value', field)
  if (fields.two_factor_enabled === true) throw new LineRefused('invalid_value', 'two_factor_enabled')
}

type Factors = Pick<
  ImportedLine,
  'totpSecret' | 'passkeys' | 'password' | 'emailConfirmedAt' | 'phoneConfirmedAt'
>

/** Verified contacts are a second factor beside a password alone. */
function requireSecondFactor(line: Factors, asked: boolean | null): void {
  const byContact = line.password !== null && (line.emailConfirmedAt ?? line.phoneConfirmedAt) !== null
  const has = line.totpSecret !== null || line.passkeys.length > 0 || byContact
  const isWrong = asked === true ? !has : asked === false && line.totpSecret !== null
  if (isWrong) throw new LineRefused('invalid_value', 'two_factor_enabled')
}

function uuidOf(fields: Fields): string | null {
  const uuid = textOf(fields, 'uuid', 36)
  if (uuid !== null && !isUuid(uuid)) throw new LineRefused('invalid_value', 'uuid')
  return uuid?.toLowerCase() ?? null
}
