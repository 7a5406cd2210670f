/**
 * One-time codes in Redis: the hash `<prefix>code:{<subject>}:<purpose>`, with `:<group>` at its end for every group
 * but strangers. Its fields are `hash` (keyed), `attempts`, `ends` (ms), `message` (the id of its message, or 0) and,
 * once it was used or ended, `used`. It expires with the code. Each method is one Lua script.
 */
import type { RedisConnection } from '../../../platform/redis/connection.ts'
import { defineScript, runScript } from '../../../platform/redis/script.ts'
import { callerGroups } from '../../foundation/limits/callers.ts'
import { type CodeKey, type CodeResult, type CodeStore, codeSlots } from './store.ts'

/** The key's own expiry is for tidiness; what counts is `ends` against the caller's clock. */
const put = defineScript(`
local code = redis.call('HMGET', KEYS[1], 'message', 'ends')
local stored, message = tonumber(code[1] or 0), tonumber(ARGV[4])
if message and stored > message and tonumber(code[2]) > tonumber(ARGV[3]) then return end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'hash', ARGV[1], 'attempts', 0, 'ends', ARGV[2], 'message', message or stored)
redis.call('PEXPIRE', KEYS[1], ARGV[2] - ARGV[3])
`)

const kill = defineScript(`
for _, key in ipairs(KEYS) do
  local code = redis.call('HMGET', key, 'message', 'used')
  if not code[2] then
    redis.call('HSET', key, 'hash', ARGV[1], 'message', code[1] or 0)
    redis.call('HSETNX', key, 'attempts', 0)
  end
  redis.call('HSET', key, 'ends', ARGV[2])
  redis.call('PEXPIRE', key, ARGV[2] - ARGV[3])
end
`)

const start = defineScript(`
local code = redis.call('HMGET', KEYS[1], 'hash', 'used')
if code[1] and (code[1] ~= ARGV[1] or code[2]) then return 0 end
redis.call('HSET', KEYS[1], 'hash', ARGV[1], 'ends', ARGV[2])
redis.call('HSETNX', KEYS[1], 'attempts', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[2] - ARGV[3])
return 1
`)

/** KEYS: the codes of all groups; ARGV[4] is the position of the caller's own. A right attempt is not counted. */
const take = defineScript(`
local allowed, now, own = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local result = 'wrong'
for i, key in ipairs(KEYS) do
  local code = redis.call('HMGET', key, 'hash', 'attempts', 'ends', 'used')
  if code[1] and tonumber(code[2]) < allowed and tonumber(code[3]) > now then
    local right = code[1] == ARGV[1]
    if right and code[4] then
      if result == 'wrong' then result = 'spent' end
    elseif right then
      redis.call('HSET', key, 'used', 1)
      result = 'right'
    elseif i == own and not code[4] then
      local attempts = redis.call('HINCRBY', key, 'attempts', 1)
      if attempts >= allowed then redis.call('HSET', key, 'used', 1) end
    end
  end
end
return result
`)

const holds = defineScript(`
for _, key in ipairs(KEYS) do
  local code = redis.call('HMGET', key, 'hash', 'attempts', 'ends', 'used')
  if code[1] == ARGV[1] and (ARGV[4] == '1' or not code[4]) and tonumber(code[2]) < tonumber(ARGV[2]) and tonumber(code[3]) > tonumber(ARGV[3]) then
    return 1
  end
end
return 0
`)

export function createRedisCodeStore(redis: RedisConnection): CodeStore {
  const nameOf = ({ subject, purpose, group }: CodeKey) =>
    `${redis.keyPrefix}code:{${subject}}:${purpose}${group === 'stranger' ? '' : `:${group}`}`
  const run = (script: typeof put, key: CodeKey, values: (string | number | Uint8Array)[]) =>
    runScript(redis, script, [nameOf(key)], values)
  return {
    put: async (key, { hash, expiresAt, messageId = null }, now) => {
      await run(put, key, [hash, expiresAt.getTime(), now.getTime(), messageId ?? ''])
    },
    start: async (key, { hash, expiresAt }, now) =>
      (await run(start, key, [hash, expiresAt.getTime(), now.getTime()])) === 1,
    async take(key, hash, attempts, now) {
      const keys = callerGroups.map((group) => nameOf({ ...key, group }))
      const own = key.group === null ? 0 : callerGroups.indexOf(key.group) + 1
      return (await runScript(redis, take, keys, [hash, attempts, now.getTime(), own])) as CodeResult
    },
    async holds(key, hash, attempts, now, orSpent = false) {
      const keys = callerGroups.map((group) => nameOf({ ...key, group }))
      return (await runScript(redis, holds, keys, [hash, attempts, now.getTime(), orSpent ? 1 : 0])) === 1
    },
    kill: async (subject, { hash, expiresAt }, now) => {
      const keys = codeSlots.map((slot) => nameOf({ subject, ...slot }))
      await runScript(redis, kill, keys, [hash, expiresAt.getTime(), now.getTime()])
    },
    sweep: async () => 0,
  }
}
