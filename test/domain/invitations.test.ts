/** Invitations: made by administrators, spent by the statement that opens an account, accepted by people who have one. */
import { describe, expect, test } from 'bun:test'
import { asOperator, createPage, listening, onListener, signInAs } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { dumpTables } from '../helpers/database.ts'
import { newClient } from '../helpers/limited-service.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal, outcomeOf } from '../helpers/refusals.ts'
import { racingShapes, type TestService } from '../helpers/service.ts'
import { useSocial } from '../helpers/social.ts'
import { useLimited, useReplica, useService } from '../helpers/use-service.ts'

const DAY_MS = 86_400_000
const byInvitation = {
  accounts: { registration: 'invitation', invitation_url: 'https://app.example.com/join?from=mail' },
}

const invite = async (service: TestService, wish: object = {}) => {
  const made = await asOperator(service, 'POST', 'invitations', wish)
  expect(made.status).toBe(201)
  return made.body as { id: string; code: string; link: string | null; uses: number; used: number }
}
const usesOf = async (service: TestService, id: string) =>
  (await asOperator(service, 'GET', 'invitations?limit=200')).body.items.find(
    (one: { id: string }) => one.id === id,
  )?.used
const administered = async (service: TestService, identifier: string) =>
  (await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0]

describe('making invitations', () => {
  const settings = {
    ...listening,
    roles: { 7: 'editor' },
    accounts: { invitation_url: byInvitation.accounts.invitation_url },
  }
  const service = useService({ settings })
  test('the code is shown once and kept as a hash; the link leads to the page', async () => {
    const wish = {
      role_id: 'editor',
      groups: ['staff', 'alpha', 'staff'],
      domain: 'Example.com',
      uses: 20,
      expires_in: 3600,
      note: 'a course',
    }
    const made = await asOperator(service, 'POST', 'invitations', wish)
    const { code, link, id, created_at, expires_at, ...rest } = made.body
    expect(code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
    expect(link).toBe(`https://app.example.com/join?from=mail&invitation=${code}`)
    expect(rest).toEqual({
      status: 201,
      role_id: 7,
      role: 'editor',
      groups: ['alpha', 'staff'],
      domain: 'example.com',
      uses: 20,
      used: 0,
      note: 'a course',
      revoked_at: null,
      created_by: { type: 'operator', id: 'root', name: 'root' },
    })
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(3_600_000)
    const dump = await dumpTables(service)
    expect(dump).toContain(id)
    expect(dump).not.toContain(code)
    expect(dump).not.toContain(code.replaceAll('-', ''))
  })

  test('addresses are invited by mail, one invitation each, and no code is shown or kept', async () => {
    const [ada, bob] = [newEmail(), newEmail()]
    const wish = { emails: [ada, 'nonsense', bob.toUpperCase(), ada], groups: ['staff'], note: 'a course' }
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const sent = await asOperator(service, 'POST', 'invitations', wish, { headers })
    expect(sent.status).toBe(201)
    expect(sent.body.items).toMatchObject([
      { email: ada, refused: null },
      { email: 'nonsense', id: null, expires_at: null, refused: 'invalid_value' },
      { email: bob.toUpperCase(), refused: null },
    ])
    expect(JSON.stringify(sent.body)).not.toMatch(/[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}-/)
    await service.delivered()
    const text = service.inbox.textsTo(ada).at(-1)!
    const code = /invitation=([0-9A-Z-]{19})/.exec(text)![1]!
    expect(text).toContain('Elle vous permet d’ouvrir un compte')
    const dump = await dumpTables(service)
    expect(dump).not.toContain(code)
    const [id] = sent.body.items.map((item: { id: string }) => item.id)
    expect((await asOperator(service, 'GET', 'invitations?limit=2')).body.items).toMatchObject([
      { note: `${bob.toUpperCase()} · a course`, uses: 1, groups: ['staff'] },
      { id, note: `${ada} · a course`, uses: 1, groups: ['staff'] },
    ])
    // A repeated call sends nothing again, and names those that were invited.
    const again = await asOperator(service, 'POST', 'invitations', wish, { headers })
    expect(again.body.items.map((item: { email: string }) => item.email)).toEqual([ada, bob.toUpperCase()])
    await service.delivered()
    expect(service.inbox.textsTo(ada)).toHaveLength(1)
    const person = { ...registration(ada), invitation: code }
    expect((await service.post('register', person)).status).toBe(201)
    const confirmation = {
      identifier: ada,
      otp: await service.newestCode(ada),
      password: PASSWORD,
      sign_in: true,
    }
    const { access_token: bearer } = (await service.post('verify-account', confirmation)).body
    expect((await service.post('me/remove', { password: PASSWORD }, { bearer })).status).toBe(200)
    await service.delivered()
    expect((await dumpTables(service)).includes(ada)).toBe(false)
  })

  test('what cannot be is refused with its field', async () => {
    const wrong: [object, string][] = [
      [{ groups: ['Not a group'] }, 'groups'],
      [{ domain: 'nonsense' }, 'domain'],
      [{ uses: 0 }, 'uses'],
      [{ expires_in: 1 }, 'expires_in'],
    ]
    for (const [wish, field] of wrong)
      expectInvalid(await asOperator(service, 'POST', 'invitations', wish), { [field]: 'invalid_value' })
    expectInvalid(await asOperator(service, 'POST', 'invitations', { role_id: 'editr' }), {
      role_id: 'unknown_role',
    })
  })

  test('a role or a group needs accounts:write as well; reading needs invitations:read', async () => {
    const use = async (scopes: string[], method: string, path: string, body?: unknown) => {
      const made = await asOperator(service, 'POST', 'tokens', { name: 't', scopes, expires_in: '1d' })
      return onListener(service, method, path, body, {
        headers: { authorization: `Bearer ${made.body.token}` },
      })
    }
    const [writes, both] = [['invitations:write'], ['invitations:write', 'accounts:write']]
    expect((await use(writes, 'POST', 'invitations', { uses: 2 })).status).toBe(201)
    for (const wish of [{ role_id: 7 }, { groups: ['staff'] }]) {
      expectRefusal(await use(writes, 'POST', 'invitations', wish), 'insufficient_scope')
      expect((await use(both, 'POST', 'invitations', wish)).status).toBe(201)
    }
    expectRefusal(await use(writes, 'GET', 'invitations'), 'insufficient_scope')
    expect((await use(['invitations:read'], 'GET', 'invitations')).status).toBe(200)
    expectRefusal(await use(['invitations:read'], 'POST', 'invitations', {}), 'insufficient_scope')
  })

  test('a viewer reads them, an owner makes and revokes them', async () => {
    const { page: viewer } = await signInAs(service, 'viewer')
    expect((await viewer.call('GET', 'invitations')).status).toBe(200)
    expectRefusal(await viewer.call('POST', 'invitations', {}), 'insufficient_scope')
    const { page: owner, uuid, person } = await signInAs(service, 'owner')
    const made = await owner.call('POST', 'invitations', { groups: ['staff'] })
    expect(made.status).toBe(201)
    const [listed] = (await owner.call('GET', 'invitations')).body.items
    expect(listed.created_by).toEqual({ type: 'administrator', id: uuid, name: person.identifier })
    expect((await owner.call('DELETE', `invitations/${made.body.id}`)).status).toBe(200)
    expectRefusal(await owner.call('DELETE', `invitations/${made.body.id}`), 'invitation_not_found')
    expectRefusal(await owner.call('DELETE', 'invitations/999'), 'invitation_not_found')
  })

  test('a call that is sent again makes nothing again, and shows no code', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const [first, again] = [
      await asOperator(service, 'POST', 'invitations', { uses: 3 }, { headers }),
      await asOperator(service, 'POST', 'invitations', { uses: 3 }, { headers }),
    ]
    expect(again.body).toEqual({ ...first.body, code: null, link: null })
  })
})

describe('registering with an invitation', () => {
  const service = useService({ settings: { ...byInvitation, admin: listening.admin } })
  const open = useReplica(service, { settings: { accounts: { registration: 'open' } } })

  test('it is checked at registration, spent when the account is opened, and gives role and groups', async () => {
    const { id, code } = await invite(service, { role_id: 9, groups: ['staff', 'alpha'], uses: 2 })
    const email = newEmail()
    expectRefusal(await service.post('register', registration(email)), 'registration_closed')
    expectRefusal(
      await service.post('register', { ...registration(email), invitation: 'AAAA-AAAA-AAAA-AAAA' }),
      'invalid_invitation',
    )
    const typed = code.toLowerCase().replaceAll('-', ' ')
    expect((await service.post('register', { ...registration(email), invitation: typed })).status).toBe(201)
    expect(await usesOf(service, id)).toBe(0)
    const otp = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
    expect(await usesOf(service, id)).toBe(1)
    expect(await administered(service, email)).toMatchObject({ role_id: 9, groups: ['alpha', 'staff'] })
  })

  test.each(['expired', 'revoked', 'used up'])(
    'one that is %s by the confirmation opens nothing, and the registration stays',
    async (end) => {
      const { id, code } = await invite(service, { expires_in: 86_400 })
      const [email, other] = [newEmail(), newEmail()]
      for (const one of [email, other])
        await service.post('register', { ...registration(one), invitation: code })
      const otp = await service.inbox.nextCode(email)
      if (end === 'revoked') await asOperator(service, 'DELETE', `invitations/${id}`)
      if (end === 'used up') {
        const body = { identifier: other, otp: await service.inbox.nextCode(other) }
        expect((await service.post('verify-account', body)).status).toBe(201)
      }
      let valid = otp
      if (end === 'expired') {
        service.clock.advance(DAY_MS + 1000)
        valid = await service.askCode('resend-verification', email)
      }
      expectRefusal(
        await service.post('verify-account', { identifier: email, otp: '000000' }),
        'invalid_code',
      )
      expectRefusal(
        await service.post('verify-account', { identifier: email, otp: valid }),
        'invalid_invitation',
      )
      const login = await service.post('login', { identifier: email, password: PASSWORD })
      expectRefusal(login, 'account_unconfirmed')
      expect(await usesOf(service, id)).toBe(end === 'used up' ? 1 : 0)
    },
  )

  test('whoever registers your address with an invitation of theirs gives you nothing of it, and keeps you from nothing', async () => {
    const [theirs, mine] = [
      await invite(service, { groups: ['attackers'], role_id: 66, uses: 100 }),
      await invite(service, { groups: ['mine'] }),
    ]
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', {
      ...registration(email, 'the attacker’s password'),
      phone,
      invitation: theirs.code,
    })
    await service.post('register', { ...registration(email), invitation: mine.code })
    await service.post('register', {
      ...registration(email, 'the attacker’s password'),
      phone,
      invitation: theirs.code,
    })
    const otp = await lastCode(service, email)
    expectRefusal(await service.post('verify-account', { identifier: email, otp: '000000' }), 'invalid_code')
    const body = { identifier: email, otp, password: PASSWORD, invitation: mine.code }
    expect((await service.post('verify-account', body)).status).toBe(201)
    expect(await administered(service, email)).toMatchObject({ groups: ['mine'], role_id: 1, phone: null })
    expect([await usesOf(service, theirs.id), await usesOf(service, mine.id)]).toEqual([0, 1])
  })

  test('a contested confirmation that names none is as if none had been sent', async () => {
    const { code, id } = await invite(service, { groups: ['staff'], uses: 9 })
    const email = newEmail()
    for (const password of [PASSWORD, 'the other password'])
      await service.post('register', { ...registration(email, password), invitation: code })
    const otp = await lastCode(service, email)
    expectRefusal(await service.post('verify-account', { identifier: email, otp }), 'registration_closed')
    const inOpen = newEmail()
    for (const password of [PASSWORD, 'the other password'])
      await open.post('register', { ...registration(inOpen, password), invitation: code })
    const body = { identifier: inOpen, otp: await lastCode(service, inOpen) }
    expect((await open.post('verify-account', body)).status).toBe(201)
    expect(await administered(service, inOpen)).toMatchObject({ groups: [] })
    expect(await usesOf(service, id)).toBe(0)
  })

  test('registering with it without end costs it nothing', async () => {
    const { code, id } = await invite(service)
    for (let i = 0; i < 20; i++)
      expect((await service.post('register', { ...registration(newEmail()), invitation: code })).status).toBe(
        201,
      )
    expect(await usesOf(service, id)).toBe(0)
    const email = newEmail()
    await service.post('register', { ...registration(email), invitation: code })
    const body = { identifier: email, otp: await lastCode(service, email) }
    expect((await service.post('verify-account', body)).status).toBe(201)
  })

  test('a reset opens the registration with its invitation, once', async () => {
    const { code, id } = await invite(service, { groups: ['staff'] })
    const email = newEmail()
    await service.post('register', { ...registration(email), invitation: code })
    await service.inbox.nextCode(email)
    await service.resetPassword(email, 'another fine password')
    expect(await administered(service, email)).toMatchObject({ groups: ['staff'] })
    expect(await usesOf(service, id)).toBe(1)
    await service.resetPassword(email, 'another fine password')
    expect(await administered(service, email)).toMatchObject({ groups: ['staff'] })
    expect(await usesOf(service, id)).toBe(1)
  })

  test('one for a domain asks for a verified address of it', async () => {
    const { code, id } = await invite(service, { domain: 'ours.example', uses: 9 })
    const ours = newEmail().replace('example.com', 'ours.example')
    for (const body of [registration(newEmail()), registration(newPhone())])
      expectRefusal(await service.post('register', { ...body, invitation: code }), 'invalid_invitation')
    const phone = newPhone()
    await service.post('register', { ...registration(ours), phone, invitation: code })
    const otp = await service.inbox.nextCode(ours)
    const bySms = await service.askCode('resend-verification', phone)
    expectRefusal(
      await service.post('verify-account', { identifier: phone, otp: bySms }),
      'invalid_invitation',
    )
    const named = { identifier: phone, otp: '000000', invitation: code }
    expectRefusal(await service.post('verify-account', named), 'invalid_invitation')
    expect((await service.post('verify-account', { identifier: ours, otp })).status).toBe(201)
    expect(await usesOf(service, id)).toBe(1)
  })

  test('an administrator opens what waits without spending its invitation', async () => {
    const { code, id } = await invite(service, { role_id: 9 })
    const email = newEmail()
    await service.post('register', { ...registration(email), invitation: code })
    await service.inbox.nextCode(email)
    const { uuid } = await administered(service, email)
    expect((await asOperator(service, 'PATCH', `accounts/${uuid}`, { confirmed: true })).status).toBe(200)
    expect(await administered(service, email)).toMatchObject({ role_id: 1, account_confirmed: true })
    expect(await usesOf(service, id)).toBe(0)
  })
})

/** Of several codes in flight only the newest is valid. */
async function lastCode(service: TestService, identifier: string): Promise<string> {
  await service.delivered()
  await service.post('resend-verification', { identifier })
  return service.newestCode(identifier)
}

describe('providers', () => {
  const { provider, service } = useSocial(byInvitation)

  test('an invitation opens an account, its last use once; existing people need none', async () => {
    const { code, id } = await invite(service, { groups: ['staff'], role_id: 9 })
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const id_token = await provider.idToken('n')
    const enter = (more: object = {}) => service.post('social/p1/token', { id_token, nonce: 'n', ...more })
    expectRefusal(await enter(), 'registration_closed')
    expectRefusal(await enter({ invitation: 'AAAA-AAAA-AAAA-AAAA' }), 'invalid_invitation')
    const entered = await enter({ invitation: code })
    expect(entered.body.account.role_id).toBe(9)
    expect(await usesOf(service, id)).toBe(1)
    const again = { id_token: await provider.idToken('m'), nonce: 'm' }
    expect((await service.post('social/p1/token', again)).status).toBe(200)
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const late = { id_token: await provider.idToken('o'), nonce: 'o', invitation: code }
    expectRefusal(await service.post('social/p1/token', late), 'invalid_invitation')
  })

  test('who takes a waiting registration over has its invitation, unless it is contested', async () => {
    const { code } = await invite(service, { groups: ['staff'], uses: 9 })
    const enter = async (email: string, nonce: string) => {
      provider.present(newPerson({ email, email_verified: true }))
      return service.post('social/p1/token', { id_token: await provider.idToken(nonce), nonce })
    }
    const [email, contested] = [newEmail(), newEmail()]
    await service.post('register', { ...registration(email), invitation: code, profile: { name: 'Ada' } })
    expect((await enter(email, 'a')).status).toBe(200)
    expect(await administered(service, email)).toMatchObject({ groups: ['staff'], profile: {} })
    for (const password of [PASSWORD, 'the other password'])
      await service.post('register', { ...registration(contested, password), invitation: code })
    expectRefusal(await enter(contested, 'b'), 'registration_closed')
  })
})

describe('accepting one', () => {
  const service = useLimited({ settings: { accounts: { registration: 'closed' } } })
  const somebody = async () => {
    const email = newEmail()
    const account = { email, password: PASSWORD, verified: true }
    expect((await asOperator(service, 'POST', 'accounts', account)).status).toBe(201)
    const { access_token: bearer } = await service.logIn({ identifier: email, password: PASSWORD })
    const accept = (invitation: string, client = newClient()) =>
      service.post('invitations/accept', { invitation }, { bearer, ...client })
    return { email, bearer, accept }
  }

  test('joins its groups and changes no role; once more costs nothing', async () => {
    const { code, id } = await invite(service, { groups: ['staff', 'alpha'], role_id: 66, uses: 5 })
    const { accept, bearer, email } = await somebody()
    const joined = await accept(code)
    expect(joined.body).toMatchObject({
      status: 200,
      groups: ['alpha', 'staff'],
      role: '1',
      account: { email, role_id: 1 },
    })
    expect((await accept(code)).body).toEqual(joined.body)
    expect(await usesOf(service, id)).toBe(1)
    const events = (await service.get('events', { bearer })).body.items
    expect(events.filter(({ type }: { type: string }) => type === 'invitation.accepted')).toMatchObject([
      { data: { invitation: id, groups: ['alpha', 'staff'] } },
    ])
  })

  test('more than 32 groups, another domain, and one that does not hold', async () => {
    const { accept, email } = await somebody()
    const { uuid } = await administered(service, email)
    const groups = Array.from({ length: 31 }, (_, i) => `g${i}`)
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { groups })
    const two = await invite(service, { groups: ['one', 'two'] })
    expectRefusal(await accept(two.code), 'group_limit')
    expect(await usesOf(service, two.id)).toBe(0)
    expect((await accept((await invite(service, { groups: ['one', 'g1'] })).code)).body.groups).toHaveLength(
      32,
    )
    const domain = await invite(service, { groups: ['g2'], domain: 'ours.example' })
    expectRefusal(await accept(domain.code), 'invalid_invitation')
    expect(
      (await accept((await invite(service, { groups: ['g3'], domain: 'example.com' })).code)).status,
    ).toBe(200)
    for (const wrong of ['AAAA-AAAA-AAAA-AAAA', 'nonsense', ''])
      expectRefusal(await accept(wrong), 'invalid_invitation')
  })

  test('after 20 wrong ones in a minute an address waits, and a right one is taken nevertheless', async () => {
    const { accept } = await somebody()
    const client = newClient()
    for (let i = 0; i < 20; i++)
      expectRefusal(await accept('AAAA-AAAA-AAAA-AAAA', client), 'invalid_invitation')
    expectRefusal(await accept('AAAA-AAAA-AAAA-AAAA', client), 'too_many_requests')
    const { code } = await invite(service, { groups: ['staff'] })
    expect((await accept(code, client)).status).toBe(200)
  })
})

describe.each(racingShapes)('the last use, raced by 32 callers over two processes, on %s', (shape) => {
  const settings = { accounts: { registration: 'invitation' } }
  const service = useService({ shape, settings })
  const replica = useReplica(service, { shape, settings })

  test('opens exactly one account, whatever way they come', async () => {
    const { code, id } = await invite(service, { groups: ['staff'] })
    const people = Array.from({ length: 16 }, newEmail)
    const otps = await Promise.all(
      people.map(async (email) => {
        expect((await service.post('register', { ...registration(email), invitation: code })).status).toBe(
          201,
        )
        return service.inbox.nextCode(email)
      }),
    )
    const answers = await race([service, replica], (on, i) =>
      on.post('verify-account', { identifier: people[i >> 1], otp: otps[i >> 1] }),
    )
    const outcomes = answers.map(outcomeOf)
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1)
    expect(['accepted', '403 invalid_invitation', '422 invalid_code']).toEqual(
      expect.arrayContaining([...new Set(outcomes)]),
    )
    expect(await usesOf(service, id)).toBe(1)
  })

  test('is accepted by exactly one', async () => {
    const { code, id } = await invite(service, { groups: ['staff'] })
    const bearers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const email = newEmail()
        await asOperator(service, 'POST', 'accounts', { email, password: PASSWORD, verified: true })
        return (await service.logIn({ identifier: email, password: PASSWORD })).access_token as string
      }),
    )
    const answers = await race([service, replica], (on, i) =>
      on.post('invitations/accept', { invitation: code }, { bearer: bearers[(i >> 1) % 8]! }),
    )
    const winners = new Set(answers.flatMap(({ status }, i) => (status === 200 ? [(i >> 1) % 8] : [])))
    expect(winners.size).toBe(1)
    expect(await usesOf(service, id)).toBe(1)
  })
})

describe('inviting many by mail', () => {
  const settings = {
    ...listening,
    accounts: { invitation_url: byInvitation.accounts.invitation_url },
    limits: { enabled: true },
  }
  const service = useLimited({ shape: 'redis', settings })
  const replica = useReplica(service, { shape: 'redis', settings })

  test('an administrator may send 200 a day, raced by 32 callers over two processes, and the operator more', async () => {
    const { page } = await signInAs(service, 'owner')
    const beside = Object.assign(createPage(replica), { cookie: page.cookie, csrf: page.csrf })
    const emailsOf = (count: number) => Array.from({ length: count }, newEmail)
    const invite = (count: number, on = page) => on.call('POST', 'invitations', { emails: emailsOf(count) })
    const answers = await race([page, beside], (on) => invite(10, on))
    const others = new Set(answers.map(outcomeOf)).difference(new Set(['accepted', '429 too_many_requests']))
    expect([...others]).toEqual([])
    const sent = answers.flatMap(({ body }) =>
      (body.items ?? []).filter(({ refused }: { refused: string | null }) => refused === null),
    )
    expect(sent).toHaveLength(200)
    expectRefusal(await invite(1), 'too_many_requests')
    const { status } = await asOperator(service, 'POST', 'invitations', { emails: emailsOf(1) })
    expect(status).toBe(201)
    expectInvalid(await page.call('POST', 'invitations', { emails: emailsOf(101) }), {
      emails: 'too_long',
    })
  })
})

describe('without a page that takes invitations', () => {
  const service = useService()

  test('none goes by mail', async () => {
    const answer = await asOperator(service, 'POST', 'invitations', { emails: [newEmail()] })
    expectInvalid(answer, { emails: 'invalid_value' })
  })
})
