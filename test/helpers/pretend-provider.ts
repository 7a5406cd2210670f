/**
 * A sign-in provider on loopback that speaks OpenID Connect correctly. It can be told to lie in one point: in its
 * description, its keys, its redirect, its identity token, its user info. It asks nobody for a password: every visitor
 * is the person it was told last.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { freePort } from './free-port.ts'

export interface Signer {
  kid: string
  alg: string
  publicJwk: JWK
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>
}

/** The changes to what an honest provider would say. */
export interface Lies {
  description?: (honest: Record<string, unknown>) => Record<string, unknown>
  keys?: (honest: JWK[]) => JWK[]
  /** The parameters of the redirect. */
  redirect?: (honest: Record<string, string>) => Record<string, string>
  claims?: (honest: JWTPayload) => JWTPayload
  /** The whole identity token from the claims. */
  idToken?: (claims: JWTPayload) => Promise<string> | string
  tokenAnswer?: (honest: Record<string, unknown>) => { status: number; body: unknown }
  userInfo?: Record<string, unknown>
  /** Takes over a request altogether; true where it did. */
  handle?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export interface Person {
  sub: string
  email?: string
  email_verified?: unknown
  [claim: string]: unknown
}

export interface PretendProvider extends AsyncDisposable {
  issuer: string
  port: number
  signer: Signer
  /** Bodies of the requests to the token endpoint. */
  exchanges: { body: URLSearchParams; authorization: string | undefined }[]
  /** Paths asked for so far. */
  requests: string[]
  /** Its tokens are dated by this clock; by the true time without it. */
  keepTime(clock: Clock): void
  /** Names the person who comes next. */
  present(person: Person): void
  lie(lies: Lies): void
  /** An identity token as a native app gets one, with the same lies. */
  idToken(nonce: string, audience?: string): Promise<string>
  stop(): Promise<void>
  /** The same as `stop`. */
  close(): Promise<void>
  start(): Promise<void>
}

export async function createSigner(alg = 'RS256'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const kid = randomUUID()
  return {
    kid,
    alg,
    publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    sign: (claims, header) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  }
}

export const newPerson = (claims: Omit<Person, 'sub'> = {}): Person => ({ sub: randomUUID(), ...claims })

/** `path`: part of the issuer, for several providers that differ in nothing else. */
export async function startPretendProvider({ path = '' } = {}): Promise<PretendProvider> {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}${path}`
  const signer = await createSigner()
  const codes = new Map<string, { request: URLSearchParams; person: Person }>()
  const exchanges: PretendProvider['exchanges'] = []
  const requests: string[] = []
  let lies: Lies = {}
  let person: Person = newPerson()
  let clock: Clock = systemClock

  const claimsOf = ({ sub, ...claims }: Person, audience: string, nonce: string | null): JWTPayload => {
    const now = Math.floor(clock.now().getTime() / 1000)
    return {
      iss: issuer,
      sub,
      aud: audience,
      iat: now,
      exp: now + 3600,
      ...(nonce !== null && { nonce }),
      ...claims,
    }
  }
  const idToken = async (claims: JWTPayload) => (lies.idToken ? lies.idToken(claims) : signer.sign(claims))

  const describe = () => {
    const honest = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/me`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
    }
    return lies.description?.(honest) ?? honest
  }

  function authorize(request: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID()
    codes.set(code, { request, person })
    const honest = { code, state: request.get('state')!, iss: issuer }
    const target = new URL(request.get('redirect_uri')!)
    for (const [name, value] of Object.entries(lies.redirect?.(honest) ?? honest))
      target.searchParams.set(name, value)
    response.writeHead(302, { location: target.href }).end()
  }

  async function exchange(body: URLSearchParams, authorization: string | undefined) {
    exchanges.push({ body, authorization })
    const known = codes.get(body.get('code') ?? '')
    codes.delete(body.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    if (
      known?.request.get('code_challenge') !== challenge ||
      known.request.get('redirect_uri') !== body.get('redirect_uri')
    ) {
      return { status: 400, body: { error: 'invalid_grant' } }
    }
    const honest = claimsOf(known.person, known.request.get('client_id')!, known.request.get('nonce'))
    const claims = lies.claims?.(honest) ?? honest
    const answer = {
      access_token: known.person.sub,
      token_type: 'Bearer',
      expires_in: 300,
      id_token: await idToken(claims),
    }
    return lies.tokenAnswer?.(answer) ?? { status: 200, body: answer }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    requests.push(url.pathname)
    if (lies.handle?.(request, response)) return
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    switch (url.pathname.slice(path.length)) {
      case '/.well-known/openid-configuration':
        json(200, describe())
        return
      case '/keys':
        json(200, { keys: lies.keys?.([signer.publicJwk]) ?? [signer.publicJwk] })
        return
      case '/authorize':
        authorize(url.searchParams, response)
        return
      case '/token': {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        const form = new URLSearchParams(Buffer.concat(chunks).toString())
        const { status, body } = await exchange(form, request.headers.authorization)
        json(status, body)
        return
      }
      case '/me':
        json(200, lies.userInfo ?? { sub: request.headers.authorization?.replace('Bearer ', '') })
        return
      default:
        json(404, {})
    }
  }

  const server = createServer((request, response) => void answer(request, response))
  const start = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await start()
  return {
    issuer,
    port,
    signer,
    exchanges,
    requests,
    keepTime: (next) => {
      clock = next
    },
    present: (next) => {
      person = next
    },
    lie: (next) => {
      lies = next
    },
    idToken: async (nonce, audience = 'poterne') => {
      const honest = claimsOf(person, audience, nonce)
      return idToken(lies.claims?.(honest) ?? honest)
    },
    stop,
    close: stop,
    [Symbol.asyncDispose]: stop,
    start,
  }
}
