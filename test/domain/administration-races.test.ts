/** The effects of an administrator's act on calls at the same moment: a sign-in, a refresh, a sign-in on the page. */
import { describe, expect, test } from 'bun:test'
import { addAdministrator, asOperator, createPage, listening } from '../helpers/administration.ts'
import { newEmail } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { race } from '../helpers/race.ts'
import { outcomeOf } from '../helpers/refusals.ts'
import { useReplica, useService } from '../helpers/use-service.ts'

describe('an administrator acts', () => {
  const service = useService({ settings: listening })
  const replica = useReplica(service, { settings: listening })

  test('no sign-in that was under way outlives a lock', async () => {
    const { person, account } = await service.signedIn()
    const answers = await race([service, replica], (one, caller) =>
      caller === 8
        ? asOperator(one, 'PATCH', `accounts/${account.uuid}`, { locked: true })
        : one.post('login', person),
    )
    expect(answers[8]!.status).toBe(200)
    const tokens = answers.flatMap(({ body }) => (body.access_token ? [body.access_token as string] : []))
    for (const bearer of tokens) expect((await service.get('me', { bearer })).status).toBe(401)
    const outcomes = new Set(answers.map(outcomeOf))
    for (const outcome of outcomes)
      expect(['accepted', '401 invalid_credentials', '403 account_locked']).toContain(outcome)
    const shown = await asOperator(service, 'GET', `accounts/${account.uuid}`)
    expect(shown.body.account.sessions).toBe(0)
  })

  test('no refresh that was under way outlives an erasure', async () => {
    const person = await service.signUp(newEmail())
    const devices = await Promise.all(Array.from({ length: 31 }, () => service.logIn(person)))
    const { uuid } = devices[0].account
    const answers = await race([service, replica], (one, caller) =>
      caller === 31
        ? asOperator(one, 'DELETE', `accounts/${uuid}`)
        : one.post('refresh', { refresh_token: devices[caller].refresh_token }),
    )
    expect(answers[31]!.status).toBe(200)
    for (const outcome of new Set(answers.map(outcomeOf)))
      expect(['accepted', '401 invalid_token']).toContain(outcome)
    for (const { status, body } of answers.slice(0, 31)) {
      if (status !== 200) continue
      expect((await service.get('me', { bearer: body.access_token })).status).toBe(401)
      expect((await service.post('refresh', { refresh_token: body.refresh_token })).status).toBe(401)
    }
  })

  test('no sign-in on the page outlives the role', async () => {
    const { person, secret } = await protectByApp(service)
    const { body } = await asOperator(service, 'POST', 'administrators', {
      account: person.identifier,
      role: 'owner',
    })
    const { uuid } = body.administrator
    const pages = await Promise.all(
      Array.from({ length: 32 }, async (_, caller) => {
        const page = createPage(caller % 2 ? replica : service)
        await page.call('POST', 'session', person)
        return page
      }),
    )
    service.clock.advance(30_000)
    const otp = appCode(secret, service.clock.now())
    await race([service, replica], (one, caller) =>
      caller === 16
        ? asOperator(one, 'DELETE', `administrators/${uuid}`)
        : pages[caller]!.call('POST', 'session/verify', { otp }),
    )
    for (const page of pages) expect((await page.call('GET', 'session')).status).toBe(401)
    const { account } = (await asOperator(service, 'GET', `accounts/${uuid}`)).body
    expect(account.locked_at).toBeNull()
  })

  test('an account that is erased is an administrator no longer, at whatever moment', async () => {
    const { person, uuid } = await addAdministrator(service, 'viewer')
    const answers = await race([service, replica], (one, caller) =>
      caller === 16
        ? asOperator(one, 'DELETE', `accounts/${uuid}`)
        : asOperator(one, 'POST', 'administrators', { account: person.identifier, role: 'owner' }),
    )
    expect(answers[16]!.status).toBe(200)
    for (const outcome of new Set(answers.map(outcomeOf)))
      expect(['accepted', '404 account_not_found', '404 administrator_not_found']).toContain(outcome)
    const { items } = (await asOperator(service, 'GET', 'administrators')).body
    expect(items.map((item: { uuid: string }) => item.uuid)).not.toContain(uuid)
  })
})
