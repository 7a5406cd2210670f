/** The parts that services of every folder are built on; a service picks those that it needs. */
import type { Clock } from './clock.ts'
import type { Config } from './config/types.ts'
import type { Logger } from './log/logging.ts'
import type { ServerSecret } from './secret.ts'

export interface Ground {
  clock: Clock
  config: Config
  logger: Logger
  secret: ServerSecret
}
