/**
 * THE table of counters: what each group of callers pays, for each thing they may ask for (see callers.ts for the
 * groups). Messages are counted in sending-counters.ts, everything else in attempt-counters.ts. Identifiers, addresses
 * and prefixes stand in a counter's name as keyed tags; what does not exist is counted like what does. The counters of
 * wrong codes are in the room `codes`, since they outlive a flush of the store of these.
 */
import type { Identifier } from '../identifiers/identifier.ts'
import { createAccountCounters } from './account-counters.ts'
import { createAttemptCounters } from './attempt-counters.ts'
import { askers, namesOf } from './counter-names.ts'
import { createByAddress } from './rules.ts'
import { createSendingCounters, type SendingOptions } from './sending-counters.ts'

export function createCounters(options: SendingOptions) {
  const { tag } = options
  const byAddress = createByAddress(tag)
  const sending = createSendingCounters(options, byAddress)
  const attempts = createAttemptCounters(options, byAddress)
  return {
    ...sending,
    ...attempts,
    ofAccount: createAccountCounters({ attempts, sending }),
    /** What lifting clears for an identifier: names of counters, and what those with more behind them begin with. */
    keptFor({ key }: Identifier, purposes: readonly string[]): { keys: string[]; beginnings: string[] } {
      const to = tag(key)
      return {
        keys: [
          ...namesOf('identifier').map((name) => `${name}:${to}`),
          ...namesOf('identifier, by purpose').flatMap((name) =>
            purposes.map((purpose) => `${name}:${purpose}:${to}`),
          ),
        ],
        beginnings: namesOf('identifier, by address').map((name) => `${name}:${to}:`),
      }
    },
    /** The same for an account, on these of its devices. */
    keptForAccount(
      uuid: string,
      devices: readonly string[],
      purposes: readonly string[],
    ): { keys: string[]; beginnings: string[] } {
      const account = tag('account', uuid)
      return {
        keys: [
          ...namesOf('account').map((name) => `${name}:${account}`),
          ...askers.flatMap((asker) => purposes.map((purpose) => `code:${purpose}:${asker}:${account}`)),
          ...namesOf('device').flatMap((name) =>
            devices.map((device) => `${name}:${tag('device', uuid, device)}`),
          ),
        ],
        beginnings: namesOf('account, by address').map((name) => `${name}:${account}:`),
      }
    },
  }
}
