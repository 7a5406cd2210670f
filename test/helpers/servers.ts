/**
 * Real PostgreSQL and Redis servers for tests, on ports and in directories of their own, gone when the test run is
 * gone. `createDatabase()` and `sharedRedis()` + `redisPrefix()` use the servers that the run shares; `start…()`
 * gives one to stop, restart and pause.
 */
export {
  createDatabase,
  type PostgresServer,
  promote,
  sharedPostgres,
  startPostgres,
  startStandby,
  type TestDatabase,
} from './postgres-server.ts'
export {
  FAILOVER_MS,
  type RedisCluster,
  type RedisSentinel,
  type RedisServer,
  redisPrefix,
  sharedRedis,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from './redis-server.ts'
