/**
 * Statements of the frequent calls are planned a few times on each connection, not at each call. PostgreSQL plans anew
 * where a value makes the statement look cheaper than it is for all values: with a null or a `false` it leaves out a half.
 */
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { logInWithApp, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { newCode, REDIRECT, redeem, signedInBrowser } from '../helpers/hand-over.ts'
import { pageSettings } from '../helpers/page-browser.ts'
import { reduced } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

/** PostgreSQL plans the first five executions for their values, and compares the sixth with them. */
const PLANNED_ANYWAY = 5
const TIMES = reduced(9, 14)
/** It runs once a second, however many calls there are. */
const RARE = 'sms_funnel.mark_verified'

const pages = { ...pageSettings.pages, applications: [{ id: 'web', name: 'Web', redirect_uris: [REDIRECT] }] }
const service = useService({ shape: 'embedded', settings: { ...pageSettings, pages } })

const prepared = statement<object, { name: string; anew: number }>(sql`
  select substring(statement from '/\\* ([a-z_.]+)') as name, custom_plans::int as anew from pg_prepared_statements
   order by 1`)

async function callsOfSomebody(time: number, identifier: string): Promise<void> {
  await service.signUp(identifier)
  const fields = { identifier, password: PASSWORD, device_fingerprint: `device ${time}` }
  const { access_token: bearer, refresh_token } = (await service.post('login', fields)).body
  await service.get('me', { bearer })
  await service.post('refresh', { refresh_token })
  await service.post('password/forgot', { identifier })
  expect((await service.post('logout', {}, { bearer })).status).toBe(200)
}

async function secondSteps(): Promise<void> {
  const byApp = await protectByApp(service)
  service.clock.advance(30_000)
  await logInWithApp(service, byApp)
  const { person } = await protectBySentCodes(service)
  await service.post('2fa/request-otp', { identifier: person.identifier })
  const otp = await service.newestCode(person.identifier)
  expect((await service.post('2fa/verify', { ...person, otp })).status).toBe(200)
}

async function handOver(): Promise<void> {
  const { browser } = await signedInBrowser(service)
  const { code, verifier } = await newCode(browser)
  expect((await redeem(service, code, verifier)).status).toBe(200)
}

test('a statement that is frequent is planned once', async () => {
  for (let time = 0; time < TIMES; time++) {
    await Promise.all([callsOfSomebody(time, newEmail()), callsOfSomebody(time, newPhone())])
    await Promise.all([secondSteps(), handOver()])
  }
  const statements = await service.inside.database.all(prepared, {})
  const names = statements.map(({ name }) => name)
  for (const name of ['sessions.sign_in', 'registration.confirm_by_phone', 'applications.redeem_code'])
    expect(names).toContain(name)
  const frequent = statements.filter(({ name }) => name !== RARE)
  expect(frequent.filter(({ anew }) => anew > PLANNED_ANYWAY)).toEqual([])
})
