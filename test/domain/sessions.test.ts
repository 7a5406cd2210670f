/** The life of a session after login, through HTTP, on every storage shape. */
import { describe, expect } from 'bun:test'
import { decodeJwt } from 'jose'
import { fr } from '../../src/texts/fr.ts'
import { newEmail, type Person } from '../helpers/api-client.ts'
import { lockAccount, spyOnStatements } from '../helpers/database.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { shapes, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const DAY_MS = 86_400_000

describe.each(shapes)('a session on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape })
  const replica = useReplica(service, { shape })

  const refresh = (refresh_token: unknown, at = service) => at.post('refresh', { refresh_token })
  const me = (bearer: string, at = service) => at.get('me', { bearer })
  const failure = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code]
  const refused = [401, 'invalid_token']

  describe('refreshed', () => {
    rule('gives new tokens of the same session, with the time and the way of its login', async () => {
      const { bearer, refresh_token } = await service.signedIn()
      const answer = await refresh(refresh_token)
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.body)).toEqual(['status', 'access_token', 'refresh_token'])
      expect(answer.body.refresh_token).toMatch(/^[0-9a-f]{64}$/)
      expect(answer.body.refresh_token).not.toBe(refresh_token)
      const [before, after] = [decodeJwt(bearer), decodeJwt(answer.body.access_token)]
      expect(after.jti).not.toBe(before.jti)
      for (const claim of ['sub', 'sid', 'auth_time', 'amr', 'role_id', 'iss', 'aud']) {
        expect([claim, after[claim]]).toEqual([claim, before[claim]])
      }
      expect((await me(answer.body.access_token)).status).toBe(200)
    })

    test('asks the database once', async () => {
      const { refresh_token } = await service.signedIn()
      const database = spyOnStatements(service)
      expect((await refresh(refresh_token)).status).toBe(200)
      expect(database.ownStatements()).toHaveLength(1)
      database.restore()
    })

    test('by the same token again within 30 seconds gives the same successor, on any replica', async () => {
      // The last of the 30 seconds is the machine's: if it took longer, the token was too old, and it is done again.
      const refreshTwice = async () => {
        const { refresh_token } = await service.signedIn()
        const startedAt = performance.now()
        const first = await refresh(refresh_token)
        service.clock.advance(29_000)
        const again = await refresh(refresh_token, replica)
        return { first, again, isInTime: performance.now() - startedAt < 1000 }
      }
      let refreshed = await refreshTwice()
      for (let round = 1; round < 5 && !refreshed.isInTime; round++) refreshed = await refreshTwice()
      const { first, again } = refreshed
      expect(again.status).toBe(200)
      expect(again.body.refresh_token).toBe(first.body.refresh_token)
      expect((await refresh(again.body.refresh_token)).status).toBe(200)
    })

    raced('by 100 callers with one token answers all of them with one successor that lives', async () => {
      const { refresh_token } = await service.signedIn()
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => refresh(refresh_token, index % 2 ? replica : service)),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
      const successors = new Set(answers.map(({ body }) => body.refresh_token))
      expect(successors.size).toBe(1)
      expect((await refresh([...successors][0])).status).toBe(200)
    })

    test('by an older token after 30 seconds ends it, and tells the owner once', async () => {
      const { person, refresh_token } = await service.signedIn(newEmail(), { device_name: 'Pixel <b>8</b>' })
      const { body } = await refresh(refresh_token)
      service.clock.advance(30_001)
      expectRefusal(await refresh(refresh_token), 'invalid_token')
      expectRefusal(await me(body.access_token), 'invalid_token')
      expectRefusal(await refresh(body.refresh_token), 'invalid_token')
      expectRefusal(await refresh(refresh_token), 'invalid_token')
      const notices = await noticesTo(person)
      expect(notices).toHaveLength(1)
      expect(notices[0]).toContain('Pixel')
    })

    test('by an older token ends it at once when the successor was used', async () => {
      const { person, refresh_token } = await service.signedIn()
      const second = await refresh(refresh_token)
      const third = await refresh(second.body.refresh_token)
      expect(third.status).toBe(200)
      expectRefusal(await refresh(refresh_token, replica), 'invalid_token')
      expectRefusal(await refresh(third.body.refresh_token), 'invalid_token')
      expectRefusal(await me(third.body.access_token, replica), 'invalid_token')
      expect(await noticesTo(person)).toHaveLength(1)
    })

    raced('by 32 callers with two generations ends it, and leaves no token that lives', async () => {
      const { refresh_token } = await service.signedIn()
      const second = await refresh(refresh_token)
      const third = await refresh(second.body.refresh_token)
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, index) =>
          refresh(index % 2 ? refresh_token : third.body.refresh_token),
        ),
      )
      expect(answers.every(({ status }) => status === 200 || status === 401)).toBe(true)
      const tokens = new Set(answers.flatMap(({ body }) => body.refresh_token ?? []))
      for (const token of [...tokens, third.body.refresh_token]) {
        expectRefusal(await refresh(token), 'invalid_token')
      }
    })

    rule('does not touch the other sessions of the account when it ends by reuse', async () => {
      const { person, refresh_token } = await service.signedIn()
      const other = await service.logIn(person)
      const second = await refresh(refresh_token)
      await refresh(second.body.refresh_token)
      expectRefusal(await refresh(refresh_token), 'invalid_token')
      expect((await me(other.access_token)).status).toBe(200)
      expect((await refresh(other.refresh_token)).status).toBe(200)
    })

    test('ends when it was not refreshed for 30 days', async () => {
      const { refresh_token } = await service.signedIn()
      service.clock.advance(29 * DAY_MS)
      const second = await refresh(refresh_token)
      expect(second.status).toBe(200)
      service.clock.advance(29 * DAY_MS)
      const third = await refresh(second.body.refresh_token)
      expect(third.status).toBe(200)
      service.clock.advance(30 * DAY_MS + 1000)
      expectRefusal(await refresh(third.body.refresh_token), 'token_expired')
    })

    test('ends 90 days after the login, however often it was refreshed', async () => {
      let { refresh_token } = await service.signedIn()
      for (let day = 20; day <= 80; day += 20) {
        service.clock.advance(20 * DAY_MS)
        refresh_token = (await refresh(refresh_token)).body.refresh_token
      }
      service.clock.advance(9 * DAY_MS)
      const last = await refresh(refresh_token)
      expect(last.status).toBe(200)
      service.clock.advance(1 * DAY_MS + 1000)
      expectRefusal(await refresh(last.body.refresh_token), 'token_expired')
      expectRefusal(await me(last.body.access_token), 'token_expired')
    })

    rule('by what is no token of ours is refused, and its body is checked as everywhere', async () => {
      const { bearer, refresh_token } = await service.signedIn()
      const flipped = (at: number) =>
        refresh_token.slice(0, at) + (refresh_token[at] === '0' ? '1' : '0') + refresh_token.slice(at + 1)
      const foreign = [
        '',
        'x',
        'f'.repeat(64),
        flipped(0),
        flipped(39),
        flipped(63),
        refresh_token.toUpperCase(),
        `${refresh_token}0`,
        refresh_token.slice(1),
        ` ${refresh_token}`,
        bearer,
        'é'.repeat(32),
      ]
      for (const token of foreign)
        expect([token, ...failure(await refresh(token))]).toEqual([token, ...refused])
      for (const token of [null, 1, {}, [refresh_token], undefined]) {
        expectRefusal(await refresh(token), 'validation_failed')
      }
      expect((await refresh(refresh_token)).status).toBe(200)
    })

    test('is refused while an administrator has locked the account, and serves again after', async () => {
      const { person, bearer, refresh_token } = await service.signedIn()
      await lockAccount(service, person.identifier, service.clock.now())
      expectRefusal(await me(bearer), 'invalid_token')
      expectRefusal(await refresh(refresh_token), 'invalid_token')
      await lockAccount(service, person.identifier, null)
      expect((await refresh(refresh_token)).status).toBe(200)
    })
  })

  describe('logged out', () => {
    test.each(['refresh token', 'access token', 'both'])('by its %s is dead on every replica', async (by) => {
      const { bearer, refresh_token } = await service.signedIn()
      const answer = await service.post(
        'logout',
        by === 'access token' ? {} : { refresh_token },
        by === 'refresh token' ? {} : { bearer },
      )
      expect([answer.status, answer.body]).toEqual([200, { status: 200, message: fr.sentences.logged_out }])
      expectRefusal(await me(bearer, replica), 'invalid_token')
      expectRefusal(await refresh(refresh_token, replica), 'invalid_token')
    })

    rule('with two tokens of two sessions ends both', async () => {
      const { person, bearer } = await service.signedIn()
      const other = await service.logIn(person)
      await service.post('logout', { refresh_token: other.refresh_token }, { bearer })
      expectRefusal(await me(bearer), 'invalid_token')
      expectRefusal(await me(other.access_token), 'invalid_token')
    })

    rule('by an older refresh token, or an access token that has just expired, is dead too', async () => {
      const one = await service.signedIn()
      const { body } = await refresh(one.refresh_token)
      expect((await service.post('logout', { refresh_token: one.refresh_token })).status).toBe(200)
      expectRefusal(await refresh(body.refresh_token), 'invalid_token')
      const other = await service.signedIn()
      service.clock.advance(16 * 60_000)
      expect((await service.post('logout', undefined, { bearer: other.bearer })).status).toBe(200)
      expectRefusal(await refresh(other.refresh_token), 'invalid_token')
    })

    rule('answers tokens that have no session alike, and asks for one where there is none', async () => {
      const { refresh_token } = await service.signedIn()
      await service.post('logout', { refresh_token })
      const answers = [
        await service.post('logout', { refresh_token }),
        await service.post('logout', { refresh_token: 'f'.repeat(64) }),
        await service.post('logout', { refresh_token: 'nothing' }),
        await service.post('logout', {}, { bearer: 'a.b.c' }),
        await service.post('logout', {}, { headers: { authorization: 'Basic x' } }),
      ]
      for (const { status } of answers) expect(status).toBe(200)
      const none = await service.post('logout', {})
      expectRefusal(none, 'validation_failed')
      expect(none.body.errors).toMatchObject([{ field: 'refresh_token', code: 'required' }])
    })

    test('everywhere ends every session of the account and of nobody else', async () => {
      const { person, bearer, refresh_token } = await service.signedIn()
      const other = await service.logIn(person)
      const stranger = await service.signedIn()
      const answer = await service.post('logout-all', undefined, { bearer })
      expect(answer.body).toEqual({ status: 200, message: fr.sentences.logged_out_everywhere })
      for (const token of [bearer, other.access_token]) {
        expectRefusal(await me(token, replica), 'invalid_token')
      }
      for (const token of [refresh_token, other.refresh_token]) {
        expectRefusal(await refresh(token), 'invalid_token')
      }
      expect((await me(stranger.bearer)).status).toBe(200)
    })
  })

  describe('listed', () => {
    const fields = [
      'id',
      'device_type',
      'device_name',
      'device_os',
      'ip',
      'created_at',
      'last_used_at',
      'expires_at',
      'current',
    ]
    const list = async (bearer: string) => (await service.get('sessions', { bearer })).body.sessions

    test('shows the living ones of the account, last used first, and which one asks', async () => {
      const phone = { device_type: 'Mobile', device_name: 'Pixel 8', device_os: 'Android 15' }
      const { person, bearer, refresh_token } = await service.signedIn(newEmail(), phone)
      service.clock.advance(1000)
      const browser = await service.logIn(person, { device_type: 'Navigateur' })
      service.clock.advance(1000)
      const ended = await service.logIn(person)
      await service.post('logout', { refresh_token: ended.refresh_token })
      await service.signedIn()
      const sessions = await list(bearer)
      expect(sessions.map((session: object) => Object.keys(session))).toEqual([fields, fields])
      expect(sessions[0]).toMatchObject({ device_type: 'Navigateur', device_name: null, current: false })
      expect(sessions[1]).toMatchObject({ ...phone, ip: '127.0.0.1', current: true })
      expect(sessions[1].id).toBe(decodeJwt(bearer).sid)
      expect(Date.parse(sessions[1].expires_at) - Date.parse(sessions[1].created_at)).toBe(30 * DAY_MS)
      service.clock.advance(1000)
      await refresh(refresh_token)
      const after = await list(browser.access_token)
      expect(after[0]).toMatchObject({ device_name: 'Pixel 8', current: false })
      expect(Date.parse(after[0].last_used_at)).toBeGreaterThan(Date.parse(after[0].created_at))
      expect(Date.parse(after[0].expires_at) - Date.parse(after[0].last_used_at)).toBe(30 * DAY_MS)
    })

    test('can be ended one by one: by their account only', async () => {
      const { person, bearer: access_token } = await service.signedIn()
      const other = await service.logIn(person)
      const stranger = await service.signedIn()
      const otherId = decodeJwt(other.access_token).sid
      const end = (id: unknown, bearer: string) =>
        service.call('DELETE', `/api/v1/auth/sessions/${id}`, undefined, { bearer })
      expectRefusal(await end(otherId, stranger.bearer), 'session_not_found')
      for (const id of [crypto.randomUUID(), '1', 'x'.repeat(300), '%27%20or%201=1', 'null']) {
        expectRefusal(await end(id, access_token), 'session_not_found')
      }
      expect((await me(other.access_token)).status).toBe(200)
      const answer = await end(otherId, access_token)
      expect(answer.body).toEqual({ status: 200, message: fr.sentences.session_ended })
      expectRefusal(await me(other.access_token, replica), 'invalid_token')
      expectRefusal(await refresh(other.refresh_token), 'invalid_token')
      expectRefusal(await end(otherId, access_token), 'session_not_found')
      const own = decodeJwt(access_token).sid
      expect((await end(own, access_token)).status).toBe(200)
      expectRefusal(await me(access_token), 'invalid_token')
    })

    raced('ended by 32 callers at once is ended once', async () => {
      const { person, bearer } = await service.signedIn()
      const other = await service.logIn(person)
      const answers = await Promise.all(
        Array.from({ length: 32 }, () =>
          service.call('DELETE', `/api/v1/auth/sessions/${decodeJwt(other.access_token).sid}`, undefined, {
            bearer: bearer,
          }),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 404)).toHaveLength(31)
    })
  })

  async function noticesTo({ identifier }: Person): Promise<string[]> {
    const find = () => service.inbox.textsTo(identifier).filter((text) => text.includes('deux endroits'))
    await waitFor(() => find().length > 0 || undefined, { what: 'the notice', timeoutMs: 10_000 })
    await Bun.sleep(50)
    return find()
  }
})
