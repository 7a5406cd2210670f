/** The counters that notices are charged to, by where they go and what they tell. */

import type { Config } from '../../../platform/config/types.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { ChargeName, NamedCharge } from './counter-names.ts'
import { bucket, type CounterTag, HOUR_MS, inDay, inHour } from './rules.ts'
import type { createSendingPools } from './sending-pools.ts'

const NEW_DEVICES_PER_DAY = 5
const OPERATOR_NOTICES_PER_HOUR = 3
/** A removal of two factors waits for a day: so its notice is sent again 15 times at most. */
const REMOVAL_NOTICES_AGAIN = bucket(3, 2 * HOUR_MS)

interface NoticeOptions {
  limits: Config['limits']
  tag: CounterTag
  pools: ReturnType<typeof createSendingPools>
}

export function createNoticeCounters({ limits, tag, pools }: NoticeOptions) {
  const { smsOfDay } = pools

  function notices(destination: Identifier, purpose: string): NamedCharge[] {
    const to = tag(destination.key)
    const hourly = inHour(`notice:${purpose}:${to}`, limits.codesPerHour)
    if (destination.kind === 'email') return [hourly]
    return [hourly, inDay(`notices-in-day:${to}`, limits.codesPerDay), smsOfDay]
  }

  /** Notices of a kind that has the day of a destination to itself. */
  function noticesApart(name: ChargeName, destination: Identifier): NamedCharge[] {
    const daily = inDay(`${name}:${tag(destination.key)}`, limits.codesPerDay)
    return destination.kind === 'email' ? [daily] : [daily, smsOfDay]
  }

  return {
    /** A notice to an owner: what an account does to itself again and again does not cause a flood of mail. */
    notices,
    /** A temporary access or invitation code. Like other codes it leaves what is kept for notices. */
    accountCodes: (destination: Identifier, kind: string): NamedCharge[] =>
      destination.kind === 'email'
        ? notices(destination, kind)
        : [...notices(destination, kind), pools.codesOfDay('owners')],
    /** A notice with an undo link: what an intruder made the account send before does not use it up. */
    undoNotices: (destination: Identifier) => noticesApart('undo-notices-in-day', destination),
    /** The notice of a removal of two factors that waits: nothing else that is sent there uses it up. */
    removalNotices: (destination: Identifier) => noticesApart('removal-notices-in-day', destination),
    /** The same notice once more. Whoever asks for it does not use up what the next removal needs. */
    removalNoticesAgain: (destination: Identifier): NamedCharge[] => [
      { key: `removal-notices-again:${tag(destination.key)}`, rule: REMOVAL_NOTICES_AGAIN },
      ...(destination.kind === 'email' ? [] : [smsOfDay]),
    ],
    /** The owner is about to be told of a sign-in on a new device. */
    newDevices: (accountUuid: string) =>
      inDay(`new-devices-in-day:${tag('account', accountUuid)}`, NEW_DEVICES_PER_DAY),
    /** An e-mail to the operator. */
    operatorNotices: (purpose: string) => inHour(`operator-notices:${purpose}`, OPERATOR_NOTICES_PER_HOUR),
    /** The same about something that lasts: once a day for each. */
    lastingNotices: (purpose: string, about: string) => inDay(`lasting-notices:${purpose}:${about}`, 1),
    /** A notice that may go out once a day. */
    onceADay: (what: string, accountUuid: string) =>
      inDay(`once-a-day:${what}:${tag('account', accountUuid)}`, 1),
  }
}
