/**
 * Counters in Redis: `<prefix>{limits}:<key>`, a JSON string (see charge.ts) that expires when it no longer matters.
 * All counters share one hash tag, so that one script can evaluate several at once, also in a cluster. All of them are on
 * one master therefore, on purpose: a charge costs about 20 microseconds, and exactness is worth more than distribution.
 */
import type { RedisConnection } from '../../../platform/redis/connection.ts'
import { defineScript, runScript } from '../../../platform/redis/script.ts'
import { type CounterState, foresee, normalizeCharges, waitMsOf, windowCount } from './charge.ts'
import type { Charge, LimitStore } from './store.ts'

/**
 * Each function returns the wait, the state with this charge counted, and a corrected state if the clock was set back or
 * the rule's numbers were lowered. A refusal must write the corrected state, or the returned wait would be wrong.
 */
const charge = defineScript(`
local now = tonumber(ARGV[1])
local evaluate = {}

local function bucket(full)
  return { full = full, at = now, ends = full }
end

function evaluate.bucket(rule, state)
  local ahead = math.max((state.at or now) - now, 0)
  local latest = now + rule.burst * rule.intervalMs
  local full = math.max((state.full or now) - ahead, now)
  local mended
  if ahead > 0 or full > latest then
    full = math.min(full, latest)
    mended = bucket(full)
  end
  local wait = math.max(full - now - (rule.burst - 1) * rule.intervalMs, 0)
  return wait, bucket(full + rule.intervalMs), mended
end

local function window(rule, state)
  local n, ends = state.n or 0, state.ends
  if n == 0 or ends <= now then return 0, now + rule.windowMs end
  if ends > now + rule.windowMs then
    ends = now + rule.windowMs
    return n, ends, { n = n, ends = ends }
  end
  return n, ends
end

function evaluate.window(rule, state)
  local n, ends, mended = window(rule, state)
  return n >= rule.count and ends - now or 0, { n = n + 1, ends = ends }, mended
end

local function refused(rule, level, untilMs)
  return { level = level, ['until'] = untilMs, ends = untilMs + rule.windowMs }
end

function evaluate.failures(rule, state)
  local level, over = state.level or 0, state['until']
  local mended
  if level > 0 then
    local latest = now + math.min(rule.refusalMs * 2 ^ (level - 1), rule.maximumMs)
    if over > latest then
      over = latest
      mended = refused(rule, level, over)
    end
    if now < over + rule.windowMs then
      local nextLevel = math.min(level + 1, 40)
      local refusalMs = math.min(rule.refusalMs * 2 ^ (nextLevel - 1), rule.maximumMs)
      return math.max(over - now, 0), refused(rule, nextLevel, now + refusalMs), mended
    end
    state = {}
  end
  local n, ends, mendedWindow = window(rule, state)
  if n + 1 >= rule.count then
    return 0, refused(rule, 1, now + math.min(rule.refusalMs, rule.maximumMs)), mendedWindow
  end
  return 0, { n = n + 1, ends = ends }, mendedWindow
end

local function put(key, state)
  redis.call('SET', key, cjson.encode(state), 'PX', state.ends - now)
end

local worst, counted, mended = 0, {}, {}
for i, rule in ipairs(cjson.decode(ARGV[2])) do
  local stored = redis.call('GET', KEYS[i])
  local wait
  wait, counted[i], mended[i] = evaluate[rule.kind](rule, stored and cjson.decode(stored) or {})
  worst = math.max(worst, wait)
end
for i, key in ipairs(KEYS) do
  if worst == 0 then
    put(key, counted[i])
  elseif mended[i] then
    put(key, mended[i])
  end
end
return { worst, cjson.encode(counted) }
`)

const read = defineScript(`return redis.call('MGET', unpack(KEYS))`)

const clear = defineScript(`return redis.call('DEL', unpack(KEYS))`)

export function createRedisLimitStore(redis: RedisConnection): LimitStore {
  const nameOf = (key: string) => `${redis.keyPrefix}{limits}:${key}`

  async function statesOf(keys: string[]): Promise<CounterState[]> {
    if (keys.length === 0) return []
    const texts = (await runScript(redis, read, keys.map(nameOf), [])) as (string | null)[]
    return texts.map((text) => (text === null ? {} : JSON.parse(text)))
  }

  async function waitsOf(charges: Charge[], now: Date): Promise<number[]> {
    const states = await statesOf(charges.map(({ key }) => key))
    return charges.map(({ rule }, i) => waitMsOf(rule, states[i] ?? {}, now))
  }

  const chargeAndForesee: LimitStore['chargeAndForesee'] = async (charges, now) => {
    const sorted = normalizeCharges(charges)
    const keys = sorted.map(({ key }) => nameOf(key))
    const rules = JSON.stringify(sorted.map(({ rule }) => rule))
    const answer = await runScript(redis, charge, keys, [now.getTime(), rules])
    const [waitMs, counted] = answer as [number, string]
    const states: CounterState[] = JSON.parse(counted)
    return { waitMs, nextMs: foresee(Object.fromEntries(sorted.map(({ key }, i) => [key, states[i]!]))) }
  }

  return {
    charge: async (charges, now) =>
      charges.length === 0 ? 0 : (await chargeAndForesee(charges, now)).waitMs,
    chargeAndForesee,
    countOf: async (key, now) => windowCount((await statesOf([key]))[0] ?? {}, now),
    waitsOf,
    findRefusing: async (charges, now) =>
      charges[(await waitsOf(charges, now)).findIndex((ms) => ms > 0)] ?? null,
    clear: async (keys) => {
      if (keys.length > 0) await runScript(redis, clear, keys.map(nameOf))
    },
    clearBeginning: (beginning) => redis.removeBeginning(nameOf(beginning)),
    sweep: async () => 0,
  }
}
