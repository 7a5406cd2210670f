/** However many registrations strangers leave behind for a number, its owner signs in by it and verifies it. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { type Shape, startService } from '../helpers/service.ts'
import { reduced, soaking } from '../helpers/soak.ts'

setDefaultTimeout(soaking ? 120_000 : 30_000)

const MANY = soaking ? 100_000 : 3000
/** The number of claims of each kind that end with one verification. */
const ENDED_AT_ONCE = 1000
/** Far above what one indexed read takes on a busy machine, far below what reading every claim takes. */
const GENEROUS_MS = 5000

/** So many at a time, to stay within the time that one statement may take. */
const BATCH = 1000

const first = param('first', 'int')
const plantRegistrations = statement<{ phone: string; first: number; at: Date }>(sql`
  insert into accounts (uuid, email, email_key, phone, password_digest, accountable_type, role_id, language,
                        created_at, updated_at, waiting_for)
  select gen_random_uuid(), 'planted' || n || '@example.com', 'planted' || n || '@example.com',
         ${param('phone', 'text')}, 'x', 'User', 1, 'fr', ${param('at', 'timestamptz')},
         ${param('at', 'timestamptz')}, 'planted' || n || '@example.com'
    from generate_series(${first}, ${first} + ${sql.raw(String(BATCH - 1))}) n`)

test.each(reduced<Shape[]>(['postgres'], ['embedded', 'postgres']))(
  'the work of signing in and of the verification is bounded on %s',
  async (shape) => {
    await using service = await startService({ shape })
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(email), phone })
    const otp = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
    const at = service.clock.now()
    for (let planted = 0; planted < MANY; planted += BATCH) {
      await service.inside.database.all(plantRegistrations, { phone, first: planted, at })
    }
    const naming = sql`phone = ${sql.raw(`'${phone}'`)}`
    expect(await countRows(service, 'accounts', naming)).toBe(MANY + 1)

    const startedAt = performance.now()
    const login = await service.post('login', { identifier: phone, password: PASSWORD })
    expect(login.body.account.email).toBe(email)
    const bearer = login.body.access_token
    expect((await service.post('phone/change', { phone, password: PASSWORD }, { bearer })).status).toBe(201)
    const code = await service.inbox.nextCode(phone)
    expect((await service.post('phone/confirm', { otp: code }, { bearer })).status).toBe(200)
    expect((await service.post('resend-verification', { identifier: phone })).status).toBe(201)
    expect((await service.post('password/forgot', { identifier: phone })).status).toBe(201)
    expect(performance.now() - startedAt).toBeLessThan(GENEROUS_MS)

    // The bound itself: no more claims than this end with one verification, and those left mean nothing.
    expect(await countRows(service, 'accounts', naming)).toBe(MANY + 1 - ENDED_AT_ONCE)
    const again = await service.post('login', { identifier: phone, password: PASSWORD })
    expect(again.body.account.email).toBe(email)
  },
)
