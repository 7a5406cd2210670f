/** Lifts what keeps somebody from being served: the refusals of the limits, and the wrong codes of the day. */

import type { AccountStore } from '../../domain/accounts/core/store.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import { isUuid, parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { CodeService } from '../../domain/messages/codes/service.ts'
import { messagePurposes } from '../../domain/messages/outbox/message.ts'
import type { Ground } from '../../platform/ground.ts'
import { invalid } from '../../platform/http/read-values.ts'
import type { Refusals } from './refusals.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  codes: CodeService
  limits: LimitService
  refusals: Pick<Refusals, 'devicesOf'>
  stores: { accounts: AccountStore; events: EventStore }
}

export type LimitLifts = ReturnType<typeof createLimitLifts>

export function createLimitLifts(needs: Needs) {
  const { codes, limits, refusals, clock, config } = needs
  const { accounts, events } = needs.stores
  const { defaultCountry } = config.accounts

  /** By its uuid an account is meant with every contact it has. */
  async function read(typed: string) {
    const account = isUuid(typed) ? await accounts.findByUuid(typed) : null
    const texts = account === null ? [typed] : [account.email, account.phone]
    const identifiers = texts.flatMap((text) => parseIdentifier(text ?? '', defaultCountry) ?? [])
    const [first] = identifiers
    if (first === undefined) throw invalid('identifier')
    return { first, identifiers, account: account ?? (await accounts.findByIdentifier(first, 'login')) }
  }

  return {
    /** Returns the accounts whose limits `lift` lifts: also those whose contact an account only claims. */
    async reached(typed: string): Promise<string[]> {
      const { account, identifiers } = await read(typed)
      const meant = identifiers.map((identifier) => accounts.findByIdentifier(identifier, 'login'))
      return [account, ...(await Promise.all(meant))].flatMap((one) => one?.uuid ?? [])
    },
    /**
     * Forgets what an identifier, and the account that has it, used up of limits today. `isCounted`: ten times a day.
     */
    async lift(typed: string, { isCounted }: { isCounted: boolean }): Promise<void> {
      const { first, identifiers, account } = await read(typed)
      if (isCounted) await limits.charge([limits.counters.lifts(account?.uuid ?? first.key)])
      const now = clock.now()
      const about = account && { uuid: account.uuid, devices: await refusals.devicesOf(account.uuid) }
      for (const identifier of identifiers) {
        await limits.lift(identifier, { account: about, purposes: messagePurposes })
        await codes.forgetAttempts(identifier.key, account?.uuid ?? null)
      }
      await events.add([{ type: 'limits.lifted', account: account?.uuid ?? null }], now)
    },
  }
}
