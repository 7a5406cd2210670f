/** The hash service, as large as it is configured. */
import type { Services, Stores } from '../../services.ts'
import { createHashService } from './service.ts'

type Needs = Pick<Services, 'config' | 'logger' | 'metrics'> & { stores: Pick<Stores, 'digests'> }

const SEVERAL_WORKS =
  'stored passwords have several sets of hash parameters: until their owners log in, each login costs a hash under every one of them'

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
  })
}
