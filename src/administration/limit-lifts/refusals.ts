/**
 * Says who is refused now, until when and by which limit. Nothing is counted. The counters name nobody and no address:
 * so the accounts at which somebody failed lately, and the addresses of that, are read from the events.
 */

import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import { deviceAt, nameOfDevice, nameOfSession } from '../../domain/foundation/limits/callers.ts'
import type { AccountRefusal, LimitService } from '../../domain/foundation/limits/service.ts'
import type { CodeService } from '../../domain/messages/codes/service.ts'
import type { Ground } from '../../platform/ground.ts'
import type { AboutAccount, LimitLiftStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  codes: Pick<CodeService, 'listClosed'>
  limits: Pick<LimitService, 'refusalsOf'>
  stores: { limitLifts: LimitLiftStore }
}

const HOUR_MS = 3_600_000

export type Refusals = ReturnType<typeof createRefusals>

export function createRefusals({ codes, limits, clock, config, stores }: Needs) {
  const { limitLifts: store } = stores
  const { loginRefusalMaximumSeconds, loginFailuresWindowSeconds } = config.limits
  const { defaultCountry } = config.accounts
  // An event counts the failures of an hour, and has the time of the first.
  const lookBackMs = 1000 * Math.max(loginRefusalMaximumSeconds, loginFailuresWindowSeconds, 3600) + HOUR_MS

  const limitedAccount = (
    { uuid, email, phone, sessions, fingerprints }: AboutAccount,
    addresses: readonly string[],
  ) => ({
    uuid,
    identifiers: [email, phone].flatMap((text) => parseIdentifier(text ?? '', defaultCountry) ?? []),
    devices: [...sessions.map(nameOfSession), ...fingerprints.map(nameOfDevice)],
    addresses,
  })

  /** Of everybody where `uuids` is null. `all`: also those at which nobody failed. */
  async function read(
    uuids: string[] | null,
    { all = false } = {},
  ): Promise<{ uuid: string; refusals: AccountRefusal[] }[]> {
    const since = new Date(clock.now().getTime() - lookBackMs)
    const [failures, closed] = await Promise.all([store.listFailures(uuids, since), codes.listClosed(uuids)])
    const addressesOf = new Map<string, string[]>(closed.accounts.map((uuid) => [uuid, []]))
    for (const { account, address } of failures)
      addressesOf.set(account, [...(addressesOf.get(account) ?? []), ...(address === null ? [] : [address])])
    const asked = all && uuids !== null ? uuids : [...addressesOf.keys()]
    if (asked.length === 0) return []
    const about = await store.listAbout(asked)
    const found = await limits.refusalsOf(
      about.map((one) => limitedAccount(one, addressesOf.get(one.uuid) ?? [])),
    )
    const wrongCodes = { limit: 'codes', cause: 'wrong_codes', until: closed.until, address: null } as const
    const isClosed = new Set(closed.accounts)
    return about.map(({ uuid }, i) => ({
      uuid,
      refusals: [...found[i]!, ...(isClosed.has(uuid) ? [wrongCodes] : [])],
    }))
  }

  /** That no more codes are sent for a while keeps nobody out who has one. */
  const keepsOut = ({ limit }: AccountRefusal) => limit !== 'sending'

  return {
    /** Everything that is refused to somebody who signs in to the account, what lasts longest first. */
    async of(uuid: string): Promise<AccountRefusal[]> {
      const refusals = (await read([uuid], { all: true }))[0]?.refusals ?? []
      return refusals.sort((a, b) => b.until.getTime() - a.until.getTime())
    },
    /** Returns those among these accounts, or with null among all, whose password or codes are refused. */
    async limitedAmong(uuids: string[] | null): Promise<Set<string>> {
      if (uuids?.length === 0) return new Set()
      const limited = (await read(uuids)).filter(({ refusals }) => refusals.some(keepsOut))
      return new Set(limited.map(({ uuid }) => uuid))
    },
    /** The devices of the account, as counters name them: also what its owner is known by at these addresses. */
    devicesOf: async (uuid: string): Promise<string[]> => {
      const since = new Date(clock.now().getTime() - lookBackMs)
      const [about, failures] = await Promise.all([
        store.listAbout([uuid]),
        store.listFailures([uuid], since),
      ])
      const at = failures.flatMap(({ address }) => (address === null ? [] : nameOfDevice(deviceAt(address))))
      return [...about.flatMap((one) => limitedAccount(one, []).devices), ...at]
    },
  }
}
