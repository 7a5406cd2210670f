/** Support sends a confirmation again, and corrects a mistyped address: only of what somebody registered and nobody confirmed. */
import { describe, expect } from 'bun:test'
import { listening, operatorOf, signInAs, type TestAdministrator } from '../helpers/administration.ts'
import { type Answer, newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { rareShapes, testsOn } from '../helpers/service.ts'
import { use, useLimited, useService } from '../helpers/use-service.ts'

const { password } = registration('')

describe.each(rareShapes)('a registration that waits, on %s', (shape) => {
  const { test, rule, raced } = testsOn(shape)
  const service = useService({ shape, settings: listening })
  const call = operatorOf(service)
  const support = use<TestAdministrator & { close(): Promise<void> }>(async () => ({
    ...(await signInAs(service, 'support')),
    close: async () => {},
  }))
  const bySupport = (method: string, path: string, body?: unknown): Promise<Answer> =>
    support.page.call(method, path, body)

  const register = async (identifier: string) => {
    await service.post('register', registration(identifier))
    return (await call('GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0]
      .uuid as string
  }
  const confirm = async (identifier: string, otp: string) =>
    service.post('verify-account', { identifier, otp })
  const codeTo = (identifier: string) => service.newestCode(identifier)
  const sentTo = async (identifier: string) => {
    await service.delivered()
    return service.inbox.textsTo(identifier).length
  }

  test('its code is sent again, and an account that is confirmed gets none', async () => {
    const email = newEmail()
    const uuid = await register(email)
    const first = await codeTo(email)
    expect((await bySupport('POST', `accounts/${uuid}/resend-confirmation`)).status).toBe(200)
    expect(await sentTo(email)).toBe(2)
    const second = await codeTo(email)
    if (first !== second) expectRefusal(await confirm(email, first), 'invalid_code')
    expect((await confirm(email, second)).status).toBe(201)
    expectRefusal(await bySupport('POST', `accounts/${uuid}/resend-confirmation`), 'not_resendable')
    const [event] = (await call('GET', `events?account=${uuid}&type=confirmation.resent`)).body.items
    expect(event.actor).toMatchObject({ type: 'administrator', id: support.uuid })
    expectRefusal(
      await bySupport('POST', `accounts/${crypto.randomUUID()}/resend-confirmation`),
      'account_not_found',
    )
  })

  test('its mistyped address is corrected: nobody is told, the old code is dead, and the new one keeps the password', async () => {
    const [mistyped, right] = [newEmail(), newEmail()]
    const uuid = await register(mistyped)
    const old = await codeTo(mistyped)
    const { status, body } = await bySupport('PUT', `accounts/${uuid}/email`, { value: right })
    expect([status, body.account.email, body.account.email_verified_at]).toEqual([200, right, null])
    expect([await sentTo(mistyped), await sentTo(right)]).toEqual([1, 1])
    expectRefusal(await confirm(mistyped, old), 'invalid_code')
    expectRefusal(await confirm(right, old === (await codeTo(right)) ? '000000' : old), 'invalid_code')
    expect((await confirm(right, await codeTo(right))).status).toBe(201)
    await service.logIn({ identifier: right, password })
    const [event] = (await call('GET', `events?account=${uuid}&type=identifier.changed`)).body.items
    expect(event).toMatchObject({ actor: { id: support.uuid }, data: { contact: 'email', verified: false } })
    expectRefusal(
      await bySupport('PUT', `accounts/${uuid}/email`, { value: newEmail() }),
      'insufficient_scope',
    )
  })

  rule('support vouches for no contact, and viewers correct nothing', async () => {
    const uuid = await register(newEmail())
    for (const kind of ['email', 'phone']) {
      const body = { value: kind === 'email' ? newEmail() : newPhone(), verified: true }
      expectRefusal(await bySupport('PUT', `accounts/${uuid}/${kind}`, body), 'insufficient_scope')
    }
    const viewer = await signInAs(service, 'viewer')
    expectRefusal(
      await viewer.page.call('PUT', `accounts/${uuid}/email`, { value: newEmail() }),
      'insufficient_scope',
    )
    expectRefusal(
      await viewer.page.call('POST', `accounts/${uuid}/resend-confirmation`),
      'insufficient_scope',
    )
  })

  rule('support takes over nothing that an administrator made or gave', async () => {
    const made = await call('POST', 'accounts', { email: newEmail(), role_id: 7, groups: ['staff'] })
    const given = await register(newEmail())
    await call('PATCH', `accounts/${given}`, { groups: ['staff'] })
    const raised = await register(newEmail())
    await call('PATCH', `accounts/${raised}`, { role_id: 9 })
    const named = await register(newEmail())
    await call('PATCH', `accounts/${named}`, { username: `u${crypto.randomUUID().slice(0, 8)}` })
    const invited = newEmail()
    const { code } = (await call('POST', 'invitations', { groups: ['staff'] })).body
    await service.post('register', { ...registration(invited), invitation: code })
    const withInvitation = (await call('GET', `accounts?query=${encodeURIComponent(invited)}`)).body.items[0]
      .uuid
    for (const uuid of [made.body.account.uuid, given, raised, named, withInvitation])
      for (const kind of ['email', 'phone']) {
        const value = kind === 'email' ? newEmail() : newPhone()
        expectRefusal(await bySupport('PUT', `accounts/${uuid}/${kind}`, { value }), 'insufficient_scope')
        expect(await sentTo(value)).toBe(0)
      }
  })

  test('support gives it no contact that anybody else so much as names, and ends no other registration', async () => {
    const [owned, waiting, claimed] = [newEmail(), newEmail(), newPhone()]
    await service.signUp(owned)
    const theirs = await register(waiting)
    await service.post('register', { ...registration(newEmail()), phone: claimed })
    const uuid = await register(newEmail())
    for (const [kind, value] of [
      ['email', owned],
      ['email', waiting],
      ['phone', claimed],
    ])
      expectRefusal(await bySupport('PUT', `accounts/${uuid}/${kind}`, { value }), 'identifier_taken')
    expect((await call('GET', `accounts/${theirs}`)).body.account.email).toBe(waiting)
    expect((await confirm(waiting, await codeTo(waiting))).status).toBe(201)
  })

  test('who registers the corrected address with another password gets none of them activated', async () => {
    const right = newEmail()
    const uuid = await register(newEmail())
    await bySupport('PUT', `accounts/${uuid}/email`, { value: right })
    await service.post('register', {
      ...registration(right),
      ...{ password: 'a password of somebody else', password_confirmation: 'a password of somebody else' },
    })
    expect((await confirm(right, await codeTo(right))).status).toBe(201)
    for (const tried of [password, 'a password of somebody else'])
      expectRefusal(
        await service.post('login', { identifier: right, password: tried }),
        'invalid_credentials',
      )
  })

  raced(
    'of a confirmation and 31 corrections at once, an account that is confirmed keeps its address',
    async () => {
      const email = newEmail()
      const uuid = await register(email)
      const otp = await codeTo(email)
      const values = Array.from({ length: 31 }, () => newEmail())
      const answers = await race([null, ...values], (value) =>
        value === null ? confirm(email, otp) : bySupport('PUT', `accounts/${uuid}/email`, { value }),
      )
      const { account } = (await call('GET', `accounts/${uuid}`)).body
      if (answers[0]!.status === 201) {
        expect(account).toMatchObject({ email, account_confirmed: true })
        expect(account.email_verified_at).not.toBeNull()
      } else {
        expectRefusal(answers[0]!, 'invalid_code')
        expect(account).toMatchObject({ account_confirmed: false, email_verified_at: null })
        expect(values).toContain(account.email)
        // The codes of all go out at once, in any order, and only the last that was made is good.
        await service.delivered()
        await bySupport('POST', `accounts/${uuid}/resend-confirmation`)
        expect((await confirm(account.email, await codeTo(account.email))).status).toBe(201)
      }
    },
  )
})

describe('the limits of an address', () => {
  const service = useLimited()
  const call = operatorOf(service)

  testsOn('redis').test('do not count what is refused, and neither do notices', async () => {
    const [email, taken] = [newEmail(), newEmail()]
    await service.post('register', registration(email))
    const { uuid } = (await call('GET', `accounts?query=${encodeURIComponent(email)}`)).body.items[0]
    await call('POST', 'accounts', { email: taken, verified: true })
    for (let i = 0; i < 6; i++)
      expectRefusal(await call('PUT', `accounts/${uuid}/email`, { value: taken }), 'identifier_taken')
    expect((await call('PUT', `accounts/${uuid}/email`, { value: newEmail() })).status).toBe(200)
    const { person, account } = await service.signedIn(newEmail())
    for (let i = 0; i < 20; i++)
      expectRefusal(await call('PUT', `accounts/${account.uuid}/email`, { value: taken }), 'identifier_taken')
    await call('PUT', `accounts/${account.uuid}/email`, { value: newEmail(), verified: true })
    await service.delivered()
    expect(service.inbox.textsTo(person.identifier).at(-1)).toContain('a changé')
  })

  testsOn('redis').test(
    'hold for what support sends there, and for what it sends for one account',
    async () => {
      const email = newEmail()
      await service.post('register', registration(email))
      const { uuid } = (await call('GET', `accounts?query=${encodeURIComponent(email)}`)).body.items[0]
      const statuses = []
      for (let i = 0; i < 5; i++)
        statuses.push((await call('POST', `accounts/${uuid}/resend-confirmation`)).status)
      expect(statuses).toEqual([200, 200, 429, 429, 429])
      const changes = []
      for (let i = 0; i < 6; i++)
        changes.push((await call('PUT', `accounts/${uuid}/email`, { value: newEmail() })).status)
      expect(changes).toEqual([200, 200, 200, 200, 429, 429])
    },
  )
})
