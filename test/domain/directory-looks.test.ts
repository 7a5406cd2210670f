/** Looks at people, lists of them, and what of administration is refused with a sentence. */
import { describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone } from '../helpers/api-client.ts'
import { race } from '../helpers/race.ts'
import type { TestService } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'

const operatorOf = (service: TestService) => (method: string, path: string, body?: unknown) =>
  asOperator(service, method, path, body)

describe('on two replicas', () => {
  const service = useService()
  const replica = useReplica(service)

  test('a look is recorded once an hour over all processes, and a search for one person is a look', async () => {
    const [one, other] = [operatorOf(service), operatorOf(replica)]
    const email = newEmail()
    await service.signUp(email)
    const found = await one('GET', `accounts?query=${encodeURIComponent(email)}`)
    const { uuid } = found.body.items[0]
    await other('GET', `accounts/${uuid}`)
    await one('GET', `accounts/${uuid}`)
    const looks = await one('GET', `events?account=${uuid}&type=account.viewed`)
    expect(looks.body.items).toHaveLength(1)
  })

  test('a confirmation of an account that is confirmed is a look, and one that confirms is recorded as such', async () => {
    const call = operatorOf(service)
    const countOf = async (uuid: string, type: string) =>
      (await call('GET', `events?account=${uuid}&type=account.${type}`)).body.items.length
    const confirm = (uuid: string) => call('PATCH', `accounts/${uuid}`, { confirmed: true })
    const { account } = await service.signedIn()
    expect((await confirm(account.uuid)).status).toBe(200)
    expect(await countOf(account.uuid, 'viewed')).toBe(1)
    // That of the registration.
    expect(await countOf(account.uuid, 'confirmed')).toBe(1)
    const waiting = (await call('POST', 'accounts', { email: newEmail() })).body.account.uuid
    expect((await confirm(waiting)).body.account.account_confirmed).toBe(true)
    expect(await countOf(waiting, 'viewed')).toBe(0)
    expect(await countOf(waiting, 'confirmed')).toBe(1)
  })

  test('a first look of many calls at once is recorded once', async () => {
    const call = operatorOf(service)
    const { bearer } = await service.signedIn()
    const uuid = decodeJwt(bearer as string).sub
    const answers = await race([service], () => call('GET', `accounts/${uuid}`))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const looks = await call('GET', `events?account=${uuid}&type=account.viewed`)
    expect(looks.body.items).toHaveLength(1)
  })

  test('lists of people are one event for each caller and hour, with the number of rows', async () => {
    const [one, other] = [operatorOf(service), operatorOf(replica)]
    await service.signUp(newEmail())
    const countOf = async () => {
      const { body } = await one('GET', 'events?type=accounts.listed')
      expect(body.items.length).toBeLessThanOrEqual(1)
      return body.items[0]?.count ?? body.items[0]?.data.count ?? 0
    }
    const before = await countOf()
    const shown = (await one('GET', 'accounts?limit=1')).body.items.length
    const more = (await other('GET', 'messages?limit=3')).body.items.length
    expect(await countOf()).toBe(before + shown + more)
  })

  test('the log line of a call names its caller, and nobody where an account calls', async () => {
    const call = operatorOf(service)
    const { person, bearer } = await service.signedIn()
    await service.get('me', { bearer: bearer as string })
    const { body } = await call('GET', `accounts?query=${encodeURIComponent(person.identifier)}`)
    await call('GET', `accounts/${body.items[0].uuid}/sessions`)
    const callersAt = (route: string) =>
      service.log
        .map((line) => JSON.parse(line))
        .filter((line) => line.route === route)
        .map(({ caller }) => caller)
    expect(callersAt('/admin/v1/accounts/:uuid/sessions')).toEqual(['operator root'])
    expect(callersAt('/api/v1/auth/me')).toEqual([undefined])
  })

  test('a phone number is found by its beginning in any spelling', async () => {
    const call = operatorOf(service)
    const phone = newPhone()
    await service.signUp(phone)
    const { phone: stored } = (await call('GET', `accounts?query=${encodeURIComponent(phone)}`)).body.items[0]
    const start = stored.slice(0, 8)
    for (const typed of [
      start,
      `00${start.slice(1)}`,
      `0${start.slice(3)}`,
      `0${start.slice(3, 4)} ${start.slice(4)}`,
    ]) {
      const { body } = await call('GET', `accounts?query=${encodeURIComponent(typed)}`)
      expect([typed, body.items.map((item: { phone: string }) => item.phone)]).toEqual([
        typed,
        expect.arrayContaining([stored]),
      ])
    }
  })

  test('limits are lifted by the uuid of an account', async () => {
    const call = operatorOf(service)
    const email = newEmail()
    await service.signUp(email)
    const { uuid } = (await call('GET', `accounts?query=${encodeURIComponent(email)}`)).body.items[0]
    expect((await call('DELETE', `limits/${uuid}`)).status).toBe(200)
    const events = await call('GET', `events?account=${uuid}&type=limits.lifted`)
    expect(events.body.items).toHaveLength(1)
    expect((await call('DELETE', `limits/${crypto.randomUUID()}`)).status).toBe(422)
  })

  test('waiting without an event to wait after, and a reason without a lock, are refused', async () => {
    const call = operatorOf(service)
    const email = newEmail()
    await service.signUp(email)
    const { uuid } = (await call('GET', `accounts?query=${encodeURIComponent(email)}`)).body.items[0]
    const waited = await call('GET', 'events?wait=1')
    expect([waited.status, waited.body.errors[0].field]).toEqual([422, 'after'])
    const reason = { locked_reason: 'chargeback' }
    const refused = await call('PATCH', `accounts/${uuid}`, reason)
    expect([refused.status, refused.body.errors[0].field]).toEqual([422, 'locked_reason'])
    expect((await call('PATCH', `accounts/${uuid}`, { ...reason, locked: true })).status).toBe(200)
    expect((await call('PATCH', `accounts/${uuid}`, { locked_reason: 'another' })).status).toBe(200)
    expect((await call('PATCH', `accounts/${uuid}`, { ...reason, locked: false })).status).toBe(422)
  })
})
