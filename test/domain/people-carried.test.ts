/** Profile, username, groups and role: who writes them, what is refused, and that a username goes to nobody else. */
import { describe, expect, test } from 'bun:test'
import { listening, onListener, operatorOf } from '../helpers/administration.ts'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { startService } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

describe('what an account carries', () => {
  const service = useService({ settings: { ...listening, roles: { 1: 'user', 7: 'editor' } } })
  const call = operatorOf(service)
  const person = async () => {
    const { person: known, bearer, account } = await service.signedIn()
    return { ...known, bearer: bearer as string, uuid: account.uuid as string }
  }
  const patchMe = (bearer: string, body: object) => service.call('PATCH', '/api/v1/auth/me', body, { bearer })
  const set = (uuid: string, body: object) => call('PATCH', `accounts/${uuid}`, body)
  const newName = () => `u${crypto.randomUUID().slice(0, 12)}`

  describe('profile', () => {
    test('is written by its owner field by field, and shown to both', async () => {
      const { bearer, uuid } = await person()
      const { body } = await patchMe(bearer, { profile: { name: 'Ada Lovelace', zoneinfo: 'Europe/London' } })
      expect(Object.keys(body)).toEqual([
        'status',
        'account',
        'email_verified',
        'phone_verified',
        'profile',
        'username',
        'groups',
        'role',
      ])
      expect(Object.keys(body.account)).toHaveLength(24)
      const changed = await patchMe(bearer, { profile: { name: null, given_name: 'Ada' }, language: 'en' })
      expect(changed.body.profile).toEqual({ given_name: 'Ada', zoneinfo: 'Europe/London' })
      expect((await service.get('me', { bearer })).body.profile).toEqual(changed.body.profile)
      const { account } = (await call('GET', `accounts/${uuid}`)).body
      expect([account.profile, account.language]).toEqual([changed.body.profile, 'en'])
      const exported = (await call('GET', `accounts/${uuid}/export`)).body
      expect(exported).toMatchObject({
        profile: changed.body.profile,
        username: null,
        groups: [],
        role: 'user',
      })
      const types = (await call('GET', `accounts/${uuid}/events`)).body.items
      const updated = types.find(({ type }: { type: string }) => type === 'account.updated')
      expect(updated.data).toEqual({ fields: ['language', 'profile'] })
    })

    const opened = async (body: object, identifier: string) => {
      const otp = await service.inbox.nextCode(identifier)
      const confirmed = await service.post('verify-account', { identifier, otp, ...body })
      expect(confirmed.status).toBe(201)
      return (await call('GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0].profile
    }
    const ada = { name: 'Ada Lovelace', zoneinfo: 'Europe/London' }
    const register = (body: object) => service.post('register', body)

    test('comes with a registration, and what the confirmation names wins', async () => {
      const [first, second] = [newEmail(), newEmail()]
      await register({ ...registration(first), profile: { ...ada, given_name: null } })
      expect(await opened({}, first)).toEqual(ada)
      await register({ ...registration(second), profile: ada })
      expect(await opened({ profile: { name: 'A.' } }, second)).toEqual({ name: 'A.' })
      const wrong = { picture: 'https://x.example/a.png' }
      const third = newEmail()
      expectInvalid(await register({ ...registration(third), profile: wrong }), {
        'profile.picture': 'not_allowed',
      })
      await register(registration(third))
      const otp = await service.inbox.nextCode(third)
      const body = { identifier: third, otp, profile: { name: 'a\u0000b' } }
      expectInvalid(await service.post('verify-account', body), { 'profile.name': 'invalid_characters' })
      expect((await service.post('verify-account', { identifier: third, otp })).status).toBe(201)
    })

    test('of a stranger who registered the same contact is worth nothing, and sent again is another one', async () => {
      const [contested, own, again] = [newEmail(), newEmail(), newEmail()]
      await register({ ...registration(contested, 'a phrase of a stranger'), profile: { name: 'Mallory' } })
      await service.inbox.nextCode(contested)
      await register({ ...registration(contested), profile: ada })
      expect(await opened({}, contested)).toEqual({})
      await register({ ...registration(own, 'a phrase of a stranger'), profile: { name: 'Mallory' } })
      expect(await opened({ password: PASSWORD, profile: ada }, own)).toEqual(ada)
      await register({ ...registration(again), profile: ada })
      await service.inbox.nextCode(again)
      await register(registration(again))
      expect(await opened({}, again)).toEqual({})
    })

    test('of a registration is not kept by a reset that opens it', async () => {
      const email = newEmail()
      await register({ ...registration(email, 'a phrase of a stranger'), profile: { name: 'Mallory' } })
      await service.inbox.nextCode(email)
      await service.resetPassword(email, PASSWORD)
      const { access_token: bearer } = await service.logIn({ identifier: email, password: PASSWORD })
      expect((await service.get('me', { bearer })).body.profile).toEqual({})
      await patchMe(bearer, { profile: ada })
      await service.resetPassword(email, PASSWORD)
      const { access_token } = await service.logIn({ identifier: email, password: PASSWORD })
      expect((await service.get('me', { bearer: access_token })).body.profile).toEqual(ada)
    })

    test('refuses a picture of the owner, control characters, overrides, and what is too long', async () => {
      const { bearer, uuid } = await person()
      const refused = async (profile: object, errors: Parameters<typeof expectInvalid>[1]) =>
        expectInvalid(await patchMe(bearer, { profile }), errors)
      await refused({ picture: 'https://x.example/a.png' }, { 'profile.picture': 'not_allowed' })
      await refused({ name: 'Ada\u202eevil' }, { 'profile.name': 'invalid_characters' })
      await refused({ name: 'Ada\nBcc: x' }, { 'profile.name': 'invalid_characters' })
      await refused({ name: 'x'.repeat(201) }, { 'profile.name': 'too_long' })
      await patchMe(bearer, { profile: { name: '€'.repeat(200), given_name: '€'.repeat(200) } })
      await refused({ family_name: '€'.repeat(200), zoneinfo: '€'.repeat(100) }, { profile: 'too_long' })
      expect(Object.keys((await service.get('me', { bearer })).body.profile)).toEqual(['name', 'given_name'])
      const picture = await set(uuid, { profile: { picture: 'https://x.example/a.png' } })
      expect(picture.body.account.profile.picture).toBe('https://x.example/a.png')
    })

    test('is merged whole by 32 callers at once', async () => {
      const { bearer } = await person()
      const fields = ['name', 'given_name', 'family_name', 'zoneinfo']
      await race(
        Array.from({ length: 32 }, (_, index) => index),
        (index) => patchMe(bearer, { profile: { [fields[index % 4]!]: `v${index}` } }),
      )
      expect(Object.keys((await service.get('me', { bearer })).body.profile).sort()).toEqual(
        [...fields].sort(),
      )
    })

    test('reaches no message', async () => {
      const { bearer, identifier } = await person()
      await patchMe(bearer, { profile: { name: 'Zebulon Quark' } })
      await service.post('password/forgot', { identifier })
      await service.delivered()
      expect(service.inbox.textsTo(identifier).join('\n')).not.toContain('Zebulon')
    })
  })

  describe('groups', () => {
    test('are replaced, joined and left by administrators, and never by owners', async () => {
      const { uuid, bearer } = await person()
      expect((await set(uuid, { groups: ['staff', 'beta', 'staff'] })).body.account.groups).toEqual([
        'beta',
        'staff',
      ])
      const changed = await set(uuid, { groups: { add: ['guests'], remove: ['beta', 'nowhere'] } })
      expect(changed.body.account.groups).toEqual(['guests', 'staff'])
      const own = await patchMe(bearer, {
        ...{ language: 'en', groups: ['root'], username: 'x-name' },
        ...{ role: 'editor', role_id: 7 },
      })
      expect(own.body).toMatchObject({ groups: ['guests', 'staff'], username: null, role: 'user' })
      for (const groups of [['Staff'], ['-a'], ['']])
        expectInvalid(await set(uuid, { groups }), { groups: 'invalid_value' })
      const many = Array.from({ length: 31 }, (_, index) => `g${index}`)
      expectInvalid(await set(uuid, { groups: { add: many } }), { groups: 'too_long' })
      expect((await set(uuid, { groups: [] })).body.account.groups).toEqual([])
    })

    test('lose nothing when 32 administrators add one each', async () => {
      const { uuid } = await person()
      const names = Array.from({ length: 32 }, (_, index) => `g${index}`)
      await race(names, (name) => set(uuid, { groups: { add: [name] } }))
      expect((await call('GET', `accounts/${uuid}`)).body.account.groups).toEqual([...names].sort())
    })
  })

  describe('roles', () => {
    test('are taken by name wherever their number is, and the nearest is named', async () => {
      const { uuid, bearer } = await person()
      const { account } = (await set(uuid, { role_id: 'editor' })).body
      expect([account.role_id, account.role]).toEqual([7, 'editor'])
      expect((await service.get('me', { bearer })).body.role).toBe('editor')
      const found = await call('GET', 'accounts?role_id=editor')
      expect(found.body.items.map((each: { uuid: string }) => each.uuid)).toEqual([uuid])
      const refused = await set(uuid, { role_id: 'editr' })
      expectInvalid(refused, { role_id: 'unknown_role' })
      expect(refused.body.errors[0].message).toContain('editor')
      expectInvalid(await call('GET', 'accounts?role_id=usr'), { role_id: 'unknown_role' })
      const made = await call('POST', 'accounts', { email: newEmail(), role_id: 'editor' })
      expect(made.body.account.role_id).toBe(7)
      expect((await set(uuid, { role_id: 9 })).body.account.role).toBe('9')
    })
  })

  test('an account is made with username, groups and profile, or not at all', async () => {
    const [email, username] = [newEmail(), newName()]
    const carried = { username: username.toUpperCase(), groups: ['staff', 'beta'], profile: { name: 'Ada' } }
    const made = await call('POST', 'accounts', { email, ...carried })
    const kept = { username, groups: ['beta', 'staff'], profile: { name: 'Ada' } }
    expect(made.body.account).toMatchObject(kept)
    expect((await call('GET', `accounts/${made.body.account.uuid}`)).body.account).toMatchObject(kept)
    const other = newEmail()
    expectRefusal(await call('POST', 'accounts', { email: other, username }), 'username_taken')
    const refused = async (body: object, errors: Parameters<typeof expectInvalid>[1]) =>
      expectInvalid(await call('POST', 'accounts', { email: other, ...body }), errors)
    await refused({ username: '-x' }, { username: 'invalid_value' })
    await refused({ groups: ['Staff'] }, { groups: 'invalid_value' })
    await refused({ profile: { name: 'a\u202eb' } }, { 'profile.name': 'invalid_characters' })
    expect((await call('GET', `accounts?query=${other}`)).body.items).toEqual([])
  })

  test('of 32 administrators who make an account with one username, one does', async () => {
    const username = newName()
    const answers = await race(Array.from({ length: 32 }, newEmail), (email) =>
      call('POST', 'accounts', { email, username }),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectRefusal(answer, 'username_taken')
  })

  test('access tokens of before this second are refused, and those of after it work', async () => {
    const { bearer, refresh_token, account } = await service.signedIn()
    const other = await person()
    await Bun.sleep(1100)
    expect((await set(account.uuid, { end_tokens: true })).status).toBe(200)
    expectRefusal(await service.get('me', { bearer }), 'invalid_token')
    expect((await service.get('me', { bearer: other.bearer })).status).toBe(200)
    const refreshed = await service.post('refresh', { refresh_token })
    expect((await service.get('me', { bearer: refreshed.body.access_token })).status).toBe(200)
    const { items } = (await call('GET', `accounts/${account.uuid}/events?type=account.updated`)).body
    const [{ data, created_at }] = items
    expect(data).toEqual({ fields: ['access_tokens'], tokens_before: expect.stringMatching(/:\d\d\.000Z$/) })
    expect(Date.parse(created_at) - Date.parse(data.tokens_before)).toBeWithin(-1000, 5000)
  })

  describe('usernames', () => {
    test('are compared without regard to case, and taken by one of 32 accounts', async () => {
      const name = newName()
      const people = await Promise.all(Array.from({ length: 4 }, person))
      const callers = Array.from({ length: 32 }, (_, index) => people[index % 4]!.uuid)
      const answers = await race(callers, (uuid, index) =>
        set(uuid, { username: index % 2 ? name.toUpperCase() : name }),
      )
      const winners = new Set(
        answers.flatMap(({ status }, index) => (status === 200 ? [callers[index]] : [])),
      )
      expect(winners.size).toBe(1)
      for (const answer of answers.filter(({ status }) => status !== 200))
        expectRefusal(answer, 'username_taken')
      const [winner] = winners
      expect((await call('GET', `accounts/${winner}`)).body.account.username).toBe(name)
    })

    test('go to nobody else after a change, and back to their owner', async () => {
      const [mine, other] = [await person(), await person()]
      const [first, second] = [newName(), newName()]
      await set(mine.uuid, { username: first })
      await set(mine.uuid, { username: second })
      expectRefusal(await set(other.uuid, { username: first }), 'username_taken')
      expect((await set(mine.uuid, { username: null })).body.account.username).toBeNull()
      expectRefusal(await set(other.uuid, { username: second }), 'username_taken')
      expect((await set(mine.uuid, { username: first })).body.account.username).toBe(first)
    })

    test('go to nobody after an erasure, whose uuid is forgotten', async () => {
      const [mine, other] = [await person(), await person()]
      const name = newName()
      await set(mine.uuid, { username: name })
      await call('DELETE', `accounts/${mine.uuid}`)
      expectRefusal(await set(other.uuid, { username: name }), 'username_taken')
    })

    test('of a wrong form are refused, and reserved ones come from the command line alone', async () => {
      const { uuid } = await person()
      for (const username of ['a', '-ab', 'a b', 'ä-bc', '', 'x'.repeat(33)])
        expectInvalid(await set(uuid, { username }), { username: 'invalid_value' })
      const { token } = (
        await call('POST', 'tokens', {
          name: 'script',
          scopes: ['accounts:write', 'accounts:erase'],
          expires_in: '1d',
        })
      ).body
      const byToken = await onListener(
        service,
        'PATCH',
        `accounts/${uuid}`,
        { username: 'Grafana' },
        {
          headers: { authorization: `Bearer ${token}` },
        },
      )
      expectInvalid(byToken, { username: 'reserved' })
      const body = { email: newEmail(), username: 'gitea' }
      const authorization = { headers: { authorization: `Bearer ${token}` } }
      expectInvalid(await onListener(service, 'POST', 'accounts', body, authorization), {
        username: 'reserved',
      })
      expect((await set(uuid, { username: 'grafana' })).body.account.username).toBe('grafana')
    })

    test('stay kept when the server secret is changed and when it is revoked', async () => {
      await using first = await startService({
        shape: 'postgres',
        settings: { server: { secret: 'ab'.repeat(32) } },
      })
      const name = newName()
      // Both sign up while no other service is on this database, which might send their codes to its own mail server.
      const [holder, other] = [await first.signedIn(), await first.signedIn()]
      await operatorOf(first)('PATCH', `accounts/${holder.uuid}`, { username: name })
      const server = { secret: 'cd'.repeat(32), previous_secrets: ['ab'.repeat(32)] }
      const second = await startService({
        storage: { ...first.storage, server },
        settings: { server },
      })
      const refused = async (at: typeof first) =>
        expectRefusal(
          await operatorOf(at)('PATCH', `accounts/${other.uuid}`, { username: name }),
          'username_taken',
        )
      await refused(second)
      await second.inside.services.secrets.revoke()
      await second.inside.services.secrets.load()
      await refused(second)
      await second.close()
      const only = { secret: 'cd'.repeat(32) }
      await using third = await startService({
        storage: { ...first.storage, server: only },
        settings: { server: only },
      })
      await refused(third)
    })
  })
})
