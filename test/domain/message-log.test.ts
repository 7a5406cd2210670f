/** Messages, limits, the report of SMS and the numbers of the first screen, as an administrator sees them. */
import { describe, expect, test } from 'bun:test'
import { meaningOf } from '../../src/administration/message-log/meaning.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { limitingShapes, type Shape } from '../helpers/service.ts'
import { useLimited, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

interface Message {
  id: number
  state: string
  purpose: string
  destination: string
  account: string | null
}

describe('messages', () => {
  const service = useService()
  const call = operatorOf(service)
  const person = async () => {
    const { person: known, account } = await service.signedIn()
    return { ...known, uuid: account.uuid as string }
  }
  const ofAccount = async (uuid: string, query = ''): Promise<Message[]> => {
    await service.delivered()
    return (await call('GET', `accounts/${uuid}/messages${query}`)).body.items
  }

  test('what was sent to a person is listed with what became of it, and never a code', async () => {
    const { identifier, uuid } = await person()
    const code = await service.askCode('password/forgot', identifier)
    const messages = await ofAccount(uuid)
    expect(messages.map(({ purpose, state }) => [purpose, state])).toEqual([
      ['password_reset', 'sent'],
      ['confirmation', 'sent'],
    ])
    expect(messages[0]).toMatchObject({ destination: identifier, account: uuid })
    expect(JSON.stringify(messages)).not.toContain(code)
    expect(await ofAccount(uuid, '?state=refused')).toEqual([])
    expect(await ofAccount(uuid, '?channel=email&state=sent&limit=1')).toHaveLength(1)
    expectRefusal(await call('GET', `accounts/${crypto.randomUUID()}/messages`), 'account_not_found')
    for (const query of ['state=lost', 'channel=fax', 'since=today', 'limit=0'])
      expectRefusal(await call('GET', `messages?${query}`), 'validation_failed')
  })

  test('what became of a code is told: used, replaced, expired, or open', async () => {
    const { identifier, password, uuid } = await person()
    const codes = async () =>
      (await ofAccount(uuid)).map((message) => (message as Message & { code: string | null }).code)
    await waitFor(async () => (await codes())[0] === 'used', { what: 'the use of a code' })
    await service.askCode('password/forgot', identifier)
    expect(await codes()).toEqual(['open', 'used'])
    await service.askCode('password/forgot', identifier)
    expect(await codes()).toEqual(['open', 'replaced', 'used'])
    service.clock.advance(11 * 60_000)
    expect(await codes()).toEqual(['expired', 'replaced', 'used'])
    const [, , first] = (await call('GET', `accounts/${uuid}/messages`)).body.items
    expect(first.code_used_at).toMatch(/^\d{4}-/)
    // The code for a new contact is one of the contact, and told of the account all the same.
    const next = newEmail()
    const { access_token: bearer } = await service.logIn({ identifier, password })
    await service.post('email/change', { email: next, password }, { bearer })
    expect((await codes())[0]).toBe('open')
    const otp = await service.inbox.nextCode(next)
    expect((await service.post('email/confirm', { otp }, { bearer })).status).toBe(200)
    await waitFor(async () => (await codes())[1] === 'used', { what: 'the use of the code for a contact' })
    await call('PUT', `accounts/${uuid}/email`, { value: newEmail(), verified: true })
    expect(await codes()).toContain(null)
  })

  test('the use of a code is noted at the message that was there, not at one of a moment later', async () => {
    const { identifier, uuid } = await person()
    const otp = await service.askCode('password/forgot', identifier)
    const password = 'another horse battery'
    const reset = { identifier, otp, password, password_confirmation: password }
    expect((await service.post('password/reset', reset)).status).toBe(200)
    service.clock.advance(1)
    await service.askCode('password/forgot', identifier)
    await service.inside.services.funnel.flush()
    const items = (await ofAccount(uuid)) as (Message & { code: string | null })[]
    const ofResets = items.filter(({ purpose }) => purpose === 'password_reset')
    expect(ofResets.map(({ code }) => code)).toEqual(['open', 'used'])
  })

  test('messages are found by any part of the recipient, and events by the e-mail address', async () => {
    const { identifier, uuid } = await person()
    await person()
    const part = identifier.slice(3, -5)
    const found = (await call('GET', `messages?to=${part}`)).body.items
    expect(found.map(({ account }: Message) => account)).toEqual([uuid])
    const sent = (await call('GET', `messages?to=${identifier.toUpperCase()}`)).body.items
    expect(sent.map(({ destination }: Message) => destination)).toEqual([identifier])
    for (const typed of [identifier, part, uuid]) {
      const { items } = (await call('GET', `events?account=${typed}&type=account.registered`)).body
      expect(items.map(({ account }: Message) => account)).toEqual([uuid])
    }
    expect((await call('GET', `messages?to=nobody-${crypto.randomUUID()}`)).body.items).toEqual([])
    expect((await call('GET', `events?account=nobody-${crypto.randomUUID()}`)).body.items).toEqual([])
    const first = (await call('GET', `events?account=${part}&limit=1`)).body
    const second = (await call('GET', `events?account=${part}&limit=1&cursor=${first.next_cursor}`)).body
    expect(second.items[0].id).toBeLessThan(first.items[0].id)
    expectRefusal(await call('GET', 'messages?to=ab'), 'validation_failed')
    expectRefusal(await call('GET', `events?account=${part}&after=0`), 'validation_failed')
  })

  test('pages follow each other while messages are added', async () => {
    await person()
    const first = (await call('GET', 'messages?limit=1')).body
    await person()
    const next = (await call('GET', `messages?limit=1&cursor=${first.next_cursor}`)).body
    expect(next.items[0].id).toBeLessThan(first.items[0].id)
  })

  test('a refused message is sent again, by one of many callers, while its code lives', async () => {
    const { identifier, uuid } = await person()
    service.smtp.behave({ refuse: { status: 554, at: 'data' } })
    await service.post('password/forgot', { identifier })
    const [refused] = (await ofAccount(uuid, '?state=refused')) as [Message]
    expect(refused.purpose).toBe('password_reset')
    service.smtp.behave({})
    const answers = await race([service], () => call('POST', `messages/${refused.id}/retry`))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set([undefined, 'not_resendable']))
    const otp = await service.inbox.nextCode(identifier)
    const password = 'another horse battery'
    const reset = { identifier, otp, password, password_confirmation: password }
    expect((await service.post('password/reset', reset)).status).toBe(200)
    const [event] = (await call('GET', `events?type=message.retried&account=${uuid}`)).body.items
    expect(event).toMatchObject({ actor: { type: 'operator' }, data: { purpose: 'password_reset' } })
  })

  test('what an administrator sends again goes, although a stranger asked for it and the address was refused', async () => {
    const { identifier, uuid } = await person()
    service.smtp.behave({ refuse: { status: 550, at: 'recipient', words: 'no such user' } })
    await service.post('password/forgot', { identifier })
    const [refused] = (await ofAccount(uuid, '?state=refused')) as [Message]
    const again = async () => (await call('POST', `messages/${refused.id}/retry`)).status
    const shown = async () => (await call('GET', `messages/${refused.id}`)).body.message
    expect(await again()).toBe(200)
    await service.delivered()
    const refusedAgain = { state: 'refused', detail: 'smtp_550', reply: '550 no such user', attempts: 1 }
    expect(await shown()).toMatchObject(refusedAgain)
    service.smtp.behave({ delayMs: 1500 })
    expect(await again()).toBe(200)
    // The server of then is the last one that said something.
    expect(await shown()).toMatchObject({ state: 'waiting', reply: '550 no such user' })
    await service.inbox.nextCode(identifier)
    await service.delivered()
    service.smtp.behave({})
    expect(await shown()).toMatchObject({ state: 'sent', reply: null })
  })

  test('a message says what its server said, what that means and when it is tried again', async () => {
    const english = { 'accept-language': 'en' }
    const { identifier, uuid } = await person()
    const words = `no room for ${identifier} ${'x'.repeat(600)}`
    service.smtp.behave({ refuse: { status: 451, at: 'data', words } })
    await service.post('password/forgot', { identifier })
    const findWaiting = async () => {
      const { items } = (await call('GET', `accounts/${uuid}/messages?state=waiting`, undefined, english))
        .body
      return items.find(({ reply }: { reply: string | null }) => reply !== null)
    }
    const waiting = await waitFor(findWaiting, { what: 'a failed attempt' })
    expect(waiting).toMatchObject({ detail: 'smtp_451', finished_at: null })
    expect(waiting.meaning).toBe(
      'The last attempt failed, and it is tried again: the mail server does not take it now (451).',
    )
    expect(waiting.reply).toStartWith('451 no room for … xxx')
    expect(waiting.reply.length).toBeLessThanOrEqual(500)
    expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.parse(waiting.created_at))
    service.smtp.behave({ refuse: { status: 550, at: 'recipient', words: 'no such user' } })
    service.clock.advance(5000)
    const refused = await waitFor(
      async () => {
        const { message } = (await call('GET', `messages/${waiting.id}`, undefined, english)).body
        return message.state === 'refused' ? message : undefined
      },
      { what: 'the refusal' },
    )
    service.smtp.behave({})
    expect(refused).toMatchObject({
      ...{ detail: 'smtp_550', reply: '550 no such user', attempts: 2, next_attempt_at: null },
      meaning: 'It will not be sent: the mail server says that this address does not exist or takes nothing.',
    })
    const french = await call('GET', `messages/${waiting.id}`, undefined, { 'accept-language': 'fr' })
    expect(french.body.message.meaning).toStartWith('Il ne sera pas envoyé : le serveur')
    for (const id of ['0', 'x', '99999999'])
      expectRefusal(await call('GET', `messages/${id}`), 'message_not_found')
  })

  test('every cause has a meaning of its own, in both languages', () => {
    const fate = { state: 'refused', channel: 'sms', gateway: null, isReplaced: false } as const
    const details = [
      ...['smtp_auth', 'smtp_tls', 'smtp_dns', 'smtp_connection', 'smtp_timeout', 'smtp_address', 'smtp_550'],
      ...['smtp_421', 'smtp_554', 'smtp_error', 'no_smtp', 'no_gateway', 'sms_number', 'address_refused'],
      ...[
        'strangers_per_hour',
        'send_timeout',
        'internal_error',
        'acme:401',
        'acme:429',
        'acme:400',
        'acme:503',
      ],
      ...[
        'acme:reply',
        'acme:oauth',
        'acme:timeout',
        'acme:connection',
        'acme:tls',
        'acme:401,other:timeout',
      ],
    ]
    for (const language of ['en', 'fr']) {
      const meanings = details.map((detail) => meaningOf({ ...fate, detail }, language))
      expect(new Set(meanings).size).toBe(details.length)
      for (const meaning of meanings) expect(meaning).not.toMatch(/[{}]|undefined/)
      const others = [
        { state: 'waiting', detail: null },
        { state: 'waiting', detail: 'smtp_421' },
        { state: 'sent', detail: 'acme', gateway: 'acme' },
        { state: 'delivered', detail: 'acme', gateway: 'acme' },
        { state: 'refused', detail: 'acme', gateway: 'acme' },
        { state: 'expired', detail: null, isReplaced: true },
        { state: 'expired', detail: null },
        { state: 'expired', detail: 'acme:503' },
      ] as const
      expect(new Set(others.map((other) => meaningOf({ ...fate, ...other }, language))).size).toBe(8)
    }
  })

  test('a message whose code is dead, and one that was sent, are not sent again', async () => {
    const { identifier, uuid } = await person()
    const [sent] = (await ofAccount(uuid)) as [Message]
    expectRefusal(await call('POST', `messages/${sent.id}/retry`), 'not_resendable')
    service.smtp.behave({ refuse: { status: 554, at: 'data' } })
    await service.post('password/forgot', { identifier })
    const [refused] = (await ofAccount(uuid, '?state=refused')) as [Message]
    service.smtp.behave({})
    service.clock.advance(11 * 60_000)
    expectRefusal(await call('POST', `messages/${refused.id}/retry`), 'not_resendable')
    for (const id of ['0', 'x', '99999999'])
      expectRefusal(await call('POST', `messages/${id}/retry`), 'message_not_found')
  })

  test('what became of SMS is reported by gateway and country', async () => {
    await service.signUp(newPhone())
    await service.delivered()
    await service.inside.services.funnel.flush()
    const { items } = (await call('GET', 'sms/report?days=7')).body
    const row = items.find(({ gateway }: { gateway: string }) => gateway === 'stub')
    expect(row).toMatchObject({ country: 'FR' })
    expect(row.accepted).toBeGreaterThan(0)
    expectRefusal(await call('GET', 'sms/report?days=0'), 'validation_failed')
  })

  test('the first screen counts the last 48 hours', async () => {
    const known = await person()
    await service.post('login', { identifier: known.identifier, password: 'wrong' })
    await service.delivered()
    await service.inside.services.events.flush()
    service.clock.advance(60_000)
    const { body } = await call('GET', 'statistics')
    expect(body.hours).toHaveLength(48)
    const total = (name: 'accounts' | 'confirmations' | 'logins' | 'refusals') =>
      body.hours.reduce((sum: number, hour: Record<typeof name, number>) => sum + hour[name], 0)
    expect(body.accounts.total).toBeGreaterThan(3)
    expect(body.accounts.confirmed).toBe(total('confirmations'))
    expect(total('logins')).toBeGreaterThan(3)
    expect(total('refusals')).toBe(1)
    const states = body.hours.flatMap((hour: { messages: { state: string; gateway: string | null }[] }) =>
      hour.messages.map(({ state, gateway }) => `${state} ${gateway}`),
    )
    expect(states).toEqual(expect.arrayContaining(['sent null', 'sent stub']))
  })

  test('the statistics tell how long a message has waited, and the last error of each gateway and server', async () => {
    service.clock.advance(60_000)
    const before = (await call('GET', 'statistics')).body
    service.gateway.behave({ status: 400 })
    await service.post('register', registration(newPhone()))
    await service.delivered()
    service.gateway.behave({ status: 503 })
    await service.post('register', registration(newPhone()))
    service.clock.advance(7 * 60_000)
    const { waiting, errors, removals, limited } = (
      await call('GET', 'statistics', undefined, { 'accept-language': 'en' })
    ).body
    expect([before.waiting.oldest_seconds ?? 0, before.removals, removals]).toEqual([
      expect.any(Number),
      [],
      [],
    ])
    expect([waiting.count > 0, limited]).toEqual([true, 0])
    expect(waiting.oldest_seconds).toBeGreaterThanOrEqual(7 * 60)
    const ofGateway = errors.find(({ gateway }: { gateway: string | null }) => gateway === 'stub')
    expect(ofGateway).toMatchObject({ channel: 'sms', cause: expect.stringMatching(/^stub:(400|503)$/) })
    expect(ofGateway.meaning).toStartWith('stub ')
    expect(Object.keys(ofGateway).sort()).toEqual(['at', 'cause', 'channel', 'gateway', 'meaning', 'reply'])
    service.gateway.behave({})
  })
})

describe.each(limitingShapes)('limits on %s', (shape: Shape) => {
  const service = useLimited({ shape })
  const call = operatorOf(service)

  test('are lifted for one identifier: wrong passwords, codes and tries of a code', async () => {
    const known = await service.signUp(newEmail())
    const { identifier } = known
    const other = newEmail()
    const tries = [identifier, other].flatMap((name) =>
      Array.from({ length: 11 }, () => service.post('login', { identifier: name, password: 'not this one' })),
    )
    await Promise.all(tries)
    for (let count = 0; count < 4; count++) await service.post('password/forgot', { identifier })
    expectRefusal(await service.post('login', known), 'too_many_requests')
    expectRefusal(await service.post('password/forgot', { identifier }), 'too_many_requests')
    expect((await call('DELETE', `limits/${encodeURIComponent(identifier.toUpperCase())}`)).status).toBe(200)
    await service.logIn(known)
    expect((await service.post('password/forgot', { identifier })).status).toBe(201)
    expectRefusal(await service.post('login', { identifier: other, password: 'x' }), 'too_many_requests')
    const [event] = (await call('GET', 'events?type=limits.lifted')).body.items
    expect(event).toMatchObject({ actor: { type: 'operator' }, data: {} })
    expect(event.account).not.toBeNull()
    expectRefusal(await call('DELETE', 'limits/nobody'), 'validation_failed')
  })
})
