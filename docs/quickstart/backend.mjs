// npm install jose; node backend.mjs
import { createServer } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const issuer = process.env.POTERNE_URL ?? 'http://localhost:8080'
const page = process.env.PAGE_ORIGIN ?? 'http://localhost:5173'
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`), { cacheMaxAge: 300_000 })

/** The claims of the access token; throws where the token is not valid, or the keys cannot be fetched. */
async function verify(authorization = '') {
  const token = authorization.replace(/^Bearer +/i, '')
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience: issuer,
    requiredClaims: ['exp', 'sub', 'sid'],
  })
  return payload
}

// An error without a code comes from fetch: there was no connection.
const noKeys = new Set([undefined, 'ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

const server = createServer(async (request, response) => {
  // The page runs at another address, and sends a header of its own: browsers ask first.
  response.setHeader('access-control-allow-origin', page)
  response.setHeader('access-control-allow-headers', 'authorization')
  if (request.method === 'OPTIONS') return response.writeHead(204).end()
  try {
    const { sub } = await verify(request.headers.authorization)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ user: sub }))
  } catch (error) {
    // An outage is no reason to sign people out.
    response.writeHead(noKeys.has(error.code) ? 503 : 401).end()
  }
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
