/**
 * Registration and confirmation: who proves an identifier owns it. Answers, work and time are the same whether the
 * identifier is new, waits for its confirmation, or is somebody's already.
 */
import { randomUUID } from 'node:crypto'
import { AppError, type FieldError } from '../../errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import type { ServerSecret } from '../../platform/secret.ts'
import type { Language } from '../../texts/languages.ts'
import { type Account, channelOf, contactOf } from '../accounts/account.ts'
import type { AccountStore } from '../accounts/store.ts'
import type { CodeBinding, CodeService } from '../codes/service.ts'
import type { Outbox } from '../delivery/outbox.ts'
import { checkPassword, normalizePassword } from '../hashing/password.ts'
import type { HashService } from '../hashing/service.ts'
import { emailProblem, parseEmail } from '../identifiers/email.ts'
import { type Identifier, readIdentifier } from '../identifiers/identifier.ts'
import { parsePhone } from '../identifiers/phone.ts'
import type { LimitService } from '../limits/service.ts'

export interface RegisterBody {
  email?: string | null | undefined
  phone?: string | null | undefined
  password: string
  password_confirmation: string
}

/** Who asks. */
interface Client {
  addressBucket: string
  language: Language
}

export interface RegistrationService {
  /** Throws `validation_failed`, `country_not_allowed`, `too_many_requests`, `identifier_taken`, `server_busy`. */
  register(body: RegisterBody, client: Client): Promise<{ channel: 'email' | 'sms' }>
  /** Throws `invalid_code`, `too_many_attempts`, `too_many_requests`. */
  confirm(body: { identifier: string; otp: string }, client: Client): Promise<{ hasPassword: boolean }>
  /** Says nothing about the identifier. Throws `too_many_requests`, `country_not_allowed`. */
  resend(body: { identifier: string }, client: Pick<Client, 'addressBucket'>): Promise<void>
}

interface Options {
  accounts: AccountStore
  codes: CodeService
  limits: LimitService
  hashing: HashService
  outbox: Outbox
  secret: ServerSecret
  clock: Clock
  config: Pick<Config, 'accounts' | 'password'>
}

export function createRegistrationService(options: Options): RegistrationService {
  const { accounts, codes, limits, hashing, outbox, secret, clock, config } = options
  const { defaultCountry, accountableType, roleId, revealExisting } = config.accounts

  /** All that is wrong with a body at once, or its identifiers: the first one is where the code goes. */
  function read(body: RegisterBody) {
    const fields: FieldError[] = []
    const email = body.email ? parseEmail(body.email) : null
    const phone = body.phone ? parsePhone(body.phone, defaultCountry) : null
    if (body.email && !email) fields.push({ field: 'email', code: emailProblem(body.email) })
    if (body.phone && !phone) fields.push({ field: 'phone', code: 'invalid_phone' })
    if (!body.email && !body.phone) fields.push({ field: 'email', code: 'identifier_required' })
    const identifiers = [email, phone].filter((one) => one !== null)
    fields.push(
      ...checkPassword(body.password, body.password_confirmation, identifiers, config.password.minimumLength),
    )
    const [primary] = identifiers
    if (fields.length > 0 || primary === undefined) throw new AppError('validation_failed', { fields })
    return { email, phone, primary, identifiers }
  }

  /**
   * Two bytes of a keyed hash: enough to tell two strangers' passwords apart (one in 65,536 goes unnoticed), too
   * little to search for a password with.
   */
  function passwordTag(contact: Identifier | null, password: string): Uint8Array | null {
    const form = normalizePassword(password)
    return contact && secret.tag('waiting password', contact.key, form.ok ? form.password : '').subarray(0, 2)
  }

  const confirmationOf = (account: Account | null, identifier: Identifier): CodeBinding => ({
    purpose: 'confirmation',
    group: 'stranger',
    subject: account?.uuid ?? codes.decoySubject(identifier.key),
    destination: (account && contactOf(account, identifier.kind)) ?? identifier.key,
  })

  return {
    async register(body, { addressBucket, language }) {
      const { email, phone, primary, identifiers } = read(body)
      await limits.charge([
        ...limits.registrationCharges(addressBucket),
        ...limits.codeCharges(primary, 'confirmation'),
      ])
      const passwordDigest = await hashing.hash(body.password)
      if (revealExisting && (await accounts.anyVerified(identifiers))) throw new AppError('identifier_taken')
      const codeSeed = codes.createSeed()
      const { uuid, messageId } = await accounts.register(
        {
          uuid: randomUUID(),
          email,
          phone,
          passwordDigest,
          emailTag: passwordTag(email, body.password),
          phoneTag: passwordTag(phone, body.password),
          address: addressBucket,
          language,
          accountableType,
          roleId,
          codeSeed,
        },
        clock.now(),
      )
      const { destination } = primary
      await outbox.putCode(
        { purpose: 'confirmation', group: 'stranger', subject: uuid, destination },
        codeSeed,
        messageId,
      )
      return { channel: channelOf(primary.kind) }
    },

    async confirm({ identifier: typed, otp }, { addressBucket }) {
      await limits.charge(limits.verificationCharges(addressBucket))
      const identifier = readIdentifier(typed, defaultCountry)
      const account = await accounts.findByIdentifier(identifier)
      await codes.takeNamed(confirmationOf(account, identifier), otp, identifier.key)
      const confirmed = account && (await accounts.confirm(account, identifier, clock.now()))
      if (!confirmed) throw new AppError('invalid_code')
      return confirmed
    },

    async resend({ identifier: typed }, { addressBucket }) {
      const identifier = readIdentifier(typed, defaultCountry)
      await limits.charge(limits.codeCharges(identifier, 'confirmation', addressBucket))
      const account = await accounts.findByIdentifier(identifier)
      const waiting = account !== null && account.accountConfirmedAt === null
      await outbox.sendCode(
        confirmationOf(account, identifier),
        waiting ? { channel: channelOf(identifier.kind), language: account.language } : null,
      )
    },
  }
}
