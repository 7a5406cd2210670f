/**
 * THE table of counters: what each group of callers pays, for each thing they may ask for (see callers.ts for the
 * groups). Messages are counted in sending-counters.ts, everything else in attempt-counters.ts. Identifiers, addresses
 * and prefixes stand in a counter's name as keyed tags; what does not exist is counted like what does. The counters of
 * wrong codes are in the room `codes`, since they outlive a flush of the store of these.
 */
import type { Identifier } from '../identifiers/identifier.ts'
import { createAccountCounters } from './account-counters.ts'
import { createAttemptCounters } from './attempt-counters.ts'
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
    /** The counters of an account, on these of its devices. */
    namesOfAccount(uuid: string, devices: readonly string[], purposes: readonly string[]): string[] {
      const account = tag('account', uuid)
      const names = [
        'codes-with-password',
        'owner-codes-in-hour',
        'owner-codes-in-day',
        'session-codes-in-hour',
        'session-codes-in-day',
        'contact-codes-in-hour',
        'contact-codes-in-day',
      ]
      const ofDevice = ['wrong-passwords-device', 'own-codes-in-hour', 'own-codes-in-day']
      return [
        ...names.map((name) => `${name}:${account}`),
        ...purposes.flatMap((purpose) => [
          `code:${purpose}:owner:${account}`,
          `code:${purpose}:session:${account}`,
        ]),
        ...devices.flatMap((device) => ofDevice.map((name) => `${name}:${tag('device', uuid, device)}`)),
      ]
    },
  }
}
