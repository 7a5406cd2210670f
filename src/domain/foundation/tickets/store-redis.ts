/**
 * Tickets in Redis: the string `<prefix>ticket:<key>` = `<end in ms> <JSON>`, which expires with the value. Each method
 * is one Lua script.
 */
import type { RedisConnection } from '../../../platform/redis/connection.ts'
import { defineScript, runScript } from '../../../platform/redis/script.ts'
import type { TicketStore } from './store.ts'

/** The expiry of the key only keeps Redis tidy; what counts is the end compared with the caller's clock. */
const put = defineScript(`
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1] - ARGV[3])
`)

const find = defineScript(`return redis.call('GET', KEYS[1])`)

const take = defineScript(`
local ticket = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return ticket
`)

export function createRedisTicketStore(redis: RedisConnection): TicketStore {
  const run = (script: typeof put, key: string, values: (string | number)[] = []) =>
    runScript(redis, script, [`${redis.keyPrefix}ticket:${key}`], values)
  return {
    put: async (key, value, expiresAt, now) => {
      await run(put, key, [expiresAt.getTime(), JSON.stringify(value), now.getTime()])
    },
    find: async (key, now) => read(await run(find, key), now),
    take: async (key, now) => read(await run(take, key), now),
    sweep: async () => 0,
  }
}

function read(ticket: unknown, now: Date): Record<string, unknown> | null {
  if (typeof ticket !== 'string') return null
  const space = ticket.indexOf(' ')
  return Number(ticket.slice(0, space)) > now.getTime() ? JSON.parse(ticket.slice(space + 1)) : null
}
