/** The parts of prom-client's default metrics, which it does not describe one by one. */
declare module 'prom-client/lib/metrics/*.js' {
  import type { Registry } from 'prom-client'

  const addTo: (registry: Registry) => void
  export default addTo
}
