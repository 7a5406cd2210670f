/** PostgreSQL crashes: what was acknowledged, and what a refresh leaves to the log's own rhythm. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { newEmail } from '../helpers/api-client.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../helpers/servers.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

let postgres: PostgresServer
let service: TestService

beforeAll(async () => {
  // What does not wait for the log is written down seconds later only: this crash takes it back for certain.
  postgres = await startPostgres({ settings: { wal_writer_delay: '10s', synchronous_commit: 'on' } })
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
const generations = statement<object, { generation: number }>(sql`select generation from sessions order by 1`)

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

test('sessions go on whose refreshes a crash took back, and a stolen token still ends its session', async () => {
  const person = await service.signUp(newEmail())
  const logins = await Promise.all(Array.from({ length: 4 }, () => service.logIn(person)))
  const first = logins.map(({ refresh_token }) => refresh_token)
  const newest = await Promise.all(
    first.map(async (token) => {
      for (let round = 0; round < 3; round++) token = (await refresh(token)).body.refresh_token
      return token
    }),
  )
  const count = async () =>
    (await service.inside.database.all(generations, {})).filter(({ generation }) => generation === 3).length
  expect(await count()).toBe(4)
  await crash()
  expect(await count()).toBe(0)
  for (const [index, token] of newest.entries()) {
    const { status, body } = await refresh(token)
    expect(status).toBe(200)
    service.clock.advance(31_000)
    expect((await refresh(first[index]!)).status).toBe(401)
    expect((await refresh(body.refresh_token)).status).toBe(401)
  }
})

test('a token that a crash gave back to a thief ends the session as soon as both have been seen', async () => {
  const person = await service.signUp(newEmail())
  const { refresh_token: stolen } = await service.logIn(person)
  const owners = (await refresh(stolen)).body.refresh_token
  service.clock.advance(31_000)
  await crash()
  const thiefs = await refresh(stolen)
  expect([200, thiefs.body.refresh_token]).toEqual([thiefs.status, owners])
  expect((await refresh(owners)).status).toBe(200)
  service.clock.advance(31_000)
  expect((await refresh(thiefs.body.refresh_token)).status).toBe(401)
})
