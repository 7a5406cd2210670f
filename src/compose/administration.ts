/** The socket and the listener of administration. Their routes are loaded at the first request: a service starts without them. */
import type { AdminApp, AdminListener, AdminListenerOptions, AdminServices } from '../admin-app.ts'
import type { StoreContext } from '../domain/operations/doctor/check.ts'
import type { DoctorService } from '../domain/operations/doctor/service.ts'
import type { AddressProbes } from '../platform/http/address-probes.ts'

export interface Administration {
  /** Answers what comes through the socket: everybody who reaches it is let in. */
  handle(request: Request): Promise<Response>
  /** It listens on TCP, with tokens and a page. It returns null where `admin.listen` is not set. */
  listener: (() => Promise<AdminListener>) | null
  doctor(): Promise<DoctorService>
}

interface AdministrationOptions extends Omit<AdminListenerOptions, 'listen'> {
  listen: AdminListenerOptions['listen'] | null
  probes: AddressProbes
  examined: StoreContext
}

export function createAdministration(
  services: AdminServices,
  { listen, probes, examined, ...options }: AdministrationOptions,
): Administration {
  const doctor = once(async () => {
    const { createDoctorService } = await import('../domain/operations/doctor/service.ts')
    return createDoctorService(examined, probes)
  })
  const app = once(async (): Promise<AdminApp> => {
    const { createAdminApp } = await import('../admin-app.ts')
    const { catalog, logger, onInternalError } = options
    return createAdminApp(
      { ...services, doctor: await doctor() },
      { catalog, logger, ...(onInternalError && { onInternalError }) },
    )
  })
  return {
    handle: async (request) => (await app()).handle(request),
    listener:
      listen &&
      once(async () => {
        const { createAdminListener } = await import('../admin-app.ts')
        return createAdminListener(services, { ...options, listen })
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
