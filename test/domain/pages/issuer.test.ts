/** The issuer of ID tokens: its keys and documents, and its tokens as applications verify them and send them back. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { atHash, type OwnIdTokenClaims } from '../../../src/domain/sessions/tokens/identity-token.ts'
import { statement } from '../../../src/platform/postgres/database.ts'
import { asOperator } from '../../helpers/administration.ts'
import { REDIRECT } from '../../helpers/hand-over.ts'
import { pageSettings } from '../../helpers/page-browser.ts'
import { race } from '../../helpers/race.ts'
import { createStorage, mergeSettings, startService } from '../../helpers/service.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'
import { waitFor } from '../../helpers/wait.ts'

setDefaultTimeout(30_000)

const before = { id: 'web', name: 'Example', redirect_uris: [REDIRECT] }
const stated = { id: 'team', name: 'Team', redirect_uris: [REDIRECT], own: true }
const listing = (...applications: object[]) =>
  mergeSettings(pageSettings, { pages: { enabled: true, applications } })
const ISSUER = 'https://auth.example.com/oauth2'
const DOCUMENTS = [
  '/oauth2/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/oauth2',
]
const countKeys = statement<object, { count: number }>(sql`select count(*)::int as count from identity_keys`)

describe('with an application that states whether it is own', () => {
  const options = { shape: 'postgres', settings: listing(before, stated) } as const
  const service = useService(options)
  const replica = useReplica(service, options)
  const jwks = async (one: Pick<typeof service, 'call'> = service) =>
    (await one.call('GET', '/oauth2/jwks')).body
  const claims = (): OwnIdTokenClaims => ({
    ...{ sub: randomUUID(), aud: 'team', sid: randomUUID(), auth_time: 1, amr: ['pwd'] },
    ...{ at_hash: atHash('a'), nonce: 'n', groups: ['staff'] },
  })
  const tokens = () => service.inside.services.identityTokens

  test('one RSA key is made in the background, and 32 callers on two processes wait for the same one', async () => {
    const sets = await race([service, replica], (one) => jwks(one))
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(1)
    const [key] = sets[0].keys
    expect(sets[0].keys).toHaveLength(1)
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    expect([key.kty, key.alg, key.use, Buffer.from(key.n, 'base64url').length]).toEqual([
      'RSA',
      'RS256',
      'sig',
      256,
    ])
    const others = (await service.call('GET', '/.well-known/jwks.json')).body.keys
    expect(others.map(({ alg }: { alg: string }) => alg)).toEqual(['ES256'])
  })

  test('both documents are alike, under any host, for five minutes and any origin', async () => {
    const answers = await Promise.all(
      [...DOCUMENTS, '/oauth2/jwks'].map((path) =>
        service.call('GET', path, undefined, {
          headers: { host: 'inside.lan', origin: 'https://x.example' },
        }),
      ),
    )
    for (const { status, headers } of answers) {
      expect(status).toBe(200)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('cache-control')).toBe('public, max-age=300')
    }
    expect(answers[0]!.body).toEqual(answers[1]!.body)
    expect(answers[0]!.body).toMatchObject({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      jwks_uri: `${ISSUER}/jwks`,
      userinfo_endpoint: `${ISSUER}/userinfo`,
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      backchannel_logout_session_supported: true,
      request_parameter_supported: false,
    })
  })

  test('the documents of base_url are as before, and the log names the other issuer once', async () => {
    const { body } = await service.call('GET', '/.well-known/oauth-authorization-server')
    expect(Object.keys(body)).toEqual([
      ...['issuer', 'jwks_uri', 'authorization_endpoint', 'token_endpoint', 'end_session_endpoint'],
      ...['response_types_supported', 'response_modes_supported', 'code_challenge_methods_supported'],
      ...['token_endpoint_auth_methods_supported', 'authorization_response_iss_parameter_supported'],
      ...['prompt_values_supported', 'subject_types_supported', 'id_token_signing_alg_values_supported'],
      'grant_types_supported',
    ])
    expect([body.issuer, body.prompt_values_supported]).toEqual([
      'https://auth.example.com',
      ['none', 'login', 'create'],
    ])
    for (let read = 0; read < 3; read++)
      expect(
        (await service.call('GET', '/.well-known/openid-configuration')).body.authorization_endpoint,
      ).toBeUndefined()
    expect(service.log.filter((line) => line.includes(ISSUER))).toHaveLength(1)
  })

  test('an ID token and a logout token verify against the published keys, and say which they are', async () => {
    const given = claims()
    const keys = createLocalJWKSet(await jwks())
    const idToken = await tokens().signIdToken(given)
    const { payload, protectedHeader } = await jwtVerify(idToken, keys, {
      ...{
        issuer: ISSUER,
        audience: 'team',
        typ: 'JWT',
        algorithms: ['RS256'],
        currentDate: service.clock.now(),
      },
    })
    const iat = payload.iat!
    expect(payload).toEqual({ ...given, iss: ISSUER, iat, exp: iat + 900 })
    expect(Object.keys(protectedHeader).sort()).toEqual(['alg', 'kid', 'typ'])
    const logout = await jwtVerify(await tokens().signLogoutToken(given), keys, {
      ...{ issuer: ISSUER, audience: 'team', typ: 'logout+jwt', currentDate: service.clock.now() },
    })
    expect(logout.payload).toEqual({
      ...{ iss: ISSUER, aud: 'team', sub: given.sub, sid: given.sid, jti: expect.any(String) },
      ...{ iat: logout.payload.iat!, exp: logout.payload.iat! + 120 },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    // No route takes either for an access token.
    for (const bearer of [idToken, await tokens().signLogoutToken(given)])
      expect((await service.get('me', { bearer })).status).toBe(401)
  })

  test('a hint counts whatever its age, if it is an ID token that a published key signed', async () => {
    const given = claims()
    const { sub, aud, sid } = given
    const hint = await tokens().signIdToken(given)
    service.clock.advance(40 * 86_400_000)
    expect(await tokens().readHint(hint)).toEqual({ sub, aud, sid })
    const access = (await service.signedIn()).bearer
    const [head, body] = hint.split('.')
    const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${body}.`
    const others = new SignJWT({ ...given }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    for (const text of [
      ...['', 'a.b.c', 'x'.repeat(20_000), `${head}.${body}.AAAA`, unsigned, access],
      await tokens().signLogoutToken(given),
      await others.sign(Buffer.from(JSON.stringify((await jwks()).keys[0]))),
    ])
      expect(await tokens().readHint(text)).toBeNull()
  })

  test('rotating rotates both keys, a new one signs at once where that is asked for, and a revoked one is gone', async () => {
    const hint = await tokens().signIdToken(claims())
    const { kid } = decodeProtectedHeader(hint)
    const { body } = await asOperator(service, 'POST', 'keys/rotate', { now: true })
    expect([body.key.algorithm, body.identity_key.algorithm]).toEqual(['ES256', 'RS256'])
    const listed = (await asOperator(service, 'GET', 'keys')).body.items
    expect(
      listed.map((key: { algorithm: string; state: string }) => `${key.algorithm} ${key.state}`).sort(),
    ).toEqual([...['ES256 signing', 'ES256 superseded', 'RS256 signing', 'RS256 superseded']])
    expect(decodeProtectedHeader(await tokens().signIdToken(claims())).kid).toBe(body.identity_key.kid)
    expect(await tokens().readHint(hint)).not.toBeNull()
    expect((await asOperator(service, 'POST', 'keys/revoke', { kid })).body.revoked).toBe(true)
    for (const one of [service, replica])
      await waitFor(async () => (await one.inside.services.identityTokens.readHint(hint)) === null, {
        what: 'the revoked key to be refused',
      })
    expect((await jwks()).keys.map((key: { kid: string }) => key.kid)).toEqual([body.identity_key.kid])
  })
})

test('a changed secret seals the RSA key anew, and a revoked secret replaces it', async () => {
  const [one, other] = ['ab'.repeat(32), 'cd'.repeat(32)]
  const under = (secret: string, previous_secrets: string[] = []) =>
    mergeSettings(listing(stated), { server: { secret, previous_secrets } })
  const storage = await createStorage('postgres')
  const before = await startService({ shape: 'postgres', storage: storage.settings, settings: under(one) })
  const { keys } = (await before.call('GET', '/oauth2/jwks')).body
  await before.close()
  const changed = await startService({
    ...{ shape: 'postgres', storage: storage.settings, settings: under(other, [one]) },
  })
  const { secrets } = changed.inside.services
  expect((await secrets.status()).previous[0]!.rows.signing_keys).toBe(2)
  changed.clock.advance(180_000)
  await secrets.run()
  expect((await secrets.status()).previous[0]!.rows.signing_keys).toBe(0)
  await changed.close()
  const after = await startService({ shape: 'postgres', storage: storage.settings, settings: under(other) })
  expect((await after.call('GET', '/oauth2/jwks')).body.keys).toEqual(keys)
  await after.inside.services.secrets.revoke()
  const isReplaced = async () => {
    const left = (await after.call('GET', '/oauth2/jwks')).body.keys
    return left.length === 1 && left[0].kid !== keys[0].kid
  }
  await waitFor(isReplaced, { what: 'another key alone' })
  await after.close()
  await storage.drop()
})

describe('an upgrade alone', () => {
  const service = useService({ shape: 'postgres', settings: listing(before) })

  test('makes no RSA key, and has neither the routes nor the documents', async () => {
    for (const path of [...DOCUMENTS, '/oauth2/jwks'])
      expect((await service.call('GET', path)).body.code).toBe('route_not_found')
    expect((await asOperator(service, 'POST', 'keys/rotate', {})).body.identity_key).toBeNull()
    expect(await service.inside.database.first(countKeys, {})).toEqual({ count: 0 })
    await service.call('GET', '/.well-known/openid-configuration')
    expect(service.log.filter((line) => line.includes(ISSUER))).toHaveLength(0)
  })
})

describe('with applications that all state it', () => {
  const service = useService({ shape: 'postgres', settings: listing(stated) })

  test('the documents of base_url offer no hand-over', async () => {
    for (const path of ['openid-configuration', 'oauth-authorization-server']) {
      const { body } = await service.call('GET', `/.well-known/${path}`)
      expect(body.response_types_supported).toEqual([])
      expect(body.authorization_endpoint).toBeUndefined()
    }
  })
})
