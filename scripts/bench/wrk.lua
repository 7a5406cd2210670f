-- What wrk sends and counts, for wrk.ts: `wrk -s wrk.lua URL -- FILE WARMUP_SECONDS CYCLIC`. FILE holds whole HTTP
-- requests, each after a line with its length; in the refresh load there is one that has TOKEN in it, and the tokens
-- stand behind it, one a line: each answer's token goes back to the end of the line.
local ffi = require('ffi')
ffi.cdef([[
  struct moment { long seconds, nanoseconds; };
  int clock_gettime(int clock, struct moment *into);
]])
local moment = ffi.new('struct moment')
local function seconds()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

local threads = {}
function setup(thread)
  threads[#threads + 1] = thread
end

-- Of a thread; globals, so that `done` can read them. Times in seconds since `beginAt`.
answered, counted, lastAt, empty = 0, {}, 0, false

local requests, tokens = {}, nil
local beginAt, cyclic
local nextOne, newest = 1, 0
-- wrk looks at one request before it begins, and does not send it.
local shown = false

function init(args)
  beginAt = seconds() + tonumber(args[2])
  cyclic = args[3] == 'true'
  local file = assert(io.open(args[1], 'rb'))
  for length in file:lines() do
    if tonumber(length) then
      requests[#requests + 1] = file:read(tonumber(length))
    else
      tokens = tokens or {}
      newest = newest + 1
      tokens[newest] = string.sub(length, 2)
    end
  end
  file:close()
end

function request()
  local at = nextOne
  if shown then nextOne = nextOne + 1 else shown = true end
  if tokens then
    local token = tokens[at]
    if nextOne > at then tokens[at] = nil end
    if token then return (string.gsub(requests[1], 'TOKEN', token, 1)) end
  elseif cyclic or at <= #requests then
    return requests[(at - 1) % #requests + 1]
  end
  empty = true
  wrk.thread:stop()
  return ''
end

function response(status, headers, body)
  answered = answered + 1
  if tokens then
    local token = string.match(body, '"refresh_token":"(%x+)"')
    if token then
      newest = newest + 1
      tokens[newest] = token
    end
  end
  local at = seconds() - beginAt
  if at < 0 then return end
  lastAt = at
  local key = tostring(status)
  counted[key] = (counted[key] or 0) + 1
end

function done(summary, latency)
  local thread = threads[1]
  local statuses = {}
  for status, count in pairs(thread:get('counted')) do
    statuses[#statuses + 1] = string.format('"%s":%d', status, count)
  end
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"answered":%d,"counted":{%s},"lastAtMs":%f,"empty":%s,"errors":%d,"p50Ms":%f,"p99Ms":%f,"maxMs":%f}\n',
    thread:get('answered'), table.concat(statuses, ','), thread:get('lastAt') * 1000, tostring(thread:get('empty')),
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
