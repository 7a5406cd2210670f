/** The log's lines, and that nothing in them steers a terminal. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createLogger, type LogLevel } from '../../src/platform/log/logging.ts'

setDefaultTimeout(20_000)

const clock = { now: () => new Date('2030-01-02T03:04:05.678Z') }

function logger(level?: LogLevel) {
  const lines: string[] = []
  return { lines, log: createLogger({ clock, write: (line) => lines.push(line), ...(level && { level }) }) }
}

test('a line is one JSON object with the level, the time and what was given', () => {
  const { lines, log } = logger()
  log.info({ route: '/x', code: undefined }, 'said')
  expect(lines).toEqual(['{"level":"info","time":"2030-01-02T03:04:05.678Z","route":"/x","msg":"said"}\n'])
})

test('levels below the one asked for are silent', () => {
  const { lines, log } = logger('warn')
  log.info({}, 'a')
  log.warn({}, 'b')
  expect(lines).toHaveLength(1)
})

test('control characters of every kind are escaped, and the text survives', () => {
  const { lines, log } = logger()
  const text = 'a\r\nb\u001b[31m\u009b31m\u007f\u2028\u2029\u0085\u0000é😀'
  log.warn({ text })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  expect(JSON.parse(lines[0] ?? '').text).toBe(text)
})

test('standard output gets the lines when nothing else is given', async () => {
  const module = new URL('../../src/platform/log/logging.ts', import.meta.url).pathname
  const script = `import { createLogger } from ${JSON.stringify(module)}
    createLogger({ clock: { now: () => new Date(0) } }).info({ a: 1 })`
  const child = Bun.spawn(['bun', '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  expect(await new Response(child.stdout).text()).toBe(
    '{"level":"info","time":"1970-01-01T00:00:00.000Z","a":1}\n',
  )
  expect(await child.exited).toBe(0)
})
