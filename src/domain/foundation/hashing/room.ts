/** The hash service, as large as it is configured. */
import type { Config } from '../../../platform/config/types.ts'
import type { Logger } from '../../../platform/http/logging.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createHashService } from './service.ts'
import type { DigestStore } from './store.ts'

interface Needs {
  config: Config
  logger: Logger
  metrics: Metrics
  stores: { digests: DigestStore }
}

const SEVERAL_WORKS =
  'stored passwords have several sets of hash parameters: until their owners sign in, each login costs a hash under every one of them'

const FALLBACK =
  'passwords are verified by Bun.password, which takes about three times as long: the native addon cannot be used'

export function createHashing({ stores, config: { password, limits }, logger, metrics }: Needs) {
  return createHashService({
    memoryKib: password.memoryKib,
    iterations: password.iterations,
    concurrency: limits.hashConcurrency,
    queue: limits.hashQueue,
    reserved: limits.hashQueueReserved,
    store: stores.digests,
    metrics,
    onSeveralWorks: (works) => logger.info({ works }, SEVERAL_WORKS),
    onFallback: (reason) => logger.warn({ reason }, FALLBACK),
  })
}
