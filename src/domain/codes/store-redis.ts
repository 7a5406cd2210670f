/**
 * One-time codes in Redis: hash `<prefix>code:{<subject>}:<purpose>` with `hash` (keyed), `attempts`, `ends`
 * (ms), `message` (the id of the one it goes out with, or 0) and, once it is taken or dead, `used`; it expires with the code. One Lua script a method.
 */
import type { RedisConnection } from '../../platform/redis/connection.ts'
import { defineScript, runScript } from '../../platform/redis/script.ts'
import type { CodeKey, CodeStore } from './store.ts'

/** The key's own expiry is for tidiness; what counts is `ends` against the caller's clock. */
const put = defineScript(`
local code = redis.call('HMGET', KEYS[1], 'message', 'ends')
local stored, message = tonumber(code[1] or 0), tonumber(ARGV[4])
if message and stored > message and tonumber(code[2]) > tonumber(ARGV[3]) then return end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'hash', ARGV[1], 'attempts', 0, 'ends', ARGV[2], 'message', message or stored)
redis.call('PEXPIRE', KEYS[1], ARGV[2] - ARGV[3])
`)

const start = defineScript(`
local code = redis.call('HMGET', KEYS[1], 'hash', 'used')
if code[1] and (code[1] ~= ARGV[1] or code[2]) then return 0 end
redis.call('HSET', KEYS[1], 'hash', ARGV[1], 'ends', ARGV[2])
redis.call('HSETNX', KEYS[1], 'attempts', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[2] - ARGV[3])
return 1
`)

const take = defineScript(`
local code = redis.call('HMGET', KEYS[1], 'hash', 'attempts', 'ends', 'used')
local allowed = tonumber(ARGV[2])
if not code[1] or code[4] or tonumber(code[2]) >= allowed or tonumber(code[3]) <= tonumber(ARGV[3]) then return 0 end
local attempts = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
local right = code[1] == ARGV[1]
if right or attempts >= allowed then redis.call('HSET', KEYS[1], 'used', 1) end
return right and 1 or 0
`)

const remove = defineScript(`return redis.call('DEL', KEYS[1])`)

export function createRedisCodeStore(redis: RedisConnection): CodeStore {
  const run = (script: typeof put, { subject, purpose }: CodeKey, values: (string | number | Uint8Array)[]) =>
    runScript(redis, script, [`${redis.keyPrefix}code:{${subject}}:${purpose}`], values)
  return {
    put: async (key, { hash, expiresAt, messageId = null }, now) => {
      await run(put, key, [hash, expiresAt.getTime(), now.getTime(), messageId ?? ''])
    },
    start: async (key, { hash, expiresAt }, now) =>
      (await run(start, key, [hash, expiresAt.getTime(), now.getTime()])) === 1,
    take: async (key, hash, attempts, now) => (await run(take, key, [hash, attempts, now.getTime()])) === 1,
    remove: async (key) => {
      await run(remove, key, [])
    },
    sweep: async () => 0,
  }
}
