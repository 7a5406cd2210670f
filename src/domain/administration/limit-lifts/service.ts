/** Lifts what keeps somebody from being served: the refusals of the limits, and the wrong codes of the day. */

import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import { invalid } from '../../../platform/http/read-values.ts'
import type { AccountStore } from '../../accounts/accounts/store.ts'
import type { EventStore } from '../../foundation/events/store.ts'
import { parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Attempts } from '../../limits/attempts/service.ts'
import type { LimitService } from '../../limits/limits/service.ts'
import { codePurposes } from '../../messages/codes/store.ts'
import { noticePurposes } from '../../messages/outbox/message.ts'
import type { SessionStore } from '../../sessions/sessions/store.ts'
import { MAXIMUM_SESSIONS } from '../../sessions/sessions/store.ts'

export interface LimitAdministration {
  /**
   * Forgets what an identifier, and the account that has it, used up of limits today. `isCounted`: ten times a day. Throws
   * `validation_failed`, `too_many_requests`.
   */
  lift(identifier: string, options: { isCounted: boolean }): Promise<void>
}

interface Needs {
  attempts: Attempts
  limits: LimitService
  clock: Clock
  config: Config
  stores: { accounts: AccountStore; sessions: SessionStore; events: EventStore }
}

export function createLimitAdministration(needs: Needs): LimitAdministration {
  const { attempts, limits, clock, config } = needs
  const { accounts, sessions, events } = needs.stores
  const { defaultCountry } = config.accounts
  return {
    async lift(typed, { isCounted }) {
      const identifier = parseIdentifier(typed, defaultCountry)
      if (identifier === null) throw invalid('identifier')
      const account = await accounts.findByIdentifier(identifier, 'login')
      if (isCounted) await limits.charge([limits.counters.lifts(account?.uuid ?? identifier.key)])
      const now = clock.now()
      await limits.lift(identifier, {
        account: account && {
          uuid: account.uuid,
          sessionIds: (await sessions.list(account.id, MAXIMUM_SESSIONS, now)).map(({ id }) => id),
          fingerprints: await sessions.listFingerprints(account.id),
        },
        purposes: [...codePurposes, ...noticePurposes],
      })
      await attempts.forget(identifier.key, account?.uuid ?? null)
      await events.add([{ type: 'limits.lifted', account: account?.uuid ?? null }], now)
    },
  }
}
