-- What wrk sends and counts, for load.ts: `wrk -s wrk.lua URL -- KIND WARMUP_SECONDS SECONDS`. The input holds whole HTTP
-- requests between record separators; of the kind `tokens` it is one, and tokens, of which it has the first: each answer's
-- token goes to the end of the line.
local ffi = require('ffi')
ffi.cdef([[
  struct moment { long seconds, nanoseconds; };
  int clock_gettime(int clock, struct moment *into);
]])
local moment = ffi.new('struct moment')
local function now()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

local only
function setup(thread)
  only = thread
end

-- Of the thread; globals, so that `done` can read them. `measured`: seconds since the end of the warm-up.
answered, counted, measured = 0, {}, 0

local kind, beginAt
local lines, nextOne, newest = {}, 1, 0
local lastAt = 0
-- wrk looks at one request before it begins, and does not send it.
local shown = false

function init(args)
  kind, beginAt, measured = args[1], now() + tonumber(args[2]), args[3] - args[2]
  for line in io.read('*a'):gmatch('[^\30]+') do lines[#lines + 1] = line end
  newest = #lines
  if kind == 'tokens' then nextOne = 2 end
end

function request()
  local line = lines[kind == 'cyclic' and (nextOne - 1) % newest + 1 or nextOne]
  if shown then nextOne = nextOne + 1 else shown = true end
  if line and kind == 'tokens' then return (string.gsub(lines[1], lines[2], line, 1)) end
  if line then return line end
  measured = lastAt
  wrk.thread:stop()
  return ''
end

function response(status, headers, body)
  answered = answered + 1
  local token = kind == 'tokens' and string.match(body, '"refresh_token":"(%x+)"')
  if token then
    newest = newest + 1
    lines[newest] = token
  end
  local at = now() - beginAt
  if at < 0 then return end
  lastAt = at
  counted[tostring(status)] = (counted[tostring(status)] or 0) + 1
end

function done(summary, latency)
  local statuses = {}
  for status, count in pairs(only:get('counted')) do
    statuses[#statuses + 1] = string.format('"%s":{"count":%d,"p50Ms":%f,"p99Ms":%f,"maxMs":%f}', status, count,
      latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000)
  end
  local errors = summary.errors
  print(string.format('{"byStatus":{%s},"seconds":%f,"answered":%d,"errors":%d}', table.concat(statuses, ','),
    only:get('measured'), only:get('answered'), errors.connect + errors.read + errors.write + errors.timeout))
end
