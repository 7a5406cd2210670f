/** The log says which statement failed, and how long each took; an answer never does. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import { newEmail, registration } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { renameTable } from '../helpers/database.ts'
import { poterneCommand } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import {
  createStorage,
  differingShapes,
  mergeSettings,
  startService,
  writeSettings,
} from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

test.each(differingShapes)('the log line of an internal error names the statement (%s)', async (shape) => {
  await using service = await startService({ shape })
  await renameTable(service, 'registration_claims', 'hidden')
  const { status, body } = await service.post('register', registration(newEmail()))
  expect([status, body.code]).toEqual([500, 'internal_error'])
  const line = service.log.map((each) => JSON.parse(each)).find(({ code }) => code === 'internal_error')
  expect(line).toMatchObject({
    level: 'error',
    cause: '42P01',
    statement: expect.stringMatching(/^[a-z_. ]+$/),
  })
  expect(JSON.stringify(body)).not.toContain('statement')
})

test('with log.level = "debug" each statement has a line, joined to its request, without a value, and each probe', async () => {
  await using service = await startService({ shape: 'postgres', settings: { log: { level: 'debug' } } })
  const email = newEmail()
  const { headers } = await service.post('register', registration(email))
  const lines = service.log.map((each) => JSON.parse(each)).filter(({ msg }) => msg === 'statement')
  const own = lines.filter((line) => line.request_id === headers.get('x-request-id'))
  expect(own.length).toBeGreaterThan(0)
  for (const { level, statement, duration_ms } of own) {
    expect([level, statement, duration_ms]).toEqual([
      'debug',
      expect.stringMatching(/^\w+[. ]?\w*$|^(insert into|delete from) \w+$/),
      expect.any(Number),
    ])
  }
  expect(service.log.join('')).not.toContain(email)
  await service.call('GET', '/healthz')
  const probed = service.log.map((each) => JSON.parse(each)).filter(({ route }) => route === '/healthz')
  expect(probed.map(({ level }) => level)).toEqual(['debug'])
})

test('a login with two factors asks once whether it knows the device', async () => {
  await using service = await startService({ shape: 'postgres', settings: { log: { level: 'debug' } } })
  const identifier = newEmail()
  const { person } = await protectBySentCodes(service, identifier)
  const body = { identifier, password: person.password, device_fingerprint: 'at home' }
  const { status, headers } = await service.post('login', body)
  expect(status).toBe(202)
  const asked = service.log
    .map((each) => JSON.parse(each))
    .filter(({ request_id, statement }) => request_id === headers.get('x-request-id') && statement)
    .map(({ statement }) => statement)
  expect(asked.filter((statement) => statement === 'devices.find')).toHaveLength(1)
})

test('the usual level writes no line for statements', async () => {
  await using service = await startService({ shape: 'postgres' })
  await service.post('register', registration(newEmail()))
  expect(service.log.filter((line) => line.includes('"msg":"statement"'))).toEqual([])
})

test('with --dev the stack of an internal error stands on standard error', async () => {
  const storage = await createStorage('postgres')
  const port = await freePort()
  const settings = mergeSettings(storage.settings, { server: { ...storage.settings.server, port } })
  const { file } = writeSettings(settings)
  const errors = join(newDirectory('dev'), 'stderr')
  const child = Bun.spawn([...poterneCommand(), 'serve', '--dev', '--config', file], {
    cwd: newDirectory('dev'),
    stdout: 'ignore',
    stderr: Bun.file(errors),
  })
  const url = `http://127.0.0.1:${port}`
  await waitFor(
    () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { what: 'the service' },
  )
  const sql = postgres(storage.settings.database?.url as string, { max: 1, onnotice: () => {} })
  await sql`alter table registration_claims rename to hidden`
  await sql.end()
  const { status } = await fetch(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(registration(newEmail())),
  })
  expect(status).toBe(500)
  const printed = await waitFor(async () => (await Bun.file(errors).text()) || null, { what: 'the stack' })
  expect(printed).toMatch(/^PostgresError: relation "registration_claims" does not exist\n +at .+\.js:\d+/)
  expect(printed).toMatch(/\n {4}in the statement \w+[. ][\w ]+\n$/)
  child.kill()
  await child.exited
  await storage.drop()
})
