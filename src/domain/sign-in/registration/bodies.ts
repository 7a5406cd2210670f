/** The bodies of registration and confirmation, or everything that is wrong with them. */

import { serviceName } from '../../../platform/config/service-name.ts'
import type { Config } from '../../../platform/config/types.ts'
import { AppError, type FieldError } from '../../../texts/errors.ts'
import type { EntryBody } from '../../accounts/admission/entry-schema.ts'
import { mergeProfile, type Profile, type ProfilePatch, readProfile } from '../../accounts/core/profile.ts'
import { checkPassword, createPasswordRules } from '../../foundation/hashing/password.ts'
import { type Email, emailProblem, parseEmail } from '../../foundation/identifiers/email.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Phone } from '../../foundation/identifiers/phone.ts'
import { parseReachablePhone } from '../../messages/delivery/reach.ts'

interface RegisterBody {
  email?: string | null | undefined
  phone?: string | null | undefined
  /** May be left out where accounts may be without one. */
  password?: string | undefined
  confirmation?: string | undefined
  profile?: ProfilePatch | null | undefined
}

export type RegistrationBody = RegisterBody & EntryBody

export interface ConfirmBody extends EntryBody {
  identifier: string
  otp: string
  password?: string | null | undefined
  signsIn?: boolean | null | undefined
  profile?: ProfilePatch | null | undefined
}

/** The contacts of a registration, and the one to which its code goes. */
export interface Contacts {
  email: Email | null
  phone: Phone | null
  primary: Identifier
}

export type BodyReader = ReturnType<typeof createBodyReader>

export function createBodyReader(config: Config) {
  const passwordRules = createPasswordRules(config, serviceName(config))
  const maybeWithout = config.accounts.password === 'optional'

  function checkNewPassword(
    { password, confirmation }: RegisterBody,
    identifiers: Identifier[],
  ): FieldError[] {
    if (password === undefined && confirmation === undefined && maybeWithout) return []
    if (password !== undefined && confirmation !== undefined)
      return checkPassword(password, confirmation, identifiers, passwordRules)
    const missing = { password, password_confirmation: confirmation }
    return Object.entries(missing)
      .filter(([, value]) => value === undefined)
      .map(([field]) => ({ field, code: 'required' as const }))
  }

  /** Everything that is wrong with the body, or its identifiers; the code goes to the first of them. */
  function readContacts(body: RegisterBody) {
    const fields: FieldError[] = []
    const email = body.email ? parseEmail(body.email) : null
    const phone = body.phone ? parseReachablePhone(body.phone, config) : null
    if (body.email && !email) fields.push({ field: 'email', code: emailProblem(body.email) })
    if (body.phone && !phone) fields.push({ field: 'phone', code: 'invalid_phone' })
    if (!body.email && !body.phone) fields.push({ field: 'email', code: 'identifier_required' })
    const identifiers = [email, phone].filter((one) => one !== null)
    fields.push(...checkNewPassword(body, identifiers))
    const [primary] = identifiers
    if (fields.length > 0 || primary === undefined) throw new AppError('validation_failed', { fields })
    return { email, phone, primary, identifiers }
  }

  /**
   * The password that is sent with a code, if there is one: everything that is wrong with it is reported before the
   * code is counted.
   */
  function readNamedPassword({ password, signsIn }: ConfirmBody, identifier: Identifier): string | null {
    const fields: FieldError[] =
      typeof password === 'string'
        ? checkPassword(password, password, [identifier], passwordRules)
        : signsIn && !maybeWithout
          ? [{ field: 'password', code: 'required' }]
          : []
    if (fields.length > 0) throw new AppError('validation_failed', { fields })
    return password ?? null
  }

  return { readContacts, readNamedPassword }
}

export const newProfile = (typed: ProfilePatch | null | undefined): Profile | null =>
  typed ? mergeProfile(null, readProfile(typed, { mayHavePicture: false })) : null
