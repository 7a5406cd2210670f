/** PostgreSQL crashes: what was acknowledged, and what refreshes and attempts leave to the log's own rhythm. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { newEmail, registration } from '../helpers/api-client.ts'
import { signal } from '../helpers/processes.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../helpers/servers.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

let postgres: PostgresServer
let service: TestService

beforeAll(async () => {
  postgres = await startPostgres({ settings: { synchronous_commit: 'on' } })
  const { url } = await createDatabase({ server: postgres })
  service = await startService({
    storage: { server: { secret: 'ef'.repeat(32) }, database: { url } },
    shape: 'postgres',
  })
}, 60_000)
afterAll(async () => {
  await service?.close()
  await postgres?.stop()
})

const refresh = (refresh_token: string) => service.post('refresh', { refresh_token })
const walWriter = statement<object, { pid: number }>(
  sql`select pid from pg_stat_activity where backend_type = 'walwriter'`,
)
const refreshedOf = statement<{ email: string }, { id: string }>(sql`
  select sessions.id from sessions join accounts on accounts.id = account_id
   where accounts.email = ${param('email', 'text')} and generation > 0`)

async function crash() {
  await postgres.kill()
  await postgres.start()
  await waitFor(async () => (await fetch(`${service.url}/readyz`)).ok, { what: 'service again' })
}

test('accounts, sessions and passwords that were acknowledged are there after a crash', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, () => service.signUp(newEmail())))
  const sessions = await Promise.all(people.map((person) => service.logIn(person)))
  const [ended, changed] = sessions
  await service.post('logout', { refresh_token: ended!.refresh_token })
  const password = 'another one, acknowledged'
  const body = { current_password: people[1]!.password, password, password_confirmation: password }
  expect((await service.post('password/change', body, { bearer: changed!.access_token })).status).toBe(200)
  await crash()
  expect((await refresh(ended!.refresh_token)).status).toBe(401)
  for (const { refresh_token } of sessions.slice(1)) expect((await refresh(refresh_token)).status).toBe(200)
  await service.logIn({ ...people[1]!, password })
  for (const person of people.slice(2)) await service.logIn(person)
})

const attemptsAt = statement<{ email: string }, { wrong: number }>(sql`
  select coalesce(max(wrong), 0)::int as wrong from code_budgets join accounts on uuid = subject
   where email = ${param('email', 'text')}`)

test('wrong codes that were refused are counted after a crash, though counting does not wait for the disk', async () => {
  const email = newEmail()
  expect((await service.post('register', registration(email))).status).toBe(201)
  await service.delivered()
  const writer = await service.inside.database.first(walWriter, {})
  signal(writer!.pid, 'SIGSTOP')
  const tries = ['000001', '000002', '000003'].map((otp) =>
    service.post('verify-account', { identifier: email, otp }),
  )
  for (const { status } of await Promise.all(tries)) expect(status).toBe(422)
  await crash()
  expect(await service.inside.database.first(attemptsAt, { email })).toEqual({ wrong: 3 })
})

/**
 * Returns the result of `refreshes` for so many sessions of one person, after a crash that took all of it back.
 * PostgreSQL's own writer of the log is held meanwhile; whatever else writes the log takes the refreshes with it: then
 * they are done again.
 */
async function takenBack<T>(sessions: number, refreshes: (tokens: string[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const person = await service.signUp(newEmail())
    const logins = await Promise.all(Array.from({ length: sessions }, () => service.logIn(person)))
    await service.delivered()
    const writer = await service.inside.database.first(walWriter, {})
    signal(writer!.pid, 'SIGSTOP')
    const done = await refreshes(logins.map(({ refresh_token }) => refresh_token))
    await crash()
    const kept = await service.inside.database.all(refreshedOf, { email: person.identifier })
    if (kept.length === 0) return done
    if (attempt === 5) throw new Error('no crash took the refreshes back')
  }
}

longTest(
  'sessions go on whose refreshes a crash took back, and a stolen token still ends its session',
  async () => {
    const tokens = await takenBack(4, (first) =>
      Promise.all(
        first.map(async (token) => {
          let newest = token
          for (let round = 0; round < 3; round++) newest = (await refresh(newest)).body.refresh_token
          return { first: token, newest }
        }),
      ),
    )
    for (const { first, newest } of tokens) {
      const { status, body } = await refresh(newest)
      expect(status).toBe(200)
      service.clock.advance(31_000)
      expect((await refresh(first)).status).toBe(401)
      expect((await refresh(body.refresh_token)).status).toBe(401)
    }
  },
)

test('a token that a crash gave back to a thief ends the session as soon as both have been seen', async () => {
  const { stolen, owners } = await takenBack(1, async ([stolen = '']) => ({
    stolen,
    owners: (await refresh(stolen)).body.refresh_token,
  }))
  service.clock.advance(31_000)
  const thiefs = await refresh(stolen)
  expect([200, thiefs.body.refresh_token]).toEqual([thiefs.status, owners])
  expect((await refresh(owners)).status).toBe(200)
  service.clock.advance(31_000)
  expect((await refresh(thiefs.body.refresh_token)).status).toBe(401)
})
