/** Closing a prefix of telephone numbers by hand, which goes through the check of the guard against pumping. */
import { describe, expect, test } from 'bun:test'
import { listening, onListener, operatorOf, signInAs } from '../helpers/administration.ts'
import { registration } from '../helpers/api-client.ts'
import { newClient } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { rareShapes } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

const PREFIX = '+3361234'
const path = (prefix: string) => `sms/prefixes/${encodeURIComponent(prefix)}`

describe.each(rareShapes)('on %s', (shape) => {
  const service = useLimited({ shape })
  const call = operatorOf(service)
  let last = 5000
  const ask = (prefix: string) => service.post('register', registration(`${prefix}${last++}`), newClient())

  test('nobody gets an SMS in a closed prefix, until it is opened or its end', async () => {
    expect((await ask(PREFIX)).status).toBe(201)
    const wish = { prefix: '+33 6 12 34', reason: 'pumping', expires_in: '2d' }
    const closed = (await call('POST', 'sms/prefixes', wish)).body
    expect(closed).toMatchObject({
      prefix: PREFIX,
      closed_by: 'hand',
      reason: 'pumping',
      created_by: { type: 'operator', id: 'root', name: 'root' },
    })
    expect(Date.parse(closed.closed_until) - Date.parse(closed.created_at)).toBe(2 * 86_400_000)
    expectRefusal(await ask(PREFIX), 'too_many_requests')
    expect((await ask('+3361235')).status).toBe(201)
    expect((await call('GET', 'sms/prefixes')).body.items).toMatchObject([{ prefix: PREFIX }])
    expect((await call('DELETE', path(PREFIX))).status).toBe(200)
    expectRefusal(await call('DELETE', path(PREFIX)), 'prefix_not_found')
    expect((await ask(PREFIX)).status).toBe(201)

    // A shorter prefix closes everything below it, and a longer one the block in which it is.
    await call('POST', 'sms/prefixes', { prefix: '+336', reason: 'all of it', expires_in: '1d' })
    expectRefusal(await ask('+3361235'), 'too_many_requests')
    await call('DELETE', path('+336'))
    await call('POST', 'sms/prefixes', { prefix: '+3361235999', reason: 'one', expires_in: '1d' })
    expectRefusal(await ask('+3361235'), 'too_many_requests')
    service.clock.advance(86_400_000 + 1)
    expect((await call('GET', 'sms/prefixes')).body.items).toEqual([])
    expect((await ask('+3361235')).status).toBe(201)
    const { items } = (await call('GET', 'events?type=prefix.*')).body
    const told = items.map(({ type, data }: { type: string; data: object }) => [type, data])
    expect(told.slice(-2)).toMatchObject([
      ['prefix.opened', { prefix: PREFIX }],
      ['prefix.closed', { prefix: PREFIX, reason: 'pumping', expires_at: closed.closed_until }],
    ])
  })

  test('of 32 callers that close a prefix at once all are told so, and one of 32 opens it', async () => {
    const wish = (caller: number) => ({ prefix: '+3376', reason: `caller ${caller}`, expires_in: '1d' })
    const answers = await race([call], (post, caller) => post('POST', 'sms/prefixes', wish(caller)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const { items } = (await call('GET', 'sms/prefixes')).body
    expect(items).toMatchObject([{ prefix: '+3376', reason: expect.stringMatching(/^caller \d+$/) }])
    expectRefusal(await ask('+3376123'), 'too_many_requests')
    onlySuccess(await race([call], (remove) => remove('DELETE', path('+3376'))), 'prefix_not_found')
    expect((await ask('+3376123')).status).toBe(201)
  })

  test('what cannot be is refused with its field', async () => {
    const wish = { prefix: '+371', reason: 'pumping', expires_in: '1d' }
    for (const [field, value] of [
      ['prefix', '06 12'],
      ['prefix', '+'],
      ['prefix', '+3361234567890123'],
      ['reason', '  '],
      ['expires_in', '31d'],
      ['expires_in', '1s'],
    ] as const)
      expectInvalid(await call('POST', 'sms/prefixes', { ...wish, [field]: value }), {
        [field]: 'invalid_value',
      })
    expect((await call('GET', 'sms/prefixes')).body.items).toEqual([])
  })
})

describe('on the page', () => {
  const service = useLimited({ settings: listening })

  test('support closes and opens a prefix; a viewer and a token for something else do not', async () => {
    const [support, viewer] = [await signInAs(service, 'support'), await signInAs(service, 'viewer')]
    const wish = { prefix: '+372', reason: 'pumping', expires_in: '7d' }
    expect((await support.page.call('POST', 'sms/prefixes', wish)).body.created_by).toMatchObject({
      type: 'administrator',
      id: support.uuid,
      name: support.person.identifier,
    })
    for (const [method, at, body] of [
      ['GET', 'sms/prefixes', undefined],
      ['POST', 'sms/prefixes', wish],
      ['DELETE', path('+372'), undefined],
    ] as const)
      expectRefusal(await viewer.page.call(method, at, body), 'insufficient_scope')
    expect((await support.page.call('DELETE', path('+372'))).status).toBe(200)
    expect((await onListener(service, 'GET', 'sms/prefixes')).status).toBe(401)
  })
})
