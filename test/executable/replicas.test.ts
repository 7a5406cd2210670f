/** Two processes on the same stores: what may succeed once succeeds once, whoever is asked. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { newEmail, registration } from '../helpers/api-client.ts'
import { type Executable, newStorage, startExecutable } from '../helpers/executable.ts'
import { startGateway, type TestGateway } from '../helpers/gateway.ts'
import { startSmtp, type TestSmtp } from '../helpers/smtp.ts'

setDefaultTimeout(60_000)

describe.each(['postgres', 'redis'] as const)('two processes on %s', (shape) => {
  let stores: Awaited<ReturnType<typeof newStorage>>
  let smtp: TestSmtp
  let gateway: TestGateway
  let both: Executable[]
  beforeAll(async () => {
    stores = await newStorage(shape)
    smtp = await startSmtp({ security: 'none', auth: null })
    gateway = await startGateway()
    both = await Promise.all([1, 2].map(() => startExecutable({ storage: stores.settings, smtp, gateway })))
  })
  afterAll(async () => {
    await Promise.all(both.map((each) => each.close()))
    await Promise.all([smtp.stop(), gateway.stop(), stores.drop()])
  })

  /** 32 calls at once, every second one at the other process. */
  const ask = (operation: string, body: object) =>
    Promise.all(Array.from({ length: 32 }, (_, i) => (both[i % 2] as Executable).post(operation, body)))
  const first = () => both[0] as Executable
  const codesOf = (answers: Awaited<ReturnType<typeof ask>>) =>
    new Set(answers.filter(({ status }) => status >= 300).map(({ body }) => body.code))

  test('32 right codes at once confirm once', async () => {
    const email = newEmail()
    await first().post('register', registration(email))
    const otp = await first().inbox.nextCode(email)
    const answers = await ask('verify-account', { identifier: email, otp })
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const code of codesOf(answers)) expect(['invalid_code', 'too_many_attempts']).toContain(code)
  })

  test('32 right codes at once log in once', async () => {
    const { identifier, password } = await first().signUp(newEmail())
    await first().post('2fa/request-otp', { identifier })
    const otp = await first().inbox.nextCode(identifier)
    const answers = await ask('2fa/verify', { identifier, otp, password })
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const code of codesOf(answers)) expect(['invalid_code', 'too_many_attempts']).toContain(code)
  })

  test('32 registrations at once make one account, and each is answered alike', async () => {
    const email = newEmail()
    const answers = await ask('register', registration(email))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    const sql = postgres(stores.settings.database?.url as string, { max: 1 })
    const rows = await sql`select uuid from accounts where email = ${email}`
    await sql.end()
    expect(rows).toHaveLength(1)
  })

  test('every message goes out once', async () => {
    const emails = Array.from({ length: 40 }, newEmail)
    const answers = await Promise.all(
      emails.map((email, i) => (both[i % 2] as Executable).post('register', registration(email))),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    await Promise.all(emails.map((email) => smtp.waitForMailTo(email)))
    await Bun.sleep(500)
    for (const email of emails) expect(first().inbox.textsTo(email)).toHaveLength(1)
  })
})
