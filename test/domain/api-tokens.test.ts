/** Tokens of administration on the TCP listener, and calls that are sent again; with limits on. */
import { describe, expect, test } from 'bun:test'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { type AdminRoute, type Scope, scopes } from '../../src/administration/access/access.ts'
import { adminRoutes } from '../../src/compose/admin-app.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { addAdministrator, asOperator, listening, onListener, signInAs } from '../helpers/administration.ts'
import { type Answer, newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { protectByApp } from '../helpers/authenticator.ts'
import { dumpTables } from '../helpers/database.ts'
import { newClient } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { useLimited, useReplica } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const headers = () => newClient().headers as Record<string, string>

describe('a token of administration', () => {
  const service = useLimited({ settings: listening })
  const replica = useReplica(service, { settings: listening })

  const create = (wish: Record<string, unknown> = {}) =>
    asOperator(service, 'POST', 'tokens', {
      name: 'test',
      scopes: ['accounts:read'],
      expires_in: '90d',
      ...wish,
    })
  const made = async (wish: Record<string, unknown> = {}) => (await create(wish)).body
  const by = (token: string, from: Record<string, string> = headers()) => ({
    headers: { ...from, authorization: `Bearer ${token}` },
  })
  const use = (token: string, method: string, path: string, body?: unknown, on = service) =>
    onListener(on, method, path, body, by(token))
  const somebody = async () => (await service.signedIn()).account.uuid as string
  const events = async (type: string) => {
    await service.inside.services.events.flush()
    return (await asOperator(service, 'GET', `events?type=${type}&limit=200`)).body.items
  }

  test('has the form that scanners know, is shown once and kept as a hash', async () => {
    const created = await create({ name: 'nightly export' })
    expect(created.status).toBe(201)
    const { token, id, created_by } = created.body
    expect(token).toMatch(/^pot_adm_[0-9A-Za-z]{28}$/)
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const checksum = [...token.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    expect(checksum).toBe(crc32(token.slice(8, 30)))
    expect(created_by).toEqual({ type: 'operator', id: 'root', name: 'root' })
    expect((await use(token, 'GET', 'accounts')).status).toBe(200)
    const { items } = (await asOperator(service, 'GET', 'tokens?limit=1')).body
    expect(items).toMatchObject([{ id, name: 'nightly export', scopes: ['accounts:read'] }])
    expect(items[0]).not.toHaveProperty('token')
    expect(items[0].last_used_at).toBe(service.clock.now().toISOString())
    const dump = await dumpTables(service)
    expect(dump).toContain('nightly export')
    expect(dump).not.toContain(token)
    const [event] = await events('token.created')
    expect(event).toMatchObject({ account: null, data: { token: id, name: 'nightly export' } })
    expect(JSON.stringify(event)).not.toContain(token)
  })

  test('reaches what its scopes name, on every route, and nothing else', async () => {
    const tokens = new Map<Scope, string>()
    for (const scope of scopes) tokens.set(scope, (await made({ scopes: [scope] })).token)
    const uuid = crypto.randomUUID()
    const call = (route: AdminRoute, token: string) => {
      const path = route.path.replace(':uuid', uuid).replace(/:\w+/, '999')
      // The request is refused before it is read, and its target does not exist.
      const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : {}
      return use(token, route.method, path, body)
    }
    const wrong: string[] = []
    for (const route of adminRoutes.filter(({ access }) => access !== 'open')) {
      const needed = scopes.find((scope) => scope === route.access)
      const without = scopes.find((scope) => scope !== needed)!
      const refused = await call(route, tokens.get(without)!)
      const name = `${route.method} ${route.path}`
      if (refused.body?.code !== 'insufficient_scope' && refused.body?.code !== 'route_not_found')
        wrong.push(`${name} with ${without}: ${refused.status}`)
      if (needed === undefined) continue
      const admitted = await call(route, tokens.get(needed)!)
      if (admitted.status === 401 || admitted.status === 403)
        wrong.push(`${name} with ${needed}: ${admitted.status}`)
    }
    expect(wrong).toEqual([])
    for (const route of adminRoutes.filter(({ access }) => access !== 'open')) {
      const path = route.path.replace(/:\w+/g, uuid)
      const answer = await onListener(service, route.method, path)
      expect([route.path, answer.body.code]).toEqual([
        route.path,
        expect.stringMatching(/^(invalid_token|route_not_found)$/),
      ])
    }
  })

  test('reaches no account that is an administrator', async () => {
    const { uuid, person } = await addAdministrator(service, 'viewer')
    const token = (await made({ scopes: [...scopes] })).token
    const { items } = (await asOperator(service, 'GET', `accounts/${uuid}/messages`)).body
    const path = `messages/${items[0].id}/retry`
    expectRefusal(await use(token, 'POST', path), 'insufficient_scope')
    expectRefusal(await asOperator(service, 'POST', path), 'not_resendable')
    const identifier = encodeURIComponent(person.identifier)
    expectRefusal(await use(token, 'DELETE', `limits/${identifier}`), 'insufficient_scope')
    expect((await use(token, 'DELETE', `limits/${newEmail()}`)).status).toBe(200)
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { locked: true }],
      ['DELETE', ''],
      ['DELETE', '/sessions'],
      ['DELETE', '/two-factor'],
      ['POST', '/access-code', {}],
      ['PUT', '/email', { value: newEmail() }],
    ] as const)
      expectRefusal(await use(token, method, `accounts/${uuid}${path}`, body), 'insufficient_scope')
    expect((await use(token, 'PATCH', `accounts/${await somebody()}`, { locked: true })).status).toBe(200)
    const body = { account: await somebody(), role: 'owner' }
    expectRefusal(await use(token, 'POST', 'administrators', body), 'insufficient_scope')
    const [event] = await events('account.locked')
    expect(event.actor).toMatchObject({ type: 'token', name: 'test' })
  })

  test('reaches no administrator on any route, however the path spells them', async () => {
    const { uuid, person } = await addAdministrator(service, 'viewer')
    const phone = newPhone()
    const contact = { value: phone, verified: true }
    expect((await asOperator(service, 'PUT', `accounts/${uuid}/phone`, contact)).status).toBe(200)
    const { token } = await made({ scopes: [...scopes] })
    const hex = (text: string) =>
      [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    const typed = [
      ...[uuid, uuid.toUpperCase(), person.identifier, person.identifier.toUpperCase()],
      ...[` ${person.identifier} `, phone, `00${phone.slice(1)}`, `0${phone.slice(3, 4)} ${phone.slice(4)}`],
    ]
    const names = typed.flatMap((name) => [encodeURIComponent(name), hex(name)])
    const { items } = (await asOperator(service, 'GET', `accounts/${uuid}/messages`)).body
    const ids = items.map(({ id }: { id: number }) => `${id}`)
    const ofToken = adminRoutes.filter(({ access, path }) => access.includes(':') && path.includes('/:'))
    const reached: string[] = []
    for (const { method, path } of ofToken)
      for (const name of path.includes('messages/:id') ? [...ids, `0${ids[0]}`] : names) {
        const target = path.replace('/admin/v1/', '').replace(/:\w+/, name).replace(/:\w+/, '999')
        const { status, body } = await use(token, method, target, method === 'GET' ? undefined : {})
        if (
          !['insufficient_scope', 'account_not_found'].includes(body.code) &&
          /uuid|identifier|messages/.test(path)
        )
          reached.push(`${method} ${target}: ${status} ${body.code}`)
      }
    expect(reached).toEqual([])
    for (const name of names)
      expectRefusal(await use(token, 'DELETE', `limits/${name}`), 'insufficient_scope')
  })

  test('reaches no administrator by what names them in passing', async () => {
    const { uuid } = await addAdministrator(service, 'viewer')
    const { token } = await made({ scopes: [...scopes] })
    const [{ id }] = (await asOperator(service, 'GET', `accounts/${uuid}/messages`)).body.items
    await service.inside.database.all(
      statement(
        sql`update messages set account_uuid = null, code_subject = null where id = ${sql.raw(`${id}`)}`,
      ),
      {},
    )
    for (const [method, path] of [
      ['GET', `messages/${id}`],
      ['POST', `messages/${id}/retry`],
    ] as const) {
      expectRefusal(await use(token, method, path), 'insufficient_scope')
      expect((await asOperator(service, method, path)).status).not.toBe(403)
    }
    // A registration claims the number of an administrator: what is counted on it is the administrator's.
    const [email, phone] = [newEmail(), newPhone()]
    const contact = { value: phone, verified: true }
    expect((await asOperator(service, 'PUT', `accounts/${uuid}/phone`, contact)).status).toBe(200)
    await service.post('register', { ...registration(email), phone })
    const { items } = (await asOperator(service, 'GET', `accounts?query=${email}`)).body
    expect(items[0].phone).toBe(phone)
    expectRefusal(await use(token, 'DELETE', `limits/${items[0].uuid}`), 'insufficient_scope')
  })

  test('is refused where it names nobody that can be read', async () => {
    const { token } = await made({ scopes: [...scopes] })
    expectRefusal(await use(token, 'DELETE', 'limits/zz'), 'validation_failed')
    expectRefusal(
      await use(token, 'GET', `accounts/${encodeURIComponent(newEmail())}/events`),
      'account_not_found',
    )
    expectRefusal(await use(token, 'GET', 'messages/zz'), 'message_not_found')
  })

  test('that sees a person by a change that changes nothing has looked at them', async () => {
    const { token, id } = await made({ scopes: ['accounts:write'] })
    const uuid = await somebody()
    const patch = (body: object) => use(token, 'PATCH', `accounts/${uuid}`, body)
    const recorded = async () =>
      (await asOperator(service, 'GET', `accounts/${uuid}/events?limit=50`)).body.items.filter(
        ({ actor }: { actor: { id: string } }) => actor.id === id,
      )
    for (const body of [{}, { locked: false }]) expect((await patch(body)).status).toBe(200)
    expect((await recorded()).map(({ type }: { type: string }) => type)).toEqual(['account.viewed'])
    for (const locked_reason of ['a reason of then', 'a reason of now'])
      expect((await patch({ locked: true, locked_reason })).body.account.locked_reason).toBe(locked_reason)
    const events = await recorded()
    expect(events).toMatchObject([
      { type: 'account.updated', data: { fields: ['locked_reason'] } },
      { type: 'account.locked' },
      { type: 'session.ended', data: { cause: 'lock' } },
      { type: 'account.viewed' },
    ])
    expect(JSON.stringify(events)).not.toContain('a reason of')
  })

  test('lifts the limits of an account ten times a day, so that it guesses at nobody’s codes', async () => {
    const { token } = await made({ scopes: ['limits:write'] })
    const person = await service.signUp(newEmail())
    const [known, unknown] = [person.identifier, newEmail()].map(encodeURIComponent)
    for (const identifier of [known, unknown]) {
      for (let count = 0; count < 10; count++)
        expect((await use(token, 'DELETE', `limits/${identifier}`)).status).toBe(200)
      expectRefusal(await use(token, 'DELETE', `limits/${identifier}`), 'too_many_requests')
      expect((await asOperator(service, 'DELETE', `limits/${identifier}`)).status).toBe(200)
      expectRefusal(await use(token, 'DELETE', `limits/${identifier}`), 'too_many_requests')
    }
    service.clock.advance(DAY_MS)
    expect((await use(token, 'DELETE', `limits/${known}`)).status).toBe(200)
  })

  test('leaves nothing open in an account that becomes an administrator afterwards', async () => {
    const token = (await made({ scopes: ['accounts:write', 'accounts:recover'] })).token
    const identifier = newEmail()
    const body = { email: identifier, password: 'plum-otter-tangent-91', verified: true, invite: true }
    const { uuid } = (await use(token, 'POST', 'accounts', body)).body.account
    await service.delivered()
    const invitation = /(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}/.exec(service.inbox.textsTo(identifier).join('\n'))![0]
    const { code: recovery } = (await use(token, 'POST', `accounts/${uuid}/access-code`, {})).body
    await asOperator(service, 'POST', 'administrators', { account: uuid, role: 'owner' })
    for (const otp of [invitation, recovery]) {
      const password = 'chosen-by-somebody-else-4'
      const fields = { identifier: uuid, otp, password, password_confirmation: password }
      expectRefusal(await service.post('password/reset', fields, newClient()), 'invalid_code')
    }
    const protectedBy = await protectByApp(service)
    const named = { account: protectedBy.person.identifier, role: 'viewer' }
    const { items } = (await asOperator(service, 'GET', `accounts?query=${named.account}`)).body
    const { accountFactors, twoFactorRemovals } = service.inside.services
    await accountFactors.removeTwoFactor(items[0].uuid, { delayed: true })
    await asOperator(service, 'POST', 'administrators', named)
    const later = new Date(service.clock.now().getTime() + 2 * DAY_MS)
    expect(await twoFactorRemovals.removeDue(later, 10)).toBe(0)
    // Somebody who was an administrator already keeps the code that the operator made.
    const { code } = (await asOperator(service, 'POST', `accounts/${uuid}/access-code`, {})).body
    await asOperator(service, 'POST', 'administrators', { account: uuid, role: 'support' })
    const password = 'chosen-by-the-owner-77'
    const fields = { identifier: uuid, otp: code, password, password_confirmation: password }
    expect((await service.post('password/reset', fields, newClient())).status).toBe(200)
  })

  test('a removal of two factors of which the owner cannot be told does not begin', async () => {
    const { person } = await protectByApp(service)
    const { items } = (await asOperator(service, 'GET', `accounts?query=${person.identifier}`)).body
    const { accountFactors, twoFactorRemovals } = service.inside.services
    const ask = () => accountFactors.removeTwoFactor(items[0].uuid, { delayed: true })
    const links = async () => {
      await service.delivered()
      return service.inbox
        .textsTo(person.identifier)
        .flatMap((text) => /\/stop\?t=([\w-]+)/.exec(text)?.[1] ?? [])
    }
    const stopped = new Set<string>()
    for (let count = 1; count <= 12; count++) {
      await ask()
      const [link, ...more] = (await links()).filter((one) => !stopped.has(one))
      expect(more).toEqual([])
      expect(await twoFactorRemovals.stop(link!)).toBeTrue()
      stopped.add(link!)
    }
    expect(await ask().catch(({ errorCode }) => errorCode)).toBe('too_many_requests')
    const later = new Date(service.clock.now().getTime() + 2 * DAY_MS)
    expect(await twoFactorRemovals.removeDue(later, 10)).toBe(0)
  })

  test('asks in vain with what no database can hold', async () => {
    const token = (await made({ scopes: ['accounts:read', 'events:read', 'messages:read'] })).token
    for (const query of [
      'accounts?query=ada%00',
      'events?type=a%00',
      'events?actor=%00',
      'messages?gateway=%00',
    ])
      expectRefusal(await use(token, 'GET', query), 'validation_failed')
  })

  test('ends with its time, and when it is revoked, on every replica at once', async () => {
    const short = await made({ expires_in: '1h' })
    expect((await use(short.token, 'GET', 'accounts', undefined, replica)).status).toBe(200)
    service.clock.advance(60 * MINUTE_MS)
    expectRefusal(await use(short.token, 'GET', 'accounts'), 'token_expired')
    const one = await made()
    expect((await use(one.token, 'GET', 'accounts', undefined, replica)).status).toBe(200)
    expect((await asOperator(service, 'DELETE', `tokens/${one.id}`)).status).toBe(200)
    expectRefusal(await use(one.token, 'GET', 'accounts', undefined, replica), 'invalid_token')
    expectRefusal(await asOperator(service, 'DELETE', `tokens/${one.id}`), 'token_not_found')
    expectRefusal(await asOperator(service, 'DELETE', 'tokens/x'), 'token_not_found')
    const refused = (await events('token.refused')).filter(
      ({ actor }: { actor: { id: string } }) => actor.id === short.id,
    )
    expect(refused).toMatchObject([
      { outcome: 'failure', actor: { type: 'token', id: short.id, name: 'test' }, data: { count: 1 } },
    ])
  })

  test('that is revoked while it waits for an event gets none', async () => {
    const [revoked, living] = [
      await made({ scopes: ['events:read'] }),
      await made({ scopes: ['events:read'] }),
    ]
    const [newest] = (await asOperator(service, 'GET', 'events?limit=1')).body.items
    const wait = ({ token }: { token: string }) =>
      use(token, 'GET', `events?after=${newest.id}&type=key.rotated&wait=20`)
    const answers = [wait(revoked), wait(living)]
    const areWaiting = async () => {
      const { items } = (await asOperator(service, 'GET', 'tokens?limit=2')).body
      return items.every(({ last_used_at: at }: { last_used_at: string | null }) => at !== null)
    }
    await waitFor(areWaiting, { what: 'both to wait' })
    await asOperator(service, 'DELETE', `tokens/${revoked.id}`)
    await asOperator(service, 'POST', 'keys/rotate', {})
    const [refused, served] = await Promise.all(answers)
    expectRefusal(refused!, 'invalid_token')
    expect(served!.body.items).toMatchObject([{ type: 'key.rotated' }])
  })

  test('revokes no token that may more than itself', async () => {
    const [small, large, part] = [
      await made({ scopes: ['tokens:write'] }),
      await made({ scopes: ['tokens:write', 'accounts:read'] }),
      await made({ scopes: ['tokens:write'] }),
    ]
    expectRefusal(await use(small.token, 'DELETE', `tokens/${large.id}`), 'insufficient_scope')
    expect((await use(large.token, 'GET', 'accounts')).status).toBe(200)
    for (const id of [part.id, small.id])
      expect((await use(small.token, 'DELETE', `tokens/${id}`)).status).toBe(200)
  })

  test('is taken from its addresses alone', async () => {
    const { token, addresses } = await made({ addresses: ['198.51.100.77/24', '2001:db8::1'] })
    expect(addresses).toEqual(['198.51.100.0/24', '2001:db8::1/128'])
    const from = (address: string) =>
      onListener(service, 'GET', 'accounts', undefined, by(token, { 'x-forwarded-for': address }))
    expect((await from('198.51.100.200')).status).toBe(200)
    expect((await from('::ffff:198.51.100.200')).status).toBe(200)
    expect((await from('2001:db8::1')).status).toBe(200)
    expectRefusal(await from('198.51.101.1'), 'invalid_token')
    expectRefusal(await from('2001:db8::2'), 'invalid_token')
  })

  test('makes tokens with a part of what it holds, and they end with it', async () => {
    const parent = await made({
      scopes: ['tokens:write', 'events:read'],
      expires_in: '2d',
      addresses: ['10.0.0.0/8'],
    })
    const make = (wish: Record<string, unknown>, token = parent.token) =>
      use(token, 'POST', 'tokens', { name: 'child', scopes: ['events:read'], expires_in: '1d', ...wish })
    const child = (await make({})).body
    expect(child.addresses).toEqual(['10.0.0.0/8'])
    expect((await make({ addresses: ['10.1.0.0/16'] })).status).toBe(201)
    for (const wish of [
      { scopes: ['accounts:read'] },
      { scopes: ['events:read', 'accounts:erase'] },
      { expires_in: '3d' },
      { addresses: ['0.0.0.0/1'] },
      { addresses: ['192.0.2.0/24'] },
      { addresses: [] },
    ])
      expectRefusal(await make(wish), 'insufficient_scope')
    const grandchild = (await make({ scopes: ['tokens:write', 'events:read'] })).body
    const last = (await make({}, grandchild.token)).body
    await asOperator(service, 'DELETE', `tokens/${parent.id}`)
    for (const { token } of [child, grandchild, last])
      expectRefusal(await use(token, 'GET', 'events'), 'invalid_token')
  })

  test('none that was just made survives the revocation of its maker', async () => {
    const parent = await made({ scopes: ['tokens:write', 'events:read'] })
    const body = { name: 'child', scopes: ['events:read'], expires_in: '1d' }
    const answers = await race([service, replica], (one, caller) =>
      caller === 16
        ? asOperator(one, 'DELETE', `tokens/${parent.id}`)
        : onListener(one, 'POST', 'tokens', body, by(parent.token)),
    )
    for (const { status, body: child } of answers.filter((answer) => answer.status === 201))
      expect([status, (await use(child.token, 'GET', 'events')).status]).toEqual([201, 401])
    expect((await asOperator(service, 'GET', 'tokens')).body.items).not.toContainEqual(
      expect.objectContaining({ name: 'child', created_by: expect.objectContaining({ id: parent.id }) }),
    )
  })

  describe('of an owner', () => {
    const owner = async () => {
      const { page, uuid } = await signInAs(service, 'owner', headers())
      const make = async (...scopes: Scope[]) => {
        const answer = await page.call('POST', 'tokens', { name: 'theirs', scopes, expires_in: '1d' })
        return answer.body as { id: string; token: string }
      }
      const put = (role: string) => asOperator(service, 'POST', 'administrators', { account: uuid, role })
      return { page, uuid, make, put }
    }
    const isTaken = async ({ token }: { token: string }) => (await use(token, 'GET', 'events')).status !== 401

    test('ends when they may not do any more what it may, and with it what it made', async () => {
      const { uuid, make, put } = await owner()
      const others = await made({ scopes: ['accounts:write'] })
      const [reads, lifts, writes, makes] = [
        await make('events:read'),
        await make('events:read', 'limits:write'),
        await make('accounts:write'),
        await make('tokens:write', 'events:read'),
      ] as const
      const child = { name: 'child', scopes: ['events:read'], expires_in: '1h' }
      const madeByIt = (await use(makes.token, 'POST', 'tokens', child)).body
      expect((await put('owner')).body).not.toHaveProperty('revoked_tokens')
      expect((await put('support')).body).toMatchObject({ status: 200, revoked_tokens: 3 })
      for (const token of [writes, makes, madeByIt]) expect(await isTaken(token)).toBeFalse()
      for (const token of [reads, lifts, others]) expect(await isTaken(token)).toBeTrue()
      const revoked = (await events('token.revoked')).slice(0, 3)
      expect(new Set(revoked.map(({ data }: { data: { token: string } }) => data.token))).toEqual(
        new Set([writes.id, makes.id, madeByIt.id]),
      )
      expect((await put('viewer')).body.revoked_tokens).toBe(1)
      expect([await isTaken(reads), await isTaken(lifts)]).toEqual([true, false])
      const removed = await asOperator(service, 'DELETE', `administrators/${uuid}`)
      expect(removed.body).toEqual({ status: 200, revoked_tokens: 1 })
      expect([await isTaken(reads), await isTaken(others)]).toEqual([false, true])
    })

    test('ends with the recovery codes that were shown, and so do those of its maker', async () => {
      const { page, uuid, make } = await owner()
      const { token } = await make('accounts:recover')
      const people = await Promise.all([somebody(), somebody(), somebody(), somebody()])
      const [theirs, byToken, later, others] = people.map((person) => `accounts/${person}/access-code`)
      const lone = await made({ scopes: ['accounts:recover'] })
      const codes = [
        (await page.call('POST', theirs!, {})).body.code,
        (await use(token, 'POST', byToken!, {})).body.code,
        (await use(lone.token, 'POST', later!, {})).body.code,
        (await asOperator(service, 'POST', others!, {})).body.code,
      ]
      await asOperator(service, 'DELETE', `administrators/${uuid}`)
      await asOperator(service, 'DELETE', `tokens/${lone.id}`)
      const chosen = { password: 'chosen-by-somebody-4', password_confirmation: 'chosen-by-somebody-4' }
      const statuses = []
      for (const [index, otp] of codes.entries())
        statuses.push(
          (await service.post('password/reset', { identifier: people[index], otp, ...chosen }, newClient()))
            .status,
        )
      expect(statuses).toEqual([422, 422, 422, 200])
    })

    test('and support staff leave no removal of two factors behind', async () => {
      const support = await signInAs(service, 'support', headers())
      const { person } = await protectByApp(service)
      const { items } = (await asOperator(service, 'GET', `accounts?query=${person.identifier}`)).body
      const path = `accounts/${items[0].uuid}/two-factor`
      expect((await support.page.call('DELETE', path)).body.due_at).toBeString()
      await asOperator(service, 'DELETE', `administrators/${support.uuid}`)
      const later = new Date(service.clock.now().getTime() + 2 * DAY_MS)
      expect(await service.inside.services.twoFactorRemovals.removeDue(later, 10)).toBe(0)
    })

    test('ends when their account is erased', async () => {
      const { uuid, make } = await owner()
      const token = await make('events:read')
      await asOperator(service, 'DELETE', `accounts/${uuid}`)
      expect(await isTaken(token)).toBeFalse()
      const [event] = await events('token.revoked')
      expect(event.data.token).toBe(token.id)
    })

    test('none that was just made survives the removal of its maker', async () => {
      const { page, uuid } = await owner()
      const wish = { name: 'theirs', scopes: ['events:read'], expires_in: '1d' }
      const answers = await race([service, replica], (one, caller) =>
        caller === 16
          ? asOperator(one, 'DELETE', `administrators/${uuid}`)
          : page.call('POST', 'tokens', wish),
      )
      expect(answers[16]!.status).toBe(200)
      const tokens = answers.filter(({ status }) => status === 201).map(({ body }) => body)
      for (const token of tokens) expect(await isTaken(token)).toBeFalse()
      expect(answers[16]!.body.revoked_tokens ?? 0).toBeGreaterThanOrEqual(tokens.length)
      const { items } = (await asOperator(service, 'GET', 'tokens?limit=200')).body
      expect(items.map(({ created_by }: { created_by: { id: string } }) => created_by.id)).not.toContain(uuid)
    })
  })

  test('is asked for with what it can be', async () => {
    expectInvalid(await create({ scopes: ['accounts:all'] }), { 'scopes.0': 'invalid_value' })
    expectInvalid(await create({ scopes: [] }), { scopes: 'invalid_value' })
    expectInvalid(await create({ expires_in: '366d' }), { expires_in: 'invalid_value' })
    expectInvalid(await create({ expires_in: 'soon' }), { expires_in: 'invalid_value' })
    expectInvalid(await create({ addresses: ['10.0.0.0/33'] }), { addresses: 'invalid_value' })
    expectInvalid(await create({ addresses: ['0.0.0.0/0'] }), { addresses: 'invalid_value' })
    expectInvalid(await create({ name: ' ' }), { name: 'invalid_value' })
    expect((await create({ expires_in: '365d' })).status).toBe(201)
  })

  test('that is wrong is refused, twenty times a minute from one address, and no right one with it', async () => {
    const { token } = await made()
    const from = headers()
    const guess = (text: string) => onListener(service, 'GET', 'accounts', undefined, by(text, from))
    const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    for (let tries = 0; tries < 20; tries++) expectRefusal(await guess(wrong), 'invalid_token')
    expectRefusal(await guess(wrong), 'too_many_requests')
    expect((await guess(token)).status).toBe(200)
    expectRefusal(
      await onListener(service, 'GET', 'accounts', undefined, {
        headers: { ...headers(), authorization: 'Basic eA==' },
      }),
      'invalid_token',
    )
    // However many addresses try, one event an hour for each of the first hundred, and one for all others.
    const before = (await events('token.refused')).length
    for (let address = 0; address < 150; address++)
      await onListener(
        service,
        'GET',
        'accounts',
        undefined,
        by(wrong, { 'x-forwarded-for': `100.64.${address >> 8}.${address & 255}` }),
      )
    expect((await events('token.refused')).length - before).toBeLessThanOrEqual(101)
  })

  describe('a call that is sent again with its Idempotency-Key', () => {
    const again = (
      token: string,
      key: string,
      path: string,
      body: unknown,
      on: typeof service = service,
    ): Promise<Answer> =>
      onListener(on, 'POST', path, body, {
        headers: { ...headers(), authorization: `Bearer ${token}`, 'idempotency-key': key },
      })

    test('makes nothing again, answers the same, and shows no secret', async () => {
      const { token } = await made({ scopes: ['tokens:write', 'events:read'] })
      const wish = { name: 'once', scopes: ['events:read'], expires_in: '1d' }
      const key = crypto.randomUUID()
      const answers = await race([service, replica], (one) => again(token, key, 'tokens', wish, one))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      expect(answers.filter(({ body }) => body.token !== null)).toHaveLength(1)
      const { token: _, ...first } = answers.find(({ body }) => body.token !== null)!.body
      const { body } = await again(token, key, 'tokens', {
        expires_in: '1d',
        scopes: ['events:read'],
        name: 'once',
      })
      expect(body).toEqual({ ...first, token: null })
      expectRefusal(await again(token, key, 'tokens', { ...wish, name: 'two' }), 'idempotency_key_reused')
      expect((await again(token, 'another', 'tokens', wish)).body.token).not.toBeNull()
      const other = await made({ scopes: ['tokens:write', 'events:read'] })
      expect((await again(other.token, key, 'tokens', { ...wish, name: 'two' })).body.token).not.toBeNull()
      expectInvalid(await again(token, 'x'.repeat(256), 'tokens', wish), {
        idempotency_key: 'invalid_value',
      })
      service.clock.advance(DAY_MS)
      const tomorrow = await made({ scopes: ['tokens:write', 'events:read'] })
      expect((await again(tomorrow.token, key, 'tokens', wish)).body.token).not.toBeNull()
    })

    test('is made where the first try failed, and after a day anew', async () => {
      const { token } = await made({ scopes: [...scopes] })
      const key = crypto.randomUUID()
      const email = newEmail()
      expectInvalid(await again(token, key, 'accounts', { email, role_id: 2 ** 40 }), {
        role_id: 'invalid_value',
      })
      const created = await again(token, key, 'accounts', { email, verified: true })
      expect(created.status).toBe(201)
      const repeated = await again(token, key, 'accounts', { email, verified: true })
      expect([repeated.status, repeated.body.account.uuid]).toEqual([201, created.body.account.uuid])
      expectRefusal(
        await again(token, key, `accounts/${created.body.account.uuid}/invite`, {}),
        'idempotency_key_reused',
      )
      const code = await again(token, 'code', `accounts/${created.body.account.uuid}/access-code`, {})
      expect(code.body.code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
      const shown = await again(token, 'code', `accounts/${created.body.account.uuid}/access-code`, {})
      expect(shown.body).toEqual({ ...code.body, code: null })
      const dump = await dumpTables(service)
      expect(dump).not.toContain(code.body.code)
      service.clock.advance(DAY_MS)
      expectRefusal(await again(token, key, 'accounts', { email, verified: true }), 'identifier_taken')
      expect((await again(token, key, 'accounts', { email: newEmail() })).status).toBe(201)
    })

    test('shows no account that became an administrator since', async () => {
      const { token } = await made({ scopes: ['accounts:write'] })
      const body = { email: newEmail(), verified: true, password: 'plum-otter-tangent-91' }
      const { uuid } = (await again(token, 'made', 'accounts', body)).body.account
      await asOperator(service, 'POST', 'administrators', { account: uuid, role: 'viewer' })
      expectRefusal(await again(token, 'made', 'accounts', body), 'insufficient_scope')
      await asOperator(service, 'DELETE', `administrators/${uuid}`)
      expect((await again(token, 'made', 'accounts', body)).status).toBe(201)
    })

    test('an account whose invitation limits refuse is not made, and the call can be sent again', async () => {
      const { token } = await made({ scopes: ['accounts:write', 'accounts:read', 'accounts:erase'] })
      const email = newEmail()
      const wanted = { email, invite: true, password: 'plum-otter-tangent-91' }
      const create = (on = service) => again(token, crypto.randomUUID(), 'accounts', wanted, on)
      const found = async () => (await asOperator(service, 'GET', `accounts?query=${email}`)).body.items
      const answers = await race([service, replica], (one) => create(one))
      const { uuid } = onlySuccess(answers, 'identifier_taken', 'too_many_requests').body.account
      expect(await found()).toMatchObject([{ uuid }])
      await service.delivered()
      expect(service.inbox.textsTo(email)).toHaveLength(1)
      const invite = () => again(token, crypto.randomUUID(), `accounts/${uuid}/invite`, {})
      let invited = await invite()
      while (invited.status === 200) invited = await invite()
      expectRefusal(invited, 'too_many_requests')
      expect((await use(token, 'DELETE', `accounts/${uuid}`)).status).toBe(200)
      const key = crypto.randomUUID()
      expectRefusal(await again(token, key, 'accounts', wanted), 'too_many_requests')
      expect(await found()).toEqual([])
      service.clock.advance(60 * MINUTE_MS)
      const created = await again(token, key, 'accounts', wanted)
      expect(created.status).toBe(201)
      const { items } = (await asOperator(service, 'GET', `accounts/${created.body.account.uuid}/events`))
        .body
      expect(items.map(({ type }: { type: string }) => type)).toEqual(['account.invited', 'account.created'])
    })

    test('that was cut off after it made something makes nothing again', async () => {
      const { idempotency, administrationTokens: tokens } = service.inside.services
      const operator = { type: 'operator', id: 'root', name: 'root' } as const
      const wish = { name: 'cut off', scopes: ['events:read'], expiresIn: '1d' } as const
      const call = {
        headers: { 'idempotency-key': crypto.randomUUID() },
        ...{ caller: operator, path: '/tokens', body: wish },
        repeat: async (id: string) => ({ status: 201, ...(await tokens.get(id)) }),
      }
      let made = ''
      const cut = idempotency.run({
        ...call,
        async make(id) {
          made = (await tokens.create(operator, wish, id)).stored.uuid
          throw new Error('the process ends here')
        },
      })
      expect(await cut.catch(({ message }: Error) => message)).toBe('the process ends here')
      service.clock.advance(MINUTE_MS)
      const again = await idempotency.run({ ...call, make: () => expect.unreachable() })
      expect(again.uuid).toBe(made)
      expect((await idempotency.run({ ...call, make: () => expect.unreachable() })).uuid).toBe(made)
    })

    test('holds for administrators on the page and for the operator, on every route that makes something', async () => {
      const { page } = await signInAs(service, 'owner', headers())
      const person = await service.signUp(newEmail())
      const body = { account: person.identifier, role: 'viewer' }
      const add = () => page.call('POST', 'administrators', body, { 'idempotency-key': 'add' })
      const [first, second] = [await add(), await add()]
      expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
      const key = { headers: { 'idempotency-key': 'rotate' } }
      const rotated = await asOperator(service, 'POST', 'keys/rotate', {}, key)
      expect((await asOperator(service, 'POST', 'keys/rotate', {}, key)).body).toEqual(rotated.body)
      const revoke = { headers: { 'idempotency-key': 'revoke' } }
      const { kid } = rotated.body.key
      const revoked = await asOperator(service, 'POST', 'keys/revoke', { kid }, revoke)
      expect((await asOperator(service, 'POST', 'keys/revoke', { kid }, revoke)).body).toEqual(revoked.body)
    })
  })
})
