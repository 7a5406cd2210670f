/** The ways in through other providers, of somebody signed in: listed, added, removed; never the last one. */
import { describe, expect } from 'bun:test'
import { newEmail, PASSWORD, type Person } from '../helpers/api-client.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, testsOn } from '../helpers/service.ts'
import { createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

describe.each(racingShapes)('identities on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const [provider, other] = [use(startPretendProvider), use(startPretendProvider)]
  const service = use(
    () => startService({ shape, settings: socialSettings(provider.issuer, other.issuer) }),
    provider,
  )
  const browser = createSocialBrowser(service)

  const link = (bearer: string, body: object, name = 'p1') =>
    service.post(`identities/${name}`, body, { bearer })
  const unlink = (bearer: string, body?: object, name = 'p1') =>
    service.call('DELETE', `/api/v1/auth/identities/${name}`, body, { bearer })

  async function signedUp(): Promise<Person & { bearer: string; id: number }> {
    const { person, bearer: access_token, account } = await service.signedIn()
    return { ...person, bearer: access_token, id: account.id }
  }

  test('by a code of the browser flow: linked, told, and then a way in', async () => {
    const person = await signedUp()
    const identity = newPerson({ email: 'elsewhere@example.com', email_verified: true })
    provider.present(identity)
    const code = await browser.obtainCode()
    const linked = await link(person.bearer, { ...code, password: PASSWORD })
    expect(linked.status).toBe(201)
    expect(linked.body).toEqual({
      status: 201,
      identities: [
        {
          provider: 'p1',
          provider_uid: identity.sub,
          email: 'elsewhere@example.com',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
        },
      ],
    })
    const { body } = await browser.signIn()
    expect(body.account).toMatchObject({ id: person.id, email: person.identifier, provider: 'local' })
    await waitFor(() => service.inbox.textsTo(person.identifier).some((text) => text.includes('P1')))
    expect((await link(person.bearer, { ...code, password: PASSWORD })).body.code).toBe('invalid_code')
  })

  rule('by an identity token of a native app', async () => {
    const person = await signedUp()
    provider.present(newPerson())
    const id_token = await provider.idToken('n')
    const linked = await link(person.bearer, { id_token, nonce: 'n', password: PASSWORD })
    expect(linked.body.identities).toHaveLength(1)
    expect((await browser.signIn()).body.account.id).toBe(person.id)
    const again = await provider.idToken('m')
    const twice = await link(person.bearer, { id_token: again, nonce: 'm', password: PASSWORD })
    expect([twice.status, twice.body.identities.length]).toEqual([201, 1])
  })

  rule('a stolen access token alone links and unlinks nothing', async () => {
    const person = await signedUp()
    provider.present(newPerson())
    const code = await browser.obtainCode()
    const without = await link(person.bearer, code)
    expect([without.status, without.body.errors[0]]).toMatchObject([
      422,
      { field: 'password', code: 'required' },
    ])
    const wrong = await link(person.bearer, { ...code, password: 'not the password' })
    expect([wrong.status, wrong.body.errors[0]]).toMatchObject([
      422,
      { field: 'password', code: 'wrong_password' },
    ])
    expect((await link(person.bearer, { ...code, password: PASSWORD })).status).toBe(201)
    expect((await unlink(person.bearer)).body.code).toBe('validation_failed')
    const refused = await unlink(person.bearer, { password: 'not the password' })
    expect(refused.body.errors).toMatchObject([{ field: 'password', code: 'wrong_password' }])
    expect((await unlink(person.bearer, { password: PASSWORD })).body).toEqual({
      status: 200,
      identities: [],
    })
  })

  rule('an account without password must have signed in a moment ago', async () => {
    provider.present(newPerson())
    const { access_token, refresh_token } = (await browser.signIn()).body
    other.present(newPerson())
    service.clock.advance(5 * 60_000 + 1000)
    const late = await link(access_token, { ...(await browser.obtainCode('p2')), refresh_token }, 'p2')
    expectRefusal(late, 'reauthentication_required')
    const again = (await browser.signIn()).body
    const fresh = again.access_token
    const erase = (body: object, bearer = fresh) =>
      service.call('DELETE', '/api/v1/auth/me', body, { bearer })
    expect((await erase({ password: 'anything' })).body.code).toBe('password_not_set')
    expect((await erase({ refresh_token }, access_token)).body.code).toBe('reauthentication_required')
    const code = await browser.obtainCode('p2')
    expectRefusal(await link(fresh, code, 'p2'), 'reauthentication_required')
    const linked = await link(fresh, { ...code, refresh_token: again.refresh_token }, 'p2')
    expect(linked.body.identities).toHaveLength(2)
  })

  rule('what is somebody else’s stays so', async () => {
    provider.present(newPerson())
    await browser.signIn()
    const person = await signedUp()
    const taken = await link(person.bearer, { ...(await browser.obtainCode()), password: PASSWORD })
    expectRefusal(taken, 'identity_taken')
    expect((await service.get('identities', { bearer: person.bearer })).body.identities).toEqual([])
  })

  raced.each([
    ['code of the browser flow', () => browser.obtainCode(), 'invalid_code'],
    [
      'identity token',
      async () => ({ id_token: await provider.idToken('once'), nonce: 'once' }),
      'invalid_token',
    ],
  ])('one %s in 32 parallel calls links once', async (_, obtainProof, refusal) => {
    const person = await signedUp()
    const identity = newPerson()
    provider.present(identity)
    const body = { ...(await obtainProof()), password: PASSWORD }
    const answers = await race([service], () => link(person.bearer, body))
    expect(onlySuccess(answers, refusal).body.identities).toMatchObject([{ provider_uid: identity.sub }])
    const { body: listed } = await service.get('identities', { bearer: person.bearer })
    expect(listed.identities).toMatchObject([{ provider_uid: identity.sub }])
    await service.delivered()
    const notices = service.inbox.textsTo(person.identifier).filter((text) => text.includes('P1'))
    expect(notices).toHaveLength(1)
    expect((await browser.signIn()).body.account.id).toBe(person.id)
  })

  raced('of 32 accounts that link one identity at once, one has it', async () => {
    provider.present(newPerson())
    const people = await Promise.all(Array.from({ length: 8 }, signedUp))
    const tries = await Promise.all(
      people.flatMap((person) =>
        Array.from({ length: 4 }, async () => ({ person, code: await browser.obtainCode() })),
      ),
    )
    const answers = await Promise.all(
      tries.map(async ({ person, code }) => ({
        id: person.id,
        status: (await link(person.bearer, { ...code, password: PASSWORD })).status,
      })),
    )
    const winners = new Set(answers.filter(({ status }) => status === 201).map(({ id }) => id))
    expect(winners.size).toBe(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(28)
    expect((await browser.signIn()).body.account.id).toBe([...winners][0])
  })

  test('the last way in stays', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const { access_token, refresh_token } = (await browser.signIn()).body
    const proof = { refresh_token }
    expectRefusal(await unlink(access_token, proof), 'last_sign_in_method')
    expect((await unlink(access_token, proof, 'p2')).body.code).toBe('identity_not_found')
    other.present(newPerson())
    await link(access_token, { ...(await browser.obtainCode('p2')), ...proof }, 'p2')
    expect((await unlink(access_token, proof)).body.identities).toHaveLength(1)
    expect((await unlink(access_token, proof, 'p2')).body.code).toBe('last_sign_in_method')

    await service.resetPassword(email, PASSWORD)
    const bearer = (await service.logIn({ identifier: email, password: PASSWORD })).access_token
    expect((await service.get('identities', { bearer })).body.identities).toEqual([])
    await link(bearer, { ...(await browser.obtainCode('p2')), password: PASSWORD }, 'p2')
    expect((await unlink(bearer, { password: PASSWORD }, 'p2')).body.identities).toEqual([])
  })

  test('a reset takes back what a session added since its destination was verified, and says so', async () => {
    const email = newEmail()
    const { bearer: access_token } = await service.signedIn(email)
    other.present(newPerson())
    const linked = await link(access_token, { ...(await browser.obtainCode('p2')), password: PASSWORD }, 'p2')
    expect(linked.body.identities).toHaveLength(1)
    await service.resetPassword(email, 'chosen by the owner')
    await service.delivered()
    expect(service.inbox.textsTo(email).at(-1)).toMatch(/la connexion par P2/)
    const bearer = (await service.logIn({ identifier: email, password: 'chosen by the owner' })).access_token
    expect((await service.get('identities', { bearer })).body.identities).toEqual([])
  })

  raced('two that are removed at once leave one', async () => {
    for (let round = 0; round < 5; round++) {
      provider.present(newPerson())
      other.present(newPerson())
      const { access_token, refresh_token } = (await browser.signIn()).body
      await link(access_token, { ...(await browser.obtainCode('p2')), refresh_token }, 'p2')
      const answers = await Promise.all([
        unlink(access_token, { refresh_token }),
        unlink(access_token, { refresh_token }, 'p2'),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    }
  })

  rule('a code of one provider links nothing at the path of another', async () => {
    provider.present(newPerson())
    const { access_token, refresh_token } = (await browser.signIn()).body
    provider.present(newPerson())
    const crossed = await link(access_token, { ...(await browser.obtainCode('p1')), refresh_token }, 'p2')
    expectRefusal(crossed, 'invalid_code')
    const unknown = await link(access_token, await browser.obtainCode('p1'), 'p3')
    expect(unknown.body.code).toBe('provider_not_found')
  })

  rule('a proof is wanted whole, and a bearer always', async () => {
    const { bearer } = await signedUp()
    for (const [body, field] of [
      [{}, 'code'],
      [{ code: 'x' }, 'code_verifier'],
      [{ id_token: 'x' }, 'nonce'],
      [{ code: 'x', code_verifier: null }, 'code_verifier'],
    ] as const) {
      const { body: answer } = await link(bearer, { ...body, password: PASSWORD })
      expect([answer.code, answer.errors[0].field]).toEqual(['validation_failed', field])
    }
    const pair = { code: 'x', code_verifier: newPkce().verifier }
    expect((await link(bearer, { ...pair, password: PASSWORD })).body.code).toBe('invalid_code')
    for (const call of [
      service.get('identities'),
      service.post('identities/p1', pair),
      service.call('DELETE', '/api/v1/auth/identities/p1'),
    ])
      expect((await call).status).toBe(401)
  })

  test('identities end with their account', async () => {
    const person = await signedUp()
    provider.present(newPerson())
    await link(person.bearer, { ...(await browser.obtainCode()), password: PASSWORD })
    const erased = await service.call(
      'DELETE',
      '/api/v1/auth/me',
      { password: PASSWORD },
      { bearer: person.bearer },
    )
    expect(erased.status).toBe(200)
    expect((await browser.signIn()).body.account.id).not.toBe(person.id)
  })
})
