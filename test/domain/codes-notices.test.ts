/**
 * The notices about wrong codes: to the owner of somebody who knows the password, and to the operator of many guesses.
 */
import { expect, spyOn, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { DatabaseUnavailable } from '../../src/platform/postgres/failure.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { newClient } from '../helpers/limited-service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const [MINUTE, DAY] = [60_000, 86_400_000]
const WRONG = '000000'
const ALARM = 12
const service = useLimited({ settings: { limits: { wrong_codes_alarm: ALARM } } })

const alarms = () =>
  service.log.map((line) => JSON.parse(line)).filter(({ more_than }) => more_than !== undefined)

/** The notices of wrong second factors that the owner has. */
async function noticesTo(identifier: string): Promise<number> {
  await service.delivered()
  const told = service.inbox.textsTo(identifier).filter((text) => text.includes('Codes erronés'))
  return told.length
}

async function protectedOwner() {
  const { person, secret } = await protectByApp(service)
  const logIn = async (device: object) =>
    (await service.post('login', { ...person, ...device }, newClient())).body.two_factor.login_token
  return { ...person, secret, logIn }
}

const verify = async (body: object) => (await service.post('2fa/verify', body, newClient())).status

test('the third wrong second factor behind the right password is told to the owner, once a day', async () => {
  const { identifier, logIn, secret } = await protectedOwner()
  const guesses = [{ password: PASSWORD }, { login_token: await logIn({}) }, { password: PASSWORD }]
  for (const [index, proof] of guesses.entries()) {
    expect(await noticesTo(identifier)).toBe(0)
    const device_fingerprint = `not known ${index}`
    expect(await verify({ identifier, otp: WRONG, device_fingerprint, ...proof })).toBe(422)
  }
  expect(await noticesTo(identifier)).toBe(1)
  expect(service.inbox.textsTo(identifier).at(-1)).toMatch(/Adresse IP\s: 10\.\d+\.\d+\.\d+$/m)
  for (let more = 0; more < 4; more++) await verify({ identifier, otp: WRONG, password: PASSWORD })
  expect(await noticesTo(identifier)).toBe(1)
  service.clock.advance(DAY)
  for (let again = 0; again < 3; again++) await verify({ identifier, otp: WRONG, password: PASSWORD })
  expect(await noticesTo(identifier)).toBe(2)
  const otp = appCode(secret, service.clock.now())
  expect(await verify({ identifier, otp, password: PASSWORD })).toBe(200)
})

test('a compared code stays counted where its owner cannot be told', async () => {
  const { identifier } = await protectedOwner()
  const tried = { identifier, otp: WRONG, password: PASSWORD }
  for (let tries = 0; tries < 2; tries++) expect(await verify(tried)).toBe(422)
  const away = spyOn(service.inside.services.outbox, 'sendNotices').mockRejectedValue(
    new DatabaseUnavailable(),
  )
  expect(await verify(tried).finally(() => away.mockRestore())).toBe(503)
  const counted = statement<{ email: string }, { inARow: number }>(sql`
    select in_a_row as "inARow" from code_failures join accounts on uuid = subject
     where email = ${param('email', 'text')} and caller_group = 'password'`)
  expect(await service.inside.database.all(counted, { email: identifier })).toEqual([{ inARow: 3 }])
})

longTest('a wrong recovery code is a wrong second factor like the others', async () => {
  const recoveryCode = 'AAAA-BBBB-CCCC-DDDD'
  for (const wrong of [
    [recoveryCode, recoveryCode, recoveryCode],
    [WRONG, recoveryCode, WRONG],
  ]) {
    const { identifier } = await protectedOwner()
    for (const otp of wrong) {
      expect(await noticesTo(identifier)).toBe(0)
      expect(await verify({ identifier, otp })).toBe(422)
      expect(await verify({ identifier, otp, password: PASSWORD })).toBe(422)
    }
    expect(await noticesTo(identifier)).toBe(1)
    for (let more = 0; more < 3; more++) await verify({ identifier, otp: recoveryCode, password: PASSWORD })
    expect(await noticesTo(identifier)).toBe(1)
  }
})

test('the owner’s own slips on a known device are not told, nor what strangers try without the password', async () => {
  const { identifier, logIn, secret } = await protectedOwner()
  const device = { device_fingerprint: 'of the owner' }
  const login_token = await logIn(device)
  const otp = appCode(secret, service.clock.now(), 1)
  expect(await verify({ identifier, otp, login_token, ...device })).toBe(200)
  for (let slips = 0; slips < 4; slips++) {
    expect(await verify({ identifier, otp: WRONG, password: PASSWORD, ...device })).toBe(422)
    expect(await verify({ identifier, otp: 'AAAA-BBBB-CCCC-DDDD', password: PASSWORD, ...device })).toBe(422)
    expect(await verify({ identifier, otp: WRONG })).toBe(422)
    expect(await verify({ identifier, otp: WRONG, password: 'not this one' })).toBe(422)
  }
  expect(await noticesTo(identifier)).toBe(0)
})

test('more wrong codes in a minute than the alarm allows are one warning in the log, whoever tries them on whom', async () => {
  service.clock.advance(2 * MINUTE)
  const before = alarms().length
  const guess = (n: number) =>
    n % 2 === 0
      ? verify({ identifier: newEmail(), otp: WRONG })
      : service.post('verify-account', { identifier: newEmail(), otp: WRONG }, newClient())
  for (let n = 0; n < ALARM; n++) await guess(n)
  expect(alarms()).toHaveLength(before)
  for (let n = 0; n < 5; n++) await guess(n)
  const [alarm] = await waitFor(() => (alarms().length > before ? alarms().slice(before) : null), {
    what: 'the alarm',
  })
  expect(alarm).toMatchObject({ level: 'warn', more_than: ALARM })
  expect(alarm.msg).toContain('many wrong codes in a minute')
  service.clock.advance(2 * MINUTE)
  for (let n = 0; n < ALARM; n++) await guess(n)
  expect(alarms()).toHaveLength(before + 1)
  for (let n = 0; n < 5; n++) await guess(n)
  await waitFor(() => alarms().length === before + 2, { what: 'the alarm of the next minute' })
})
