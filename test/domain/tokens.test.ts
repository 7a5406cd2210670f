/** Access tokens: what they say, and which ones are accepted. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { base64url, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { createAccessTokenService } from '../../src/domain/sessions/tokens/access-token.ts'
import type { AccessTokenClaims } from '../../src/domain/sessions/tokens/claims.ts'
import type { KeyService } from '../../src/domain/sessions/tokens/key-service.ts'
import { createVerifiedTokens } from '../../src/domain/sessions/tokens/verified-tokens.ts'
import { AppError } from '../../src/texts/errors.ts'
import { createForger } from '../helpers/forged-tokens.ts'
import { seed } from '../random/seed.ts'

setDefaultTimeout(20_000)

const issuer = 'https://auth.example.com'
const audience = 'https://api.example.com'
const kid = 'the-key'
const pair = await generateKeyPair('ES256', { extractable: true })

let now = new Date()
let withdrawn = false
const keys: Pick<KeyService, 'signingKey' | 'findPublicKey'> = {
  signingKey: () => ({ kid, privateKey: pair.privateKey, signsFrom: now }),
  findPublicKey: async (name) => (name === kid && !withdrawn ? pair.publicKey : null),
}
const tokens = createAccessTokenService({
  keys,
  clock: { now: () => now },
  issuer,
  audience,
  lifetimeSeconds: 900,
})
const subject = {
  accountUuid: '0190a5a0-0000-7000-8000-000000000001',
  sessionId: '0190a5a0-0000-7000-8000-000000000002',
  roleId: 3,
  authTime: new Date('2026-06-30T08:00:00.000Z'),
  amr: ['pwd', 'otp'],
}

async function errorCodeOf(token: string): Promise<string> {
  const error = await tokens.verify(token).then(
    () => 'accepted',
    (error: unknown) => error,
  )
  return error instanceof AppError ? error.errorCode : String(error)
}

const seconds = () => Math.floor(now.getTime() / 1000)
const { forge, forgeries } = await createForger({
  issuer,
  audience,
  kid,
  privateKey: pair.privateKey,
  publicJwk: await exportJWK(pair.publicKey),
  subject: { sub: subject.accountUuid, sid: subject.sessionId },
  now: () => now,
})

describe('an access token', () => {
  test('says who, by which session, how and until when, in the form of RFC 9068', async () => {
    const token = await tokens.sign(subject)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid, typ: 'at+jwt' })
    expect(decodeJwt(token)).toEqual({
      iss: issuer,
      aud: audience,
      sub: subject.accountUuid,
      sid: subject.sessionId,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: expect.any(Number),
      exp: seconds() + 900,
      auth_time: subject.authTime.getTime() / 1000,
      amr: ['pwd', 'otp'],
      role_id: 3,
    })
  })

  test('is accepted, and read back', async () => {
    const claims = await tokens.verify(await tokens.sign(subject))
    expect(claims).toMatchObject(subject)
    expect(claims.expiresAt.getTime()).toBe((seconds() + 900) * 1000)
  })

  test('is never the same twice', async () => {
    expect(await tokens.sign(subject)).not.toBe(await tokens.sign(subject))
  })

  test('that the forger of these tests makes without changes is accepted', async () => {
    expect(await errorCodeOf(await forge({}))).toBe('accepted')
  })

  test('is expired from its last second on, by the clock of the service', async () => {
    const token = await tokens.sign(subject)
    const start = now
    now = new Date(start.getTime() + 898_000)
    expect(await errorCodeOf(token)).toBe('accepted')
    now = new Date(start.getTime() + 900_000)
    expect(await errorCodeOf(token)).toBe('token_expired')
    now = start
  })

  test('of a clock that is a minute ahead is accepted, of one further ahead it is not', async () => {
    const start = now
    const signedAhead = (seconds: number) => {
      now = new Date(start.getTime() + seconds * 1000)
      return tokens.sign(subject).finally(() => {
        now = start
      })
    }
    expect(await errorCodeOf(await signedAhead(60))).toBe('accepted')
    expect(await errorCodeOf(await signedAhead(61))).toBe('invalid_token')
  })
})

describe('an access token that was accepted before', () => {
  test('is accepted again, and says the same', async () => {
    const token = await tokens.sign(subject)
    expect(await tokens.verify(token)).toEqual(await tokens.verify(token))
  })

  test('is refused as soon as its key is published no more', async () => {
    const token = await tokens.sign(subject)
    expect(await errorCodeOf(token)).toBe('accepted')
    withdrawn = true
    expect(await errorCodeOf(token)).toBe('invalid_token')
    withdrawn = false
    expect(await errorCodeOf(token)).toBe('accepted')
  })

  test('is proved anew once enough others were used since', () => {
    const verified = createVerifiedTokens(2)
    const entry = { claims: {} as AccessTokenClaims, kid }
    for (const token of ['one', 'two']) verified.put(token, entry)
    expect(verified.find('one')).toBe(entry)
    verified.put('three', entry)
    expect(verified.find('two')).toBeNull()
    expect(verified.find('one')).toBe(entry)
    expect(verified.find('three')).toBe(entry)
  })
})

describe('a forged token is refused:', () => {
  test.each(forgeries)('%s', async (_, make) => {
    expect(await errorCodeOf(await make())).toBe('invalid_token')
  })

  test('one that only expired long ago is told so', async () => {
    expect(await errorCodeOf(await forge({}, { exp: 1 }))).toBe('token_expired')
  })

  test('any text, and any change of one character, ends in invalid_token and nothing else', async () => {
    const token = await forge({})
    const oneChanged = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_.=+ é\0'))
      .filter(([index, character]) => token[index] !== character)
      .map(([index, character]) => token.slice(0, index) + character + token.slice(index + 1))
      // The last character of a part carries bits that decoding ignores.
      .filter((text) => !sameBytes(text, token))
    const threeParts = fc
      .tuple(fc.json(), fc.json(), fc.string())
      .map((parts) => parts.map(encodeText).join('.'))
    await fc.assert(
      fc.asyncProperty(fc.oneof(oneChanged, threeParts, fc.string({ unit: 'binary' })), async (text) => {
        expect(await errorCodeOf(text)).toBe('invalid_token')
      }),
      { seed, numRuns: 2000 },
    )
  })
})

function encodeText(text: string): string {
  return base64url.encode(text)
}

function sameBytes(one: string, other: string): boolean {
  const bytes = (token: string) =>
    token.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'))
  return bytes(one).join('.') === bytes(other).join('.')
}

test('a store that is away is not taken for a wrong token', async () => {
  const away = createAccessTokenService({
    keys: { ...keys, findPublicKey: () => Promise.reject(new Error('connection')) },
    clock: { now: () => now },
    issuer,
    audience,
    lifetimeSeconds: 900,
  })
  await expect(away.verify(await forge({}))).rejects.toThrow('connection')
})
