/** The checks of the stores, as a process runs them that has the stores open. */
import type { AddressProbes } from '../../platform/http/address-probes.ts'
import type { NamedFinding, StoreContext } from './check.ts'
import { checks } from './checks.ts'
import { examine } from './examine.ts'
import { createDoctorStore } from './store.ts'

export type DoctorService = ReturnType<typeof createDoctorService>

export function createDoctorService(context: StoreContext, probes: AddressProbes) {
  const { database, clock } = context
  return {
    async examineStores(): Promise<{ findings: NamedFinding[]; publishedKeys: string[] | null }> {
      const [findings, publishedKeys] = await Promise.all([
        examine(checks, 'stores', context),
        createDoctorStore(database)
          .publishedKeys(clock.now())
          .catch(() => null),
      ])
      return { findings, publishedKeys }
    },
    startProbe: probes.expect,
    readProbe: probes.take,
  }
}
