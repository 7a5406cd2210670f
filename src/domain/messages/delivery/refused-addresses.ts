/**
 * The e-mail addresses that a mail server refused for good within the last day. Messages of strangers are not sent
 * there again meanwhile, since refusals cost the sender's reputation; owners are always tried.
 */
import type { Ground } from '../../../platform/ground.ts'
import type { RefusedAddressStore } from './refused-address-store.ts'

interface Options extends Pick<Ground, 'clock' | 'secret'> {
  stores: { refusedAddresses: RefusedAddressStore }
}

const DAY_MS = 86_400_000

export type RefusedAddresses = ReturnType<typeof createRefusedAddresses>

export function createRefusedAddresses({ stores, secret, clock }: Options) {
  const tag = (destination: string) => secret.tag('refused address', destination.toLowerCase())
  const findRefusal = (destination: string) =>
    stores.refusedAddresses.find(tag(destination), new Date(clock.now().getTime() - DAY_MS))
  return {
    /** The address was refused last at this time; null if that was not within the last day. */
    findRefusal,
    note: (destination: string): Promise<void> => stores.refusedAddresses.put(tag(destination), clock.now()),
    isRefused: async (destination: string): Promise<boolean> => (await findRefusal(destination)) !== null,
  }
}
