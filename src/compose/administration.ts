/** The socket and the listener of administration. Their routes are loaded at the first request: a service starts without them. */

import type { DevKey } from '../operations/dev/dev-key.ts'
import type { StoreContext } from '../operations/doctor/check.ts'
import type { AddressProbes } from '../platform/http/address-probes.ts'
import type { AdminListenerOptions } from './admin-app.ts'
import type { Services } from './services.ts'

interface AdministrationOptions extends Omit<AdminListenerOptions, 'listen' | 'gate'> {
  /** With --dev on an address that others reach. */
  key: DevKey | null
  listen: AdminListenerOptions['listen'] | null
  probes: AddressProbes
  examined: StoreContext
}

export function createAdministration(
  services: Services,
  { listen, key, probes, examined, ...options }: AdministrationOptions,
) {
  const doctor = once(async () => {
    const { createDoctorService } = await import('../operations/doctor/service.ts')
    return createDoctorService(examined, probes)
  })
  const app = once(async () => {
    const { createAdminApp } = await import('./admin-app.ts')
    const { catalog, logger, onInternalError } = options
    return createAdminApp(
      { ...services, doctor: await doctor() },
      { catalog, logger, ...(onInternalError && { onInternalError }) },
    )
  })
  return {
    /** Answers what comes through the socket: everybody who reaches it is let in. */
    handle: async (request: Request) => (await app()).handle(request),
    /** It listens on TCP, with tokens and a page. It returns null where `admin.listen` is not set. */
    listener:
      listen &&
      once(async () => {
        const { createAdminListener } = await import('./admin-app.ts')
        const gate = key && (await import('../operations/dev/routes.ts')).createKeyGate
        return createAdminListener(services, {
          ...{ ...options, listen },
          gate: gate && ((httpBase) => gate(httpBase, key)),
        })
      }),
    doctor,
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
