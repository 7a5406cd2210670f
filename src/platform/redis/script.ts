/**
 * Lua scripts are the only way in which stores talk to Redis: one script for each method, so that each method is atomic
 * and takes one round trip. All keys of a script must share one hash tag, or a cluster refuses it.
 */
import { createHash } from 'node:crypto'
import type { RedisClient, RedisConnection } from './connection.ts'
import { causeOfCommand, RedisUnavailable, refusalCause } from './failure.ts'

export interface Script {
  readonly lua: string
  readonly sha: string
}

/** Called once, when the store's module loads. */
export function defineScript(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

type Value = string | number | Uint8Array

/**
 * Returns the script's reply: integers as numbers, strings as strings, false as null. Sends the hash of the script, and
 * its text only to a server that does not have it (after a restart, a flush or a failover). Throws RedisUnavailable.
 */
export function runScript(
  redis: RedisConnection,
  { lua, sha }: Script,
  keys: string[],
  values: Value[] = [],
): Promise<unknown> {
  const rest = [...keys, ...values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))]
  return redis.send((client) =>
    namingCommands(lua, async () => {
      try {
        return await client.evalsha(sha, keys.length, ...rest)
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
        return await client.eval(lua, keys.length, ...rest)
      }
    }),
  )
}

/** Redis before 7.2 does not name the command that a script may not run, but its line. */
async function namingCommands<T>(lua: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const cause = refusalCause(error)
    const line = / @?user_script: ?(\d+)/.exec(String((error as Error).message))?.[1]
    if (cause === null || cause.includes(':') || line === undefined) throw error
    const command = /redis\.call\('(\w+)'/.exec(lua.split('\n')[Number(line) - 1] ?? '')?.[1]
    throw new RedisUnavailable(causeOfCommand(cause, command))
  }
}

/** Every command of the scripts, each in a line of its own, on a key that only shows that keys can be written. */
const probe = defineScript(`
redis.call('SET', KEYS[1], 1, 'PX', 10000)
redis.call('GET', KEYS[1])
redis.call('MGET', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'count', 1)
redis.call('HSETNX', KEYS[1], 'count', 1)
redis.call('HINCRBY', KEYS[1], 'count', 1)
redis.call('HMGET', KEYS[1], 'count')
redis.call('PEXPIRE', KEYS[1], 10000)`)

/**
 * Throws RedisUnavailable unless the server takes writes and lets its user run all that the stores need: both ways to run
 * a script, and each command in it. In a cluster another master is asked each time.
 */
export async function requireCommands(redis: RedisConnection): Promise<void> {
  const key = `${redis.keyPrefix}readiness:${crypto.randomUUID().slice(0, 2)}`
  const run = (client: RedisClient) =>
    Promise.all([client.eval(probe.lua, 1, key), client.evalsha(probe.sha, 1, key)])
  await redis.send((client) => namingCommands(probe.lua, () => run(client)))
}
