/**
 * The counters that messages are charged to: codes by who asks for them and where they go. Notices are in
 * notice-counters.ts; the messages of the service are shared out in sending-pools.ts.
 */

import type { Config } from '../../../platform/config/types.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { Phone } from '../identifiers/phone.ts'
import type { Caller, CallerAccount } from './callers.ts'
import type { askers, NamedCharge } from './counter-names.ts'
import { createNoticeCounters } from './notice-counters.ts'
import {
  type ByAddress,
  bucket,
  type CounterTag,
  createInBursts,
  DAY_MS,
  HOUR_MS,
  inDay,
  inHour,
  window,
} from './rules.ts'
import { createSendingPools, type Recipients, recipientsOf } from './sending-pools.ts'

/** Codes a day that somebody with the password may have sent from a device that is not known. */
const PASSWORD_CODES_PER_DAY = 10
/** Codes that each device or session of an owner has to itself, whatever the others asked for, up to as many again. */
const OWN_CODES_PER_HOUR = 3
const OWN_CODES_PER_DAY = 10
/** An account counts as a stranger for this long after its confirmation when SMS are charged. */
const YOUNG_MS = 7 * DAY_MS

export interface SendingOptions {
  config: Pick<Config, 'limits' | 'sms' | 'smtp' | 'accounts'>
  tag: CounterTag
  now: () => Date
  /** Tells whether a message could reach an identifier of this kind and number at all. */
  reaches(identifier: Identifier): boolean
}

export function createSendingCounters({ config, tag, now, reaches }: SendingOptions, byAddress: ByAddress) {
  const { limits, sms } = config
  const countries = sms.allowedCountries.length > 0 ? sms.allowedCountries : [config.accounts.defaultCountry]
  const pools = createSendingPools({ config, tag })
  const { smsOfDay } = pools

  const inBursts = createInBursts(byAddress)

  const sending = (purpose: string, name: string): NamedCharge => ({
    key: `code:${purpose}:${name}`,
    rule: bucket(limits.codesBurst, limits.codesIntervalSeconds * 1000),
  })

  const isYoung = ({ accountConfirmedAt }: CallerAccount) =>
    accountConfirmedAt === null || now().getTime() - accountConfirmedAt.getTime() < YOUNG_MS

  /** A budget of nothing allows no country at all. */
  const allowsCountry = ({ country }: Phone) =>
    sms.dailyBudget > 0 && (countries.includes('*') || (country !== null && countries.includes(country)))

  /** An SMS of a stranger to a verified number is counted when it is sent, since the answer must not tell of it. */
  function smsCodes(caller: Caller, recipients: Recipients): NamedCharge[] {
    if (caller.group !== 'stranger' && !isYoung(caller.account)) return [smsOfDay, pools.codesOfDay('owners')]
    if (caller.group === 'stranger' && recipients === 'verified') return []
    return [smsOfDay, pools.codesOfDay(recipients), pools.pool('sms', recipients)]
  }

  /** Returns the charges of a network, by what was typed. */
  function byNetwork(caller: Caller, { kind, key }: Identifier, recipients: Recipients): NamedCharge[] {
    const { addressBucket } = caller
    const isStranger = caller.group === 'stranger'
    const by = { ofAccounts: !isStranger && recipients === 'verified' }
    if (kind === 'email') return isStranger ? pools.share(addressBucket, 'email', recipients, by) : []
    if (!isStranger && !isYoung(caller.account)) return []
    return [...pools.share(addressBucket, 'sms', recipients, by), ...pools.range(addressBucket, key, by)]
  }

  function sentTo({ key }: Identifier): NamedCharge[] {
    const to = tag(key)
    return [
      inHour(`codes-in-hour:${to}`, limits.codesPerHour),
      inDay(`codes-in-day:${to}`, limits.codesPerDay),
    ]
  }

  const sentWithPassword = (accountUuid: string): NamedCharge =>
    inDay(`codes-with-password:${tag('account', accountUuid)}`, PASSWORD_CODES_PER_DAY)

  /** Charges by destination, for every caller if the account has not verified it. */
  const toStrangers = (destination: Identifier, purpose: string): NamedCharge[] => [
    sending(purpose, tag(destination.key)),
    ...sentTo(destination),
  ]

  /** Charges a message to a contact of the account itself. */
  function toOwner(caller: Exclude<Caller, { group: 'stranger' }>, purpose: string): NamedCharge[] {
    const account = tag('account', caller.account.uuid)
    if (caller.group === 'password') return [sentWithPassword(caller.account.uuid)]
    // The sessions have counters of their own, so that a device which somebody else uses never uses up theirs.
    const name: (typeof askers)[number] = caller.by === 'session' ? 'session' : 'owner'
    const own = tag('device', caller.account.uuid, caller.device)
    const within = (time: 'hour' | 'day', count: number, ownCount: number, ms: number): NamedCharge[] => [
      { key: `${name}-codes-in-${time}:${account}`, rule: window(count, ms), ownRule: window(2 * count, ms) },
      { key: `own-codes-in-${time}:${own}`, rule: window(count, ms), ownRule: window(ownCount, ms) },
    ]
    return [
      sending(purpose, `${name}:${account}`),
      ...within('hour', limits.ownerCodesPerHour, OWN_CODES_PER_HOUR, HOUR_MS),
      ...within('day', limits.ownerCodesPerDay, OWN_CODES_PER_DAY, DAY_MS),
    ]
  }

  /**
   * A code that an account requests for a contact that it has not verified: one account cannot send codes to hundreds
   * of people.
   */
  function elsewhere({ account }: Caller): NamedCharge[] {
    if (account === null) return []
    const name = tag('account', account.uuid)
    return [
      inHour(`contact-codes-in-hour:${name}`, limits.codesPerHour),
      inDay(`contact-codes-in-day:${name}`, limits.codesPerDay),
    ]
  }

  return {
    sentTo,
    sentWithPassword,
    mayReceive: (destination: Identifier) =>
      (destination.kind === 'email' || allowsCountry(destination)) && reaches(destination),
    /** A call without session that asks for a code; to be charged first and alone. */
    codeRequests: ({ group, addressBucket }: Caller): NamedCharge[] =>
      group === 'stranger'
        ? inBursts('code-requests', addressBucket, limits.codeRequestsBurst, limits.codeRequestsPerHour)
        : [],
    /**
     * A code is about to go to a destination; `isOwn`: the caller's account verified it. `hidden`: the answer must not
     * depend on this destination, so that no counter of the caller's network may.
     */
    codes(caller: Caller, destination: Identifier, purpose: string, isOwn: boolean, { hidden = false } = {}) {
      if (!reaches(destination)) throw new AppError('channel_not_available')
      if (destination.kind === 'phone' && !allowsCountry(destination)) {
        throw new AppError('country_not_allowed')
      }
      const isToOwner = caller.group === 'stranger' ? recipientsOf(purpose) === 'verified' : isOwn
      const recipients = isToOwner ? 'verified' : 'newcomers'
      const bySms = destination.kind === 'phone' ? smsCodes(caller, recipients) : []
      const shared = [...bySms, ...(hidden ? [] : byNetwork(caller, destination, recipients))]
      if (caller.group === 'stranger') return [...toStrangers(destination, purpose), ...shared]
      if (isOwn) return [...toOwner(caller, purpose), ...shared]
      return [...toStrangers(destination, purpose), ...elsewhere(caller), ...shared]
    },
    strangersWaitMs: pools.strangersWaitMs,
    ...createNoticeCounters({ limits, tag, pools }),
    smsOfDay,
  }
}
