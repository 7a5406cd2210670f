/**
 * THE table of counters: what each group of callers pays, for each thing they may ask for (see callers.ts for the
 * groups). Identifiers, addresses and prefixes stand in a counter's name as keyed tags; what does not exist is counted like what does. The
 * counters of wrong codes are in the room `attempts`, since they outlive a flush of the store of these.
 */
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/types.ts'
import { networksOf } from '../../platform/http/client-address.ts'
import type { Identifier, Phone } from '../identifiers/identifier.ts'
import type { Caller, CallerAccount } from './callers.ts'
import type { Charge, Rule } from './store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Codes a day that somebody with the password may have sent from a device that is not known. */
const PASSWORD_CODES_PER_DAY = 10
const RECOVERY_CODES_PER_HOUR = 20
const EXPORTS_PER_DAY = 5
const NEW_DEVICES_PER_DAY = 5
const LIFTS_PER_DAY = 10
const WRONG_BEFORE_NOTICE = 2
const OPERATOR_NOTICES_PER_HOUR = 3
const PASSKEY_OPTIONS_PER_MINUTE = 600
const PASSKEY_ATTEMPTS_PER_MINUTE = 60
const UNDO_VISITS_PER_MINUTE = 300
const REFUSED_RECEIPTS_PER_MINUTE = 600
const REFUSED_TOKENS_PER_MINUTE = 20
/** For this long after its confirmation an account counts as a stranger when SMS are charged. */
const YOUNG_MS = 7 * DAY_MS

export type Counters = ReturnType<typeof createCounters>

interface Options {
  config: Pick<Config, 'limits' | 'sms' | 'accounts'>
  /** Keyed, so that no identifier, address or number stands in a counter's name. */
  tag: (...parts: string[]) => string
  now: () => Date
  /** Whether a message could reach an identifier of this kind and number at all. */
  reaches(identifier: Identifier): boolean
}

/** The plus sign and seven digits. */
const prefixOf = (phoneKey: string) => phoneKey.slice(0, 8)

const window = (count: number, windowMs: number) => ({ kind: 'window', count, windowMs }) satisfies Rule
const bucket = (burst: number, intervalMs: number): Rule => ({ kind: 'bucket', burst, intervalMs })

export function createCounters({ config, tag, now, reaches }: Options) {
  const { limits, sms } = config
  const countries = sms.allowedCountries.length > 0 ? sms.allowedCountries : [config.accounts.defaultCountry]
  const dailyBudget = sms.dailyBudget
  const notStrangers = dailyBudget - Math.floor(dailyBudget / 20)
  const strangers = Math.floor(dailyBudget / 2)

  const failures = (count: number): Rule => ({
    kind: 'failures',
    count,
    windowMs: limits.loginFailuresWindowSeconds * 1000,
    refusalMs: limits.loginRefusalSeconds * 1000,
    maximumMs: limits.loginRefusalMaximumSeconds * 1000,
  })

  /** One counter for each network that the address is in; wider ones admit more. */
  const byAddress = (name: string, addressBucket: string, rule: Rule): Charge[] =>
    networksOf(addressBucket).map(({ network, times }) => ({
      key: `${name}:${tag('network', network)}`,
      rule: multiplied(rule, times),
    }))

  const sending = (purpose: string, name: string): Charge => ({
    key: `code:${purpose}:${name}`,
    rule: bucket(limits.codesBurst, limits.codesIntervalSeconds * 1000),
  })

  const isYoung = ({ accountConfirmedAt }: CallerAccount) =>
    accountConfirmedAt === null || now().getTime() - accountConfirmedAt.getTime() < YOUNG_MS

  /** A budget of nothing allows no country at all. */
  const allowsCountry = ({ country }: Phone) =>
    dailyBudget > 0 && (countries.includes('*') || (country !== null && countries.includes(country)))

  const smsOfDay = { key: 'sms-of-day', rule: window(dailyBudget, DAY_MS) }
  const smsCodesOfDay = { key: 'sms-codes-of-day', rule: window(notStrangers, DAY_MS) }

  function smsCodes(caller: Caller, { key }: Phone): Charge[] {
    const codes = [smsOfDay, smsCodesOfDay]
    if (caller.group !== 'stranger' && !isYoung(caller.account)) return codes
    return [
      ...codes,
      { key: 'sms-strangers-of-day', rule: window(strangers, DAY_MS) },
      {
        key: `sms-prefix-hour:${tag('prefix', prefixOf(key))}`,
        rule: window(limits.smsPerPrefixPerHour, HOUR_MS),
        prefix: prefixOf(key),
      },
    ]
  }

  /** By destination, for every caller if the account has not verified it. */
  function toStrangers(destination: Identifier, purpose: string): Charge[] {
    const to = tag(destination.key)
    return [
      sending(purpose, to),
      { key: `codes-in-hour:${to}`, rule: window(limits.codesPerHour, HOUR_MS) },
      { key: `codes-in-day:${to}`, rule: window(limits.codesPerDay, DAY_MS) },
    ]
  }

  /** To a contact of the account itself. */
  function toOwner(caller: Exclude<Caller, { group: 'stranger' }>, purpose: string): Charge[] {
    const account = tag('account', caller.account.uuid)
    if (caller.group === 'password') {
      return [{ key: `codes-with-password:${account}`, rule: window(PASSWORD_CODES_PER_DAY, DAY_MS) }]
    }
    return [
      sending(purpose, `owner:${account}`),
      { key: `owner-codes-in-hour:${account}`, rule: window(limits.ownerCodesPerHour, HOUR_MS) },
      { key: `owner-codes-in-day:${account}`, rule: window(limits.ownerCodesPerDay, DAY_MS) },
    ]
  }

  /**
   * A code that an account requests for a contact that it has not verified: one account cannot send codes to hundreds
   * of people.
   */
  function elsewhere({ account }: Caller): Charge[] {
    if (account === null) return []
    const name = tag('account', account.uuid)
    return [
      { key: `contact-codes-in-hour:${name}`, rule: window(limits.codesPerHour, HOUR_MS) },
      { key: `contact-codes-in-day:${name}`, rule: window(limits.codesPerDay, DAY_MS) },
    ]
  }

  function notices(destination: Identifier, purpose: string): Charge[] {
    const to = tag(destination.key)
    const hourly: Charge = { key: `notice:${purpose}:${to}`, rule: window(limits.codesPerHour, HOUR_MS) }
    if (destination.kind === 'email') return [hourly]
    return [hourly, { key: `notices-in-day:${to}`, rule: window(limits.codesPerDay, DAY_MS) }, smsOfDay]
  }

  return {
    mayReceive: (destination: Identifier) =>
      (destination.kind === 'email' || allowsCountry(destination)) && reaches(destination),
    /** A call without session that asks for a code; to be charged first and alone. */
    codeRequests: ({ group, addressBucket }: Caller): Charge[] =>
      group === 'stranger'
        ? [
            ...byAddress(
              'code-requests',
              addressBucket,
              bucket(limits.codeRequestsBurst, HOUR_MS / limits.codeRequestsPerHour),
            ),
            ...byAddress('code-requests-in-hour', addressBucket, window(limits.codeRequestsPerHour, HOUR_MS)),
          ]
        : [],
    /** A code is about to go to a destination; `isOwn`: the caller's account verified it. Throws `country_not_allowed`, `channel_not_available`. */
    codes(caller: Caller, destination: Identifier, purpose: string, isOwn: boolean): Charge[] {
      if (!reaches(destination)) throw new AppError('channel_not_available')
      if (destination.kind === 'phone' && !allowsCountry(destination)) {
        throw new AppError('country_not_allowed')
      }
      const bySms = destination.kind === 'phone' ? smsCodes(caller, destination) : []
      if (caller.group === 'stranger') return [...toStrangers(destination, purpose), ...bySms]
      if (isOwn) return [...toOwner(caller, purpose), ...bySms]
      return [...toStrangers(destination, purpose), ...elsewhere(caller), ...bySms]
    },
    registrations: (addressBucket: string): Charge[] => [
      ...byAddress(
        'register',
        addressBucket,
        bucket(limits.registrationsBurst, HOUR_MS / limits.registrationsPerHour),
      ),
      ...byAddress('register-in-hour', addressBucket, window(limits.registrationsPerHour, HOUR_MS)),
    ],
    /** By address, or by the device that is known where the address is refused. */
    visits(kind: 'login' | 'verification', by: { address: string } | { knownDevice: string }): Charge[] {
      const rule =
        kind === 'login'
          ? window(limits.loginsPerMinute, MINUTE_MS)
          : window(limits.verifications, limits.verificationsWindowSeconds * 1000)
      return 'address' in by
        ? byAddress(`${kind}s`, by.address, rule)
        : [{ key: `${kind}-device:${by.knownDevice}`, rule }]
    },
    /** Options of a passkey, which cost next to nothing, and tries with one. */
    passkeyOptions: (addressBucket: string): Charge[] =>
      byAddress('passkey-options', addressBucket, window(PASSKEY_OPTIONS_PER_MINUTE, MINUTE_MS)),
    passkeyAttempts: (addressBucket: string): Charge[] =>
      byAddress('passkey-attempts', addressBucket, window(PASSKEY_ATTEMPTS_PER_MINUTE, MINUTE_MS)),
    /** A token of administration was refused. */
    refusedTokens: (addressBucket: string): Charge[] =>
      byAddress('refused-tokens', addressBucket, window(REFUSED_TOKENS_PER_MINUTE, MINUTE_MS)),
    /** A password is about to be compared; to be cleared when it was right. */
    wrongPasswords(caller: Caller, identifierKey: string): Charge[] {
      if (caller.group === 'owner') {
        const device = tag('device', caller.account.uuid, caller.device)
        return [{ key: `wrong-passwords-device:${device}`, rule: failures(limits.loginFailures) }]
      }
      const identifier = tag(identifierKey)
      return [
        ...byAddress(`wrong-passwords:${identifier}`, caller.addressBucket, failures(limits.loginFailures)),
        { key: `wrong-passwords-all:${identifier}`, rule: failures(limits.loginFailuresAllAddresses) },
      ]
    },
    /** A recovery code is about to be compared. `subject`: the account, or its decoy. */
    recoveryCodes: (subject: string, addressBucket: string): Charge[] => [
      {
        key: `recovery-codes:${tag(subject, addressBucket)}`,
        rule: window(RECOVERY_CODES_PER_HOUR, HOUR_MS),
      },
    ],
    /** A notice to an owner: what an account does to itself again and again does not cause a flood of mail. */
    notices,
    /** A recovery or invitation code. Like other codes it leaves what is kept for notices. */
    accountCodes: (destination: Identifier, kind: string): Charge[] =>
      destination.kind === 'email'
        ? notices(destination, kind)
        : [...notices(destination, kind), smsCodesOfDay],
    smsOfDay,
    /** A notice with an undo link: what an intruder made the account send before does not use it up. */
    undoNotices(destination: Identifier): Charge[] {
      const inDay = {
        key: `undo-notices-in-day:${tag(destination.key)}`,
        rule: window(limits.codesPerDay, DAY_MS),
      }
      return destination.kind === 'email' ? [inDay] : [inDay, smsOfDay]
    },
    /** The notice of a removal of two factors that waits: nothing else that is sent there uses it up. */
    removalNotices(destination: Identifier): Charge[] {
      const inDay = {
        key: `removal-notices-in-day:${tag(destination.key)}`,
        rule: window(limits.codesPerDay, DAY_MS),
      }
      return destination.kind === 'email' ? [inDay] : [inDay, smsOfDay]
    },
    /** A receipt of a gateway without its secret. */
    refusedReceipts: (addressBucket: string): Charge[] =>
      byAddress('receipts', addressBucket, window(REFUSED_RECEIPTS_PER_MINUTE, MINUTE_MS)),
    /** The undo page is shown or its form is sent. */
    undoVisits: (addressBucket: string): Charge[] =>
      byAddress('undo-visits', addressBucket, window(UNDO_VISITS_PER_MINUTE, MINUTE_MS)),
    /** The names of all counters of an identifier, and of those with more behind them, what they begin with. */
    namesOf({ key }: Identifier, purposes: readonly string[]): { keys: string[]; beginnings: string[] } {
      const to = tag(key)
      return {
        keys: [
          `wrong-passwords-all:${to}`,
          ...['codes-in-hour', 'codes-in-day', 'notices-in-day'].map((name) => `${name}:${to}`),
          ...purposes.flatMap((purpose) => [`code:${purpose}:${to}`, `notice:${purpose}:${to}`]),
        ],
        beginnings: [`wrong-passwords:${to}:`],
      }
    },
    /** Those of an account, on these of its devices. */
    namesOfAccount(uuid: string, devices: readonly string[], purposes: readonly string[]): string[] {
      const account = tag('account', uuid)
      const names = [
        'codes-with-password',
        'owner-codes-in-hour',
        'owner-codes-in-day',
        'contact-codes-in-hour',
      ]
      return [
        ...[...names, 'contact-codes-in-day'].map((name) => `${name}:${account}`),
        ...purposes.map((purpose) => `code:${purpose}:owner:${account}`),
        ...devices.map((device) => `wrong-passwords-device:${tag('device', uuid, device)}`),
      ]
    },
    wrongCodesOfMinute: { key: 'wrong-codes-of-minute', rule: window(limits.wrongCodesAlarm, MINUTE_MS) },
    /** An administrator lifts the limits of an account, or of an identifier that no account has. */
    lifts: (name: string): Charge => ({
      key: `lifts-in-day:${tag('lifts', name)}`,
      rule: window(LIFTS_PER_DAY, DAY_MS),
    }),
    /** A copy of everything that is stored about a person. */
    exports: (accountUuid: string): Charge => ({
      key: `exports-in-day:${tag('account', accountUuid)}`,
      rule: window(EXPORTS_PER_DAY, DAY_MS),
    }),
    /** The owner is about to be told of a sign-in on a new device. */
    newDevices: (accountUuid: string): Charge => ({
      key: `new-devices-in-day:${tag('account', accountUuid)}`,
      rule: window(NEW_DEVICES_PER_DAY, DAY_MS),
    }),
    /** An e-mail to the operator. */
    operatorNotices: (purpose: string): Charge => ({
      key: `operator-notices:${purpose}`,
      rule: window(OPERATOR_NOTICES_PER_HOUR, HOUR_MS),
    }),
    /** Wrong second factors behind the right password; the next one is told to the owner. */
    wrongSecondFactors: (accountUuid: string): Charge => ({
      key: `wrong-second-factors:${tag('account', accountUuid)}`,
      rule: window(WRONG_BEFORE_NOTICE, DAY_MS),
    }),
    /** A notice that may go out once a day. */
    onceADay: (what: string, accountUuid: string): Charge => ({
      key: `once-a-day:${what}:${tag('account', accountUuid)}`,
      rule: window(1, DAY_MS),
    }),
  }
}

function multiplied(rule: Rule, times: number): Rule {
  if (rule.kind !== 'bucket') return { ...rule, count: rule.count * times }
  return { ...rule, burst: rule.burst * times, intervalMs: rule.intervalMs / times }
}
