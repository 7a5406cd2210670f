/**
 * The e-mail addresses that a mail server refused for good within the last day. Messages of strangers are not sent
 * there again meanwhile, since refusals cost the sender's reputation; owners are always tried.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import type { RefusedAddressStore } from './refused-address-store.ts'

export interface RefusedAddresses {
  note(destination: string): Promise<void>
  isRefused(destination: string): Promise<boolean>
  /** The address was refused last at this time; null if that was not within the last day. */
  findRefusal(destination: string): Promise<Date | null>
}

interface Options {
  stores: { refusedAddresses: RefusedAddressStore }
  secret: ServerSecret
  clock: Clock
}

const DAY_MS = 86_400_000

export function createRefusedAddresses({ stores, secret, clock }: Options): RefusedAddresses {
  const tag = (destination: string) => secret.tag('refused address', destination.toLowerCase())
  const findRefusal = (destination: string) =>
    stores.refusedAddresses.find(tag(destination), new Date(clock.now().getTime() - DAY_MS))
  return {
    findRefusal,
    note: (destination) => stores.refusedAddresses.put(tag(destination), clock.now()),
    isRefused: async (destination) => (await findRefusal(destination)) !== null,
  }
}
