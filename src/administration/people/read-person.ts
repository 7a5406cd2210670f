/** The body of a call that makes an account, or sets a contact: every field that is wrong is named. */

import { mergeGroups } from '../../domain/accounts/core/profile.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import { isMetadata } from '../../domain/accounts/core/set-fields.ts'
import { isByCommand, type Usernames } from '../../domain/accounts/core/usernames.ts'
import { checkPassword, createPasswordRules } from '../../domain/foundation/hashing/password.ts'
import { emailProblem, parseEmail } from '../../domain/foundation/identifiers/email.ts'
import type { Identifier } from '../../domain/foundation/identifiers/identifier.ts'
import { parseReachablePhone } from '../../domain/messages/delivery/reach.ts'
import { type AccountClaims, noAccount } from '../../domain/sessions/tokens/account-claims.ts'
import { claimsOfApplications } from '../../platform/config/applications.ts'
import { serviceName } from '../../platform/config/service-name.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError, type FieldError } from '../../texts/errors.ts'
import type { NewAccount } from '../directory/directory-schema.ts'

export interface ReaderNeeds extends Pick<Ground, 'config'> {
  roles: Roles
  usernames: Usernames
  accountClaims: AccountClaims
}

export type PersonReader = ReturnType<typeof createPersonReader>

export function createPersonReader({ roles, usernames, accountClaims, config }: ReaderNeeds) {
  const passwordRules = createPasswordRules(config, serviceName(config))

  function readContacts({ email: typedEmail, phone: typedPhone }: NewAccount, fields: FieldError[]) {
    const email = typedEmail ? parseEmail(typedEmail) : null
    const phone = typedPhone ? parseReachablePhone(typedPhone, config) : null
    if (typedEmail && !email) fields.push({ field: 'email', code: emailProblem(typedEmail) })
    if (typedPhone && !phone) fields.push({ field: 'phone', code: 'invalid_phone' })
    if (!typedEmail && !typedPhone) fields.push({ field: 'email', code: 'identifier_required' })
    const identifiers: Identifier[] = [email, phone].filter((one) => one !== null)
    return { email, phone, identifiers }
  }

  function read(body: NewAccount) {
    const fields: FieldError[] = []
    const contacts = readContacts(body, fields)
    const { password, metadata } = body
    if (typeof password === 'string')
      fields.push(...checkPassword(password, password, contacts.identifiers, passwordRules))
    if (!isMetadata(metadata)) fields.push({ field: 'metadata', code: 'invalid_value' })
    const { role_id: roleId, username } = body
    if (roleId !== undefined) fields.push(...refusedFields(() => roles.read('role_id', roleId)))
    if (username)
      fields.push(...refusedFields(() => usernames.read(username, { mayBeReserved: isByCommand() })))
    const [primary] = contacts.identifiers
    if (fields.length > 0 || !isMetadata(metadata) || primary === undefined)
      throw new AppError('validation_failed', { fields })
    return { ...contacts, primary, metadata }
  }

  /** Reads the fields of the account that become claims of tokens. Values that would not fit are refused. */
  function readFields(body: NewAccount, metadata: Record<string, unknown> = {}) {
    const { role_id: role, language = config.server.language } = body
    const fields = {
      roleId: role === undefined ? config.accounts.roleId : roles.read('role_id', role),
      accountableType: body.accountable_type ?? config.accounts.accountableType,
      accountableId: body.accountable_id ?? null,
      username: body.username ? usernames.read(body.username, { mayBeReserved: isByCommand() }) : null,
      groups: body.groups ? mergeGroups(null, body.groups) : null,
    }
    const after = { ...noAccount, ...fields, metadata, language }
    const field = accountClaims.findOverflow(null, after, claimsOfApplications(config))
    if (field !== null) throw new AppError('claims_too_large', { fields: [{ field, code: 'too_long' }] })
    return fields
  }

  function readContact(kind: Identifier['kind'], value: string) {
    const contact = kind === 'email' ? parseEmail(value) : parseReachablePhone(value, config)
    if (contact !== null) return contact
    const code = kind === 'email' ? emailProblem(value) : 'invalid_phone'
    throw new AppError('validation_failed', { fields: [{ field: 'value', code }] })
  }

  return { read, readFields, readContact }
}

/** The value is read again later: here its refusal joins those of the other fields. */
function refusedFields(read: () => unknown): FieldError[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof AppError && error.details.fields !== undefined) return error.details.fields
    throw error
  }
}
