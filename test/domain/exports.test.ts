/** A copy of everything that is stored about a person: for themselves, and for an administrator who hands it on. */
import { expect, test } from 'bun:test'
import { getTableColumns, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { exportedLists } from '../../src/domain/self-service/me/export-store.ts'
import * as schema from '../../src/platform/postgres/schema.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { protectByApp } from '../helpers/authenticator.ts'
import { newClient } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useLimited } from '../helpers/use-service.ts'

const service = useLimited()
const lists: readonly string[] = exportedLists

test('an owner who just signed in gets it, is told, and gets it five times a day', async () => {
  const person = await service.signUp(newEmail())
  const {
    access_token: bearer,
    refresh_token,
    account,
  } = await service.logIn(person, {
    device_name: 'Ada’s phone',
    device_fingerprint: 'a fingerprint to look for',
  })
  const copying = { bearer, headers: { 'x-refresh-token': refresh_token } }
  const { status, body } = await service.get('me/export', copying)
  expect(status).toBe(200)
  expect(body.account).toMatchObject({ uuid: account.uuid, email: person.identifier })
  for (const list of lists) expect([list, Array.isArray(body[list])]).toEqual([list, true])
  expect(JSON.stringify(body)).not.toContain('a fingerprint to look for')
  expect(body.sessions[0]).toMatchObject({ device_fingerprint: true, device_name: 'Ada’s phone', amr: 'pwd' })
  expect(body.messages[0]).toMatchObject({ destination: person.identifier, purpose: 'confirmation' })
  expect(body.events.map(({ type }: { type: string }) => type)).toContain('login.succeeded')
  await service.delivered()
  expect(service.inbox.textsTo(person.identifier).at(-1)).toContain('copié tout ce qui')
  for (let count = 0; count < 4; count++) expect((await service.get('me/export', copying)).status).toBe(200)
  expectRefusal(await service.get('me/export', copying), 'too_many_requests')
  const { items } = (await service.get('events', { bearer })).body
  expect(items[0].type).toBe('account.exported')
})

test('an older sign-in gives nobody a copy, and no session at all either', async () => {
  const { bearer, refresh_token } = await service.signedIn()
  const copying = { bearer, headers: { 'x-refresh-token': refresh_token } }
  expectRefusal(await service.get('me/export', { bearer }), 'reauthentication_required')
  service.clock.advance(5 * 60_000 + 1)
  expectRefusal(await service.get('me/export', copying), 'reauthentication_required')
  expectRefusal(await service.get('me/export', newClient()), 'invalid_token')
})

test('it does not tell whether somebody has the contact that one asks for', async () => {
  const [person, somebody] = [await service.signUp(newEmail()), await service.signUp(newEmail())]
  const copies = []
  for (const email of [newEmail(), somebody.identifier]) {
    const { access_token: bearer, refresh_token } = await service.logIn(person)
    const asked = await service.post('email/change', { email, password: PASSWORD }, { bearer })
    expect(asked.status).toBe(201)
    await service.delivered()
    const { body } = await service.get('me/export', { bearer, headers: { 'x-refresh-token': refresh_token } })
    const purposes: string[] = body.messages.map(({ purpose }: { purpose: string }) => purpose)
    copies.push({
      purposes: purposes.filter((purpose) => purpose !== 'account_exported'),
      destinations: body.contact_changes.map(
        ({ destination }: { destination: string }) => destination === email,
      ),
    })
    service.clock.advance(3_600_000)
  }
  expect(copies[0]).toEqual({ purposes: ['confirmation'], destinations: [true] })
  expect(copies[1]).toEqual(copies[0]!)
})

test('an administrator gets the same, without a hash, a seed or a secret', async () => {
  const identifier = newEmail()
  const { recoveryCodes, secret } = await protectByApp(service, identifier)
  const call = operatorOf(service)
  const { uuid } = (await call('GET', `accounts?query=${identifier}`)).body.items[0]
  await call('POST', `accounts/${uuid}/access-code`, {})
  const { status, body } = await call('GET', `accounts/${uuid}/export`)
  expect([status, body.recovery_codes_left, body.authenticator_apps.length]).toEqual([200, 10, 1])
  expect(body.administrators_codes).toHaveLength(1)
  const text = JSON.stringify(body)
  for (const hidden of [secret, ...recoveryCodes, 'hash', 'seed', 'sealed', 'family'])
    expect(text).not.toContain(hidden)
  expect(text).not.toMatch(/\$argon2id\$[^"]*\$[\w+/]{20,}\$/)
  const [event] = (await call('GET', `events?type=account.exported&account=${uuid}`)).body.items
  expect(event.actor).toMatchObject({ type: 'operator', name: 'root' })
  expectRefusal(await call('GET', `accounts/${crypto.randomUUID()}/export`), 'account_not_found')
})

/** Tables that belong to an account, and are in the copy under a name of their own or hold nothing but secrets. */
const elsewhere = new Set(['recoveryCodes', 'totpEnrolments', 'totpFactors', 'knownDevices', 'accountCodes'])

test('every table that knows an account is in it', () => {
  const ofAccounts = Object.entries(schema)
    .filter(([, table]) => is(table, PgTable) && 'accountId' in getTableColumns(table))
    .map(([name]) => name)
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const missing = ofAccounts.filter((name) => !lists.includes(snake(name)) && !elsewhere.has(name))
  expect(missing).toEqual([])
})
