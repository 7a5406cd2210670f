/**
 * A certified OpenID provider (`oidc-provider`) on loopback, with its own pages to sign in and to consent. The login
 * that somebody types decides which claims of `people` they get.
 */
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { freePort } from './free-port.ts'

export interface HonestProvider {
  issuer: string
  /** The keys are what they type as login, which is also their subject. */
  people: Map<string, { email: string; email_verified: boolean }>
  stop(): Promise<void>
}

export async function startHonestProvider(client: {
  id: string
  secret: string
  redirectUri: string
}): Promise<HonestProvider> {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const people: HonestProvider['people'] = new Map()
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirectUri],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    findAccount: async (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'honest' }] },
    cookies: { keys: ['only for tests'] },
    pkce: { required: () => true },
  })
  const server = createServer(provider.callback())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    issuer,
    people,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
