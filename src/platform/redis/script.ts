/**
 * Lua scripts are the only way in which stores talk to Redis: one script for each method, so that each method is atomic
 * and takes one round trip. All keys of a script must share one hash tag, or a cluster refuses it.
 */
import { createHash } from 'node:crypto'
import type { RedisConnection } from './connection.ts'

export interface Script {
  readonly lua: string
  readonly sha: string
}

/** Called once, when the store's module loads. */
export function defineScript(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

/**
 * Returns the script's reply: integers as numbers, strings as strings, false as null. Sends the hash of the script, and
 * its text only to a server that does not have it (after a restart, a flush or a failover). Throws RedisUnavailable.
 */
export function runScript(
  redis: RedisConnection,
  { lua, sha }: Script,
  keys: string[],
  values: (string | number | Uint8Array)[] = [],
): Promise<unknown> {
  const rest = [...keys, ...values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))]
  return redis.send(async (client) => {
    try {
      return await client.evalsha(sha, keys.length, ...rest)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return await client.eval(lua, keys.length, ...rest)
    }
  })
}
