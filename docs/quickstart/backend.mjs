// npm install jose; node backend.mjs
import { createServer } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const issuer = process.env.POTERNE_URL ?? 'http://127.0.0.1:8080'
const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))

/** The claims of the access token; throws where the token is not valid. */
async function verify(authorization = '') {
  const token = authorization.replace(/^Bearer /, '')
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience: issuer,
    requiredClaims: ['exp', 'sub', 'sid'],
  })
  return payload
}

const server = createServer(async (request, response) => {
  try {
    const { sub } = await verify(request.headers.authorization)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ user: sub }))
  } catch {
    response.writeHead(401).end()
  }
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
