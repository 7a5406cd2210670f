/** One line of the log for people: the time, the level, what happened, then everything else as `name=value`. */

/** Shown by place and not by name. */
const PLACED = new Set(['level', 'time', 'msg', 'method', 'route', 'status', 'duration_ms'])

/** `line` is a line of JSON; the result can neither end a line early nor steer a terminal. */
export function toPrettyLine(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>
  const { level, time, msg, method, route, status, duration_ms: duration } = entry
  const request = method && [method, route ?? '(no route)', status, `${duration} ms`].join(' ')
  const rest = Object.entries(entry)
    .filter(([name, value]) => !PLACED.has(name) && value !== null)
    .map(([name, value]) => `${name}=${shown(value)}`)
  const parts = [String(time).slice(11, 19), String(level).padEnd(5), request, msg, ...rest]
  return `${parts
    .filter(Boolean)
    .join(' ')
    .replace(/\p{Cc}/gu, ' ')}\n`
}

/** Addresses stay without quotes, so that a terminal makes links of them. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w.,:/@+#?&=%()-]+$/.test(value) ? value : JSON.stringify(value)
}
