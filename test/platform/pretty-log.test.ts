/** The log as people read it. */
import { expect, test } from 'bun:test'
import { createLogger } from '../../src/platform/log/logging.ts'

function write(level: 'info' | 'warn', work: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = []
  const clock = { now: () => new Date('2026-01-02T03:04:05.678Z') }
  work(createLogger({ clock, level, pretty: true, write: (line) => lines.push(line) }))
  return lines
}

test('a request is one line, with its address left as a link', () => {
  const lines = write('info', (logger) => {
    logger.info({
      request_id: 'r-1',
      method: 'POST',
      route: '/login',
      status: 429,
      duration_ms: 1.5,
      code: 'x',
    })
    logger.info({ mailbox: 'http://127.0.0.1:8080/dev/mailbox' }, 'open these')
  })
  expect(lines).toEqual([
    '03:04:05 info  POST /login 429 1.5 ms request_id=r-1 code=x\n',
    '03:04:05 info  open these mailbox=http://127.0.0.1:8080/dev/mailbox\n',
  ])
})

test('nothing in a value ends a line or steers the terminal', () => {
  const [line] = write('info', (logger) => logger.info({ a: 'x\n\u001b[2J\u009b2J', b: '"' }, 'm\r\u001b[1m'))
  expect(line).toBe('03:04:05 info  m  [1m a="x\\n\\u001b[2J 2J" b="\\""\n')
})

test('what is below the level is not written', () => {
  const lines = write('warn', (logger) => {
    logger.info('no')
    logger.warn('yes')
  })
  expect(lines).toEqual(['03:04:05 warn  yes\n'])
})
