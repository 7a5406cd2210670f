/**
 * Access tokens as an attacker would make them, for whatever is to refuse them: the verifier alone, or every route. Each
 * row breaks one thing of a token that is right in all others, by the true key where the signature is not the point.
 */
import { createHmac, createPublicKey } from 'node:crypto'
import { base64url, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export interface ForgerOptions {
  issuer: string
  audience: string
  kid: string
  /** The true one, and its public part as published. */
  privateKey: CryptoKey
  publicJwk: JWK
  /** Claims of a token that is accepted, without times, issuer and audience. */
  subject: Record<string, unknown>
  now: () => Date
}

export type Changes = Record<string, unknown>
export type Forgery = [name: string, make: () => string | Promise<string>]

export type Forger = Awaited<ReturnType<typeof createForger>>

export async function createForger(options: ForgerOptions) {
  const { issuer, audience, kid, privateKey, publicJwk, subject, now } = options
  const stranger = await generateKeyPair('ES256', { extractable: true })
  const rsa = await generateKeyPair('RS256', { extractable: true })
  const jwk = await exportJWK(stranger.publicKey)
  const publicPem = createPublicKey({
    key: publicJwk as JWK & Record<string, unknown>,
    format: 'jwk',
  }).export({ type: 'spki', format: 'pem' }) as string

  const seconds = () => Math.floor(now().getTime() / 1000)
  const goodHeader = { alg: 'ES256', kid, typ: 'at+jwt' }
  const goodClaims = () => ({
    iss: issuer,
    aud: audience,
    jti: 'a-token',
    iat: seconds(),
    exp: seconds() + 900,
    auth_time: seconds(),
    amr: ['pwd'],
    role_id: 1,
    ...subject,
  })

  /** A token as ours, but for what is given; `undefined` takes a claim or header out. */
  function forge(header: Changes, claims: Changes = {}, key: CryptoKey = privateKey): Promise<string> {
    return new SignJWT(without({ ...goodClaims(), ...claims }))
      .setProtectedHeader(without({ ...goodHeader, ...header }) as { alg: string })
      .sign(key)
  }

  function forgeBy(header: Changes, sign: (input: string) => string): string {
    const encode = (part: object) => base64url.encode(JSON.stringify(part))
    const input = `${encode(without({ ...goodHeader, ...header }))}.${encode(goodClaims())}`
    return `${input}.${sign(input)}`
  }

  async function withSignature(change: (signature: Uint8Array) => Uint8Array): Promise<string> {
    const token = await forge({})
    const input = token.slice(0, token.lastIndexOf('.'))
    return `${input}.${base64url.encode(change(base64url.decode(token.slice(input.length + 1))))}`
  }

  async function withOtherPayload(): Promise<string> {
    const [header, , signature] = (await forge({})).split('.')
    const claims = { ...goodClaims(), role_id: 9 }
    return `${header}.${base64url.encode(JSON.stringify(claims))}.${signature}`
  }

  /** Each must end in invalid_token. */
  const forgeries: Forgery[] = [
    ['alg none', () => forgeBy({ alg: 'none' }, () => '')],
    ['alg None', () => forgeBy({ alg: 'None' }, () => '')],
    ['alg none without signature part', () => forgeBy({ alg: 'none' }, () => '').slice(0, -1)],
    ['no alg', () => forgeBy({ alg: undefined }, () => 'AAAA')],
    ['HS256 with the public key as PEM', () => forgeBy({ alg: 'HS256' }, hs256(publicPem))],
    ['HS256 with the public key as JWK', () => forgeBy({ alg: 'HS256' }, hs256(JSON.stringify(publicJwk)))],
    ['HS256 with an empty secret', () => forgeBy({ alg: 'HS256' }, hs256(''))],
    ['ES256 in the header, HMAC behind it', () => forgeBy({}, hs256(publicPem))],
    ['RS256 with a key of its own', () => forge({ alg: 'RS256' }, {}, rsa.privateKey)],
    ['another key under our kid', () => forge({}, {}, stranger.privateKey)],
    ['another kid', () => forge({ kid: 'another' }, {}, stranger.privateKey)],
    ['another kid with our key', () => forge({ kid: 'another' })],
    ['no kid', () => forge({ kid: undefined })],
    ['a kid that is no string', () => forgeBy({ kid: { toString: kid } }, () => 'A'.repeat(86))],
    ['a kid that is a path', () => forge({ kid: '../../dev/null' }, {}, stranger.privateKey)],
    ['jku', () => forge({ kid: 'another', jku: 'https://evil.example/jwks.json' }, {}, stranger.privateKey)],
    ['x5u', () => forge({ kid: 'another', x5u: 'https://evil.example/cert.pem' }, {}, stranger.privateKey)],
    ['x5c', () => forge({ x5c: ['MIIB'] }, {}, stranger.privateKey)],
    ['jwk in the header under our kid', () => forge({ jwk }, {}, stranger.privateKey)],
    ['jwk in the header without kid', () => forge({ kid: undefined, jwk }, {}, stranger.privateKey)],
    ['an unknown critical extension', () => forgeBy({ crit: ['x'], x: 1 }, () => 'A'.repeat(86))],
    ['an unencoded payload', () => forgeBy({ crit: ['b64'], b64: false }, () => 'A'.repeat(86))],
    ['typ JWT', () => forge({ typ: 'JWT' })],
    ['typ of another kind', () => forge({ typ: 'logout+jwt' })],
    ['no typ', () => forge({ typ: undefined })],
    ['another issuer', () => forge({}, { iss: 'https://evil.example' })],
    ['an issuer with a slash more', () => forge({}, { iss: `${issuer}/` })],
    ['no issuer', () => forge({}, { iss: undefined })],
    ['another audience', () => forge({}, { aud: 'https://other.example.com' })],
    ['no audience', () => forge({}, { aud: undefined })],
    ['no expiry', () => forge({}, { exp: undefined })],
    [
      'an expiry further ahead than the lifetime of a token and a minute',
      () => forge({}, { exp: seconds() + 962 }),
    ],
    ['an expiry that is text', () => forge({}, { exp: String(seconds() + 900) })],
    ['an expiry that is null', () => forge({}, { exp: null })],
    ['not valid before a time to come', () => forge({}, { nbf: seconds() + 3600 })],
    ['no subject', () => forge({}, { sub: undefined })],
    ['no session', () => forge({}, { sid: undefined })],
    ['a session that is a number', () => forge({}, { sid: 1 })],
    ['a role that is text', () => forge({}, { role_id: '1' })],
    ['an amr that is text', () => forge({}, { amr: 'pwd' })],
    ['an amr of objects', () => forge({}, { amr: [{}] })],
    ['no jti', () => forge({}, { jti: undefined })],
    ['no iat', () => forge({}, { iat: undefined })],
    ['no auth_time', () => forge({}, { auth_time: undefined })],
    ['expired, and signed by another key', () => forge({}, { exp: 1 }, stranger.privateKey)],
    ['expired, and of another audience', () => forge({}, { exp: 1, aud: 'x' })],
    ['nothing', () => ''],
    ['a refresh token', () => 'f'.repeat(64)],
    ['two dots', () => '..'],
    ['five parts', () => 'a.b.c.d.e'],
    ['a header that is no JSON', () => `${base64url.encode('{')}.e30.AA`],
    ['a header that is an array', () => `${base64url.encode('[]')}.e30.AA`],
    ['64 KB', () => `${'a'.repeat(65536)}.e30.AA`],
    ['another payload under the old signature', withOtherPayload],
    [
      'the signature with r and s exchanged',
      () => withSignature((bytes) => new Uint8Array([...bytes.slice(32), ...bytes.slice(0, 32)])),
    ],
    [
      'the signature in DER',
      () =>
        withSignature(
          (bytes) => new Uint8Array([0x30, 68, 2, 32, ...bytes.slice(0, 32), 2, 32, ...bytes.slice(32)]),
        ),
    ],
    ['a signature of zeros', () => withSignature(() => new Uint8Array(64))],
    ['the signature cut', () => withSignature((bytes) => bytes.slice(0, 63))],
    ['no signature', () => withSignature(() => new Uint8Array())],
  ]
  return { forge, forgeries }
}

const without = (changes: Changes) =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))

const hs256 = (secret: string | Uint8Array) => (input: string) =>
  createHmac('sha256', secret).update(input).digest('base64url')
