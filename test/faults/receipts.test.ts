/**
 * A gateway reports thousands of SMS at once. Load and service share this process, so that the rates are lower bounds.
 * A thousand a second with servers and two hundred embedded, with TEST_SOAK=1; a tenth of it otherwise, on a machine
 * that others use as well.
 */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { countRows } from '../helpers/database.ts'
import type { Shape } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

const COUNT = reduced(500, 10_000)
const CONNECTIONS = 16
const goals: [Shape, number][] = [
  ['embedded', reduced(20, 200)],
  ['redis', reduced(100, 1000)],
]
const SECRET = 'a-secret-of-the-gateway'
const gateway = {
  name: 'acme',
  url: 'http://127.0.0.1:9',
  body: { to: '{to}', text: '{text}' },
  message_id: 'id',
  receipts: { secret: SECRET, message_id: 'id', status: 'status', delivered: ['ok'], failed: ['no'] },
}

const sendMany = statement<{ count: number }, never>(sql`
  insert into messages (channel, destination, purpose, language, created_at, next_attempt_at, finished_at, outcome,
                        gateway, provider_id)
  select 'sms', '+33612340000', 'account_exists', 'fr', now(), now(), now(), 'sent', 'acme', 'id-' || number
    from generate_series(1, ${param('count', 'int')}) as number`)

describe.each(goals)('receipts on %s', (shape, goal) => {
  const service = useService({ shape, settings: { log: { level: 'warn' }, sms: { gateways: [gateway] } } })

  test(`are taken at ${goal} a second`, async () => {
    await service.inside.database.all(sendMany, { count: COUNT })
    let next = 0
    const startedAt = performance.now()
    const report = async () => {
      while (next < COUNT) {
        const { status } = await fetch(`${service.url}/api/v1/sms/receipts/acme`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` },
          body: JSON.stringify({ id: `id-${++next}`, status: 'ok' }),
        })
        expect(status).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, report))
    const rate = COUNT / ((performance.now() - startedAt) / 1000)
    console.log(`${shape}: ${Math.round(rate)} receipts a second`)
    expect(await countRows(service, 'messages', sql`receipt = 'delivered'`)).toBe(COUNT)
    expect(rate).toBeGreaterThan(goal)
  })
})
