/**
 * The limits of the service by name (docs/decisions/limits-by-who-asks.md). Each method counts what is about to be done, in one step for all
 * the counters it touches, and throws `too_many_requests` with the seconds to wait. Identifiers stand in a counter's
 * name as keyed tags; what does not exist is counted like what does.
 */
import { AppError } from '../../errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import type { ServerSecret } from '../../platform/secret.ts'
import type { Identifier, Phone } from '../identifiers/identifier.ts'
import type { Charge, LimitStore, Rule } from './store.ts'

export interface LimitService {
  /**
   * A code is about to go to a destination; for a phone also its country, prefix and the day's budget, which nobody
   * may use up alone: `addressBucket` is whoever asks without having shown who they are. Throws
   * `country_not_allowed` and `channel_not_available`.
   */
  codeCharges(destination: Identifier, purpose: string, addressBucket?: string): Charge[]
  /** An account asks to have another contact, whichever: nobody is sent codes by the hundred from one account. */
  contactChangeCharges(accountUuid: string): Charge[]
  registrationCharges(addressBucket: string): Charge[]
  loginCharges(addressBucket: string): Charge[]
  verificationCharges(addressBucket: string): Charge[]
  /** Options of a passkey, which cost next to nothing, and tries with one. */
  passkeyOptionCharges(addressBucket: string): Charge[]
  passkeyAttemptCharges(addressBucket: string): Charge[]
  /** A password is about to be judged; a known device has a counter of its own. `clear` it when it was right. */
  failureCharge(identifierKey: string, knownDevice: string | null): Charge
  /**
   * A code of the second step is about to be compared: the seconds to wait, 0 when it may. The day's budget bounds
   * guesses by the day, this one those in a row (NIST SP 800-63B-4, 3.2.2: at most 100): then one a day, and ever
   * fewer.
   */
  countGuess(subject: string): Promise<number>
  /** It was right. */
  clearGuesses(subject: string): Promise<void>
  /** A recovery code is about to be compared: nobody can guess one, so its tries close nothing but themselves. */
  recoveryCodeCharges(owner: string, addressBucket: string): Charge[]
  /** Counts all of them or, throwing, none. */
  charge(charges: Charge[]): Promise<void>
  /** Counts a code that is about to go elsewhere than asked; false where `codeCharges` or `take` would throw. */
  admitsCode(destination: Identifier, purpose: string): Promise<boolean>
  clear(...charges: Charge[]): Promise<void>
  /**
   * Counts a message without code that is about to go to an owner, and says whether it may: what an account does to
   * itself over and over sends no flood, nor a dear one by SMS. Codes that strangers ask for use up nothing of it.
   */
  admitsNotice(destination: Identifier, purpose: string): Promise<boolean>
}

interface Options {
  store: LimitStore
  secret: ServerSecret
  clock: Clock
  config: Pick<Config, 'limits' | 'sms' | 'accounts'>
  /** Whether a message could reach an identifier of this kind and number at all. */
  reaches(identifier: Identifier): boolean
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const RECOVERY_CODES_PER_HOUR = 20
const PASSKEY_OPTIONS_PER_MINUTE = 600
const PASSKEY_ATTEMPTS_PER_MINUTE = 60

export function createLimitService({ store, secret, clock, config, reaches }: Options): LimitService {
  const { limits, sms } = config
  const tag = (...parts: string[]) => secret.tag('limit key', ...parts).toString('base64url', 0, 15)
  const window = (count: number, windowMs: number): Rule => ({ kind: 'window', count, windowMs })
  const countries = sms.allowedCountries.length > 0 ? sms.allowedCountries : [config.accounts.defaultCountry]

  /** A budget of nothing allows no country at all. */
  const isAllowed = ({ country }: Phone) =>
    sms.dailyBudget > 0 && (countries.includes('*') || (country !== null && countries.includes(country)))

  /** Of each hundred SMS a day five are kept for notices: strangers who ask for codes must not silence them. */
  const codeBudget = sms.dailyBudget - 5 * Math.floor(sms.dailyBudget / 100)
  const smsOfDay: Charge = { key: 'sms-day', rule: window(sms.dailyBudget, DAY_MS) }

  const smsCharges = ({ key }: Phone): Charge[] => [
    smsOfDay,
    { key: 'sms-codes-day', rule: window(codeBudget, DAY_MS) },
    // The plus sign and seven digits.
    { key: `sms-prefix:${key.slice(0, 8)}`, rule: window(limits.smsPerPrefixPerHour, HOUR_MS) },
  ]

  async function waitMs(charges: Charge[]): Promise<number> {
    return limits.enabled && charges.length > 0 ? store.charge(charges, clock.now()) : 0
  }

  const admits = async (charges: Charge[]) => (await waitMs(charges)) === 0

  async function clear(keys: string[]): Promise<void> {
    if (limits.enabled) await store.clear(keys)
  }

  const guessKey = (subject: string) => `guesses:${tag(subject)}`

  function sendingCharges(destination: Identifier, purpose: string): Charge[] {
    const to = tag(destination.key)
    return [
      {
        key: `code:${purpose}:${to}`,
        rule: { kind: 'bucket', burst: limits.codesBurst, intervalMs: limits.codesIntervalSeconds * 1000 },
      },
      { key: `codes-hour:${to}`, rule: window(limits.codesPerHour, HOUR_MS) },
      { key: `codes-day:${to}`, rule: window(limits.codesPerDay, DAY_MS) },
      ...(destination.kind === 'phone' ? smsCharges(destination) : []),
    ]
  }

  return {
    codeCharges(destination, purpose, addressBucket) {
      const charges = sendingCharges(destination, purpose)
      if (!reaches(destination)) throw new AppError('channel_not_available')
      if (destination.kind === 'email') return charges
      if (!isAllowed(destination)) throw new AppError('country_not_allowed')
      if (addressBucket === undefined) return charges
      return [
        ...charges,
        { key: `sms-address:${addressBucket}`, rule: window(limits.smsPerAddressPerHour, HOUR_MS) },
      ]
    },
    admitsCode: async (destination, purpose) =>
      reaches(destination) &&
      (destination.kind === 'email' || isAllowed(destination)) &&
      admits(sendingCharges(destination, purpose)),
    contactChangeCharges: (accountUuid) => [
      { key: `contact-changes-hour:${tag(accountUuid)}`, rule: window(limits.codesPerHour, HOUR_MS) },
      { key: `contact-changes-day:${tag(accountUuid)}`, rule: window(limits.codesPerDay, DAY_MS) },
    ],
    registrationCharges: (bucket) => [
      {
        key: `register:${bucket}`,
        rule: {
          kind: 'bucket',
          burst: limits.registrationsBurst,
          intervalMs: HOUR_MS / limits.registrationsPerHour,
        },
      },
      { key: `register-hour:${bucket}`, rule: window(limits.registrationsPerHour, HOUR_MS) },
    ],
    loginCharges: (bucket) => [{ key: `login:${bucket}`, rule: window(limits.loginsPerMinute, MINUTE_MS) }],
    verificationCharges: (bucket) => [
      {
        key: `verify:${bucket}`,
        rule: window(limits.verifications, limits.verificationsWindowSeconds * 1000),
      },
    ],
    passkeyOptionCharges: (bucket) => [
      { key: `passkey-options:${bucket}`, rule: window(PASSKEY_OPTIONS_PER_MINUTE, MINUTE_MS) },
    ],
    passkeyAttemptCharges: (bucket) => [
      { key: `passkey-attempts:${bucket}`, rule: window(PASSKEY_ATTEMPTS_PER_MINUTE, MINUTE_MS) },
    ],
    failureCharge: (identifierKey, knownDevice) => ({
      key: `failures:${knownDevice === null ? tag(identifierKey) : tag(identifierKey, knownDevice)}`,
      rule: {
        kind: 'failures',
        count: limits.loginFailures,
        windowMs: limits.loginFailuresWindowSeconds * 1000,
        refusalMs: limits.loginRefusalSeconds * 1000,
        maximumMs: limits.loginRefusalMaximumSeconds * 1000,
      },
    }),
    async countGuess(subject) {
      const inARow: Rule = {
        kind: 'failures',
        count: 100,
        windowMs: 30 * DAY_MS,
        refusalMs: DAY_MS,
        maximumMs: 30 * DAY_MS,
      }
      return Math.ceil((await waitMs([{ key: guessKey(subject), rule: inARow }])) / 1000)
    },
    recoveryCodeCharges: (owner, bucket) => [
      { key: `recovery:${tag(owner)}:${bucket}`, rule: window(RECOVERY_CODES_PER_HOUR, HOUR_MS) },
    ],
    clearGuesses: (subject) => clear([guessKey(subject)]),
    async charge(charges) {
      const ms = await waitMs(charges)
      if (ms > 0) throw new AppError('too_many_requests', { retryAfterSeconds: Math.ceil(ms / 1000) })
    },
    clear: (...charges) => clear(charges.map(({ key }) => key)),
    async admitsNotice(destination, purpose) {
      const hourly: Charge = {
        key: `notice:${purpose}:${tag(destination.key)}`,
        rule: window(limits.codesPerHour, HOUR_MS),
      }
      if (destination.kind === 'email') return admits([hourly])
      const daily: Charge[] = [
        { key: `notices-day:${tag(destination.key)}`, rule: window(limits.codesPerDay, DAY_MS) },
        smsOfDay,
      ]
      return isAllowed(destination) && admits([hourly, ...daily])
    },
  }
}
