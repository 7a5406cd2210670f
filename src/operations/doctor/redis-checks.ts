/** Redis, where codes and counters are kept in it. In a cluster every master is asked. */
import type { RedisConnection } from '../../platform/redis/connection.ts'
import { describeOldRedis, type RedisFacts, UNKNOWN_VERSION } from '../../platform/redis/facts.ts'
import { requireCommands } from '../../platform/redis/script.ts'
import { type Finding, failure, ok, type RedisContext, warning, worstOf } from './check.ts'
import { checkSkew } from './database-checks.ts'
import { explainFailure } from './explain.ts'

const READY_MS = 4000
const NO_REDIS = ok('not configured: codes and counters are in the database')

export async function checkRedis({ config, redis }: RedisContext): Promise<Finding> {
  if (redis === null) return NO_REDIS
  try {
    await redis.ready(READY_MS)
    await requireCommands(redis)
    return ok(`it answers and takes writes (${config.redis.mode})`)
  } catch (error) {
    return failure(explainFailure(error, config.redis.mode === 'single' ? 'redis.url' : 'redis.urls'))
  }
}

const ofEach =
  (examine: (facts: RedisFacts, redis: RedisConnection) => Finding) =>
  async ({ redis }: RedisContext): Promise<Finding> =>
    redis === null
      ? NO_REDIS
      : worstOf(
          (await redis.inspect()).map((facts) => examine(facts, redis)),
          NO_REDIS,
        )

export const checkRedisVersion = ofEach(({ version }) => {
  if (version === UNKNOWN_VERSION) return warning('Redis does not say its version: 6.2 or later is needed')
  const old = describeOldRedis(version)
  return old === null ? ok(`Redis ${version}`) : failure(old)
})

export const checkEviction = ofEach(({ evictionPolicy }) =>
  evictionPolicy === null
    ? ok('it keeps what it was given')
    : failure(
        `maxmemory-policy is ${evictionPolicy}, so a full Redis would forget limits and codes: set it to noeviction, or maxmemory to 0`,
      ),
)

export const checkPersistence = ofEach(({ saveFailed, keepsOverRestart }) => {
  if (saveFailed)
    return failure(
      'the last save to its disk failed, and Redis refuses writes after that: look at its log, and make space or correct the rights of its directory',
    )
  return keepsOverRestart
    ? ok('codes under way and counters outlive a restart')
    : ok('nothing outlives a restart: people then ask for a new code, and counters begin anew')
})

export async function checkRedisClock({ redis }: RedisContext): Promise<Finding> {
  if (redis === null) return NO_REDIS
  const facts = await redis.inspect()
  const findings = facts.map(({ clockSkewMs }) => checkSkew(clockSkewMs, 'Redis'))
  return worstOf(findings, warning('no server answered'))
}
