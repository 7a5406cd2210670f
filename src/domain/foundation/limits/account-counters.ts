/**
 * The counters that may refuse somebody who signs in to one account, so that they can be read without counting. Names of
 * counters hold addresses as keyed tags alone: the addresses come from what was recorded of failed tries.
 */
import { networksOf } from '../../../platform/http/client-address.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { createAttemptCounters } from './attempt-counters.ts'
import { deviceAt, nameOfDevice } from './callers.ts'
import type { NamedCharge } from './counter-names.ts'
import type { createSendingCounters } from './sending-counters.ts'

export interface LimitedAccount {
  uuid: string
  identifiers: readonly Identifier[]
  /** Its known devices and sessions, as callers.ts names them. */
  devices: readonly string[]
  /** The addresses from which somebody failed lately, as limits count them. */
  addresses: readonly string[]
}

/** What is refused: signing in with the password, entering a code, or having one sent. */
export const accountLimits = ['login', 'codes', 'sending'] as const
export type AccountLimit = (typeof accountLimits)[number]

/** `address`: the one, or the network, that alone is refused; null: everybody is. */
interface AccountCounter {
  limit: AccountLimit
  address: string | null
  charge: NamedCharge
}

interface Counters {
  attempts: ReturnType<typeof createAttemptCounters>
  sending: ReturnType<typeof createSendingCounters>
}

export const createAccountCounters = ({ attempts, sending }: Counters) => {
  const everywhere = (limit: AccountLimit, ...charges: NamedCharge[]): AccountCounter[] =>
    charges.map((charge) => ({ limit, charge, address: null }))

  function from(address: string, { uuid, identifiers }: LimitedAccount): AccountCounter[] {
    const networks = networksOf(address)
    const passwords = identifiers.flatMap(({ key }) =>
      attempts
        .wrongPasswordsFrom(address, key)
        .map((charge, i) => ({ limit: 'login' as const, charge, address: networks[i]!.network })),
    )
    const here = (limit: AccountLimit, charge: NamedCharge) => ({ limit, charge, address })
    return [
      ...passwords,
      here('login', attempts.wrongPasswordsOn(uuid, nameOfDevice(deviceAt(address)))),
      ...[false, true].flatMap((byAddress) =>
        attempts.recoveryCodes(uuid, address, { byAddress }).map((charge) => here('codes', charge)),
      ),
    ]
  }

  /** Each counter once. */
  return function ofAccount(account: LimitedAccount): AccountCounter[] {
    const { uuid, identifiers, devices, addresses } = account
    const all = [
      ...addresses.flatMap((address) => from(address, account)),
      ...devices.flatMap((device) => everywhere('login', attempts.wrongPasswordsOn(uuid, device))),
      ...identifiers.flatMap((identifier) => [
        ...everywhere('login', attempts.wrongPasswordsAnywhere(identifier.key)),
        ...everywhere('sending', ...sending.sentTo(identifier)),
      ]),
      ...everywhere('sending', sending.sentWithPassword(uuid)),
    ]
    return [...new Map(all.map((counter) => [counter.charge.key, counter])).values()]
  }
}
