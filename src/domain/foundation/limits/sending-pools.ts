/**
 * The messages that strangers cause are shared out among their networks. People who verified a contact have a pool of
 * their own, so that newcomers never use it up. A network gets a small share of each pool. A used share comes back over
 * the day (of e-mails: over the hour).
 */
import type { Config } from '../../../platform/config/types.ts'
import { networkOfSender } from '../../../platform/http/client-address.ts'
import type { NamedCharge } from './counter-names.ts'
import { bucket, type CounterTag, DAY_MS, HOUR_MS, window } from './rules.ts'
import type { Rule, SendingPool } from './store.ts'

type Channel = 'email' | 'sms'

/** `verified`: messages that only go to a contact which an account verified. */
export type Recipients = 'newcomers' | 'verified'

const TO_NEWCOMERS = ['confirmation', 'email_change', 'phone_change']

/** Null is a notice, which newcomers cause. */
export const recipientsOf = (codePurpose: string | null): Recipients =>
  codePurpose === null || TO_NEWCOMERS.includes(codePurpose) ? 'newcomers' : 'verified'

/** SMS that a network may still ask for at numbers of a closed range, and that go there in all. */
const CLOSED_BY_NETWORK_IN_DAY = 3
const CLOSED_IN_HOUR = 10
/** Without a mail server, as with `--dev`, every message stays in the mailbox: as many as the default of the key. */
const MAILBOX_PER_HOUR = 5000

/** Hundredths of the SMS of the day: a group is refused once so many went out, no matter who caused them. */
const LINES = { newcomers: 75, verified: 85, owners: 95 }

/** The numbers that differ in their last four digits: the block in which countries hand out numbers. */
export const rangeOf = (number: string): string => number.slice(0, -4)

/** Half at once and the other half over the time: never more than the number in any such time. */
export function refilled(count: number, overMs: number): Rule {
  const burst = Math.ceil(count / 2)
  return bucket(burst, overMs / Math.max(1, count - burst))
}

export function createSendingPools({
  config,
  tag,
}: {
  config: Pick<Config, 'limits' | 'sms' | 'smtp'>
  tag: CounterTag
}) {
  const { limits, sms, smtp } = config
  const { dailyBudget } = sms
  const ofDay = (hundredths: number) => dailyBudget - Math.floor((dailyBudget * (100 - hundredths)) / 100)
  const sizes = {
    sms: { newcomers: Math.floor(dailyBudget / 2), verified: Math.floor(dailyBudget / 4) },
    email: {
      newcomers: smtp?.strangersPerHour ?? MAILBOX_PER_HOUR,
      verified: Math.ceil((smtp?.strangersPerHour ?? MAILBOX_PER_HOUR) / 2),
    },
  }

  const smsOfDay: NamedCharge & { rule: { count: number } } = {
    key: 'sms-of-day',
    rule: window(dailyBudget, DAY_MS),
    pool: 'sms',
  }
  const codesOfDay = (group: keyof typeof LINES): NamedCharge => ({
    key: 'sms-codes-of-day',
    rule: window(ofDay(LINES[group]), DAY_MS),
    pool: 'sms_codes',
  })

  /** A message that a stranger caused, over the whole service. Null recipients mean that none at all is allowed. */
  function pool(channel: Channel, recipients: Recipients): NamedCharge {
    const size = sizes[channel][recipients]
    const name: SendingPool = `${channel}_${recipients}`
    const rule =
      channel === 'email'
        ? refilled(size, HOUR_MS)
        : size === 0
          ? window(0, DAY_MS)
          : bucket(size, DAY_MS / size)
    return { key: `${channel}-${recipients}-pool`, rule, pool: name }
  }

  /**
   * Bounds what the network of a caller may have sent to anybody. `ofAccounts`: to contacts that the callers' own
   * accounts verified, which strangers of that network do not use up.
   */
  function share(
    addressBucket: string,
    channel: Channel,
    recipients: Recipients,
    { ofAccounts }: { ofAccounts: boolean },
  ): NamedCharge[] {
    const network = networkOfSender(addressBucket)
    if (network === null) return []
    const most = Math.max(3, Math.ceil((sizes[channel][recipients] * limits.networkSharePercent) / 100))
    return [
      {
        key: `network-${channel}-${ofAccounts ? 'accounts' : recipients}:${tag('network of sender', network)}`,
        rule: refilled(most, channel === 'sms' ? DAY_MS : HOUR_MS),
      },
    ]
  }

  /** Numbers of one range, asked for from one network. */
  function range(
    addressBucket: string,
    number: string,
    { ofAccounts }: { ofAccounts: boolean },
  ): NamedCharge[] {
    const name = rangeOf(number)
    const network = networkOfSender(addressBucket) ?? 'not public'
    const asked = tag(ofAccounts ? 'range of accounts' : 'range', name, network)
    const perHour = limits.smsPerPrefixPerHour
    return [
      {
        key: `sms-prefix-hour:${asked}`,
        rule: window(perHour, HOUR_MS),
        range: { name, closedCount: perHour },
      },
      {
        key: `sms-prefix-day:${asked}`,
        rule: window(perHour * 24, DAY_MS),
        range: { name, closedCount: CLOSED_BY_NETWORK_IN_DAY },
      },
      {
        key: `sms-range-hour:${tag('range', name)}`,
        rule: window(CLOSED_IN_HOUR, HOUR_MS),
        range: { name, closedCount: CLOSED_IN_HOUR, countsOnlyClosed: true },
      },
    ]
  }

  return {
    smsOfDay,
    codesOfDay,
    share,
    range,
    pool,
    /** The message of a stranger is about to be sent. An SMS to a newcomer was counted when it was asked for. */
    strangersWaitMs(channel: Channel, codePurpose: string | null): NamedCharge[] {
      const recipients = recipientsOf(codePurpose)
      if (channel === 'email') return [pool('email', recipients)]
      return recipients === 'newcomers' ? [] : [smsOfDay, codesOfDay('verified'), pool('sms', 'verified')]
    },
  }
}
