/** The limit of `GET me`: an Elysia route that verifies the same token by jose and does one prepared select. */
import { Elysia } from 'elysia'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import postgres from 'postgres'

const { PORT, DATABASE_URL = '', JWKS = '', ISSUER = '' } = process.env
const keys = createLocalJWKSet(JSON.parse(JWKS) as JSONWebKeySet)
const sql = postgres(DATABASE_URL, { max: 10, fetch_types: false })

new Elysia({ serve: { reusePort: false } })
  .get('/readyz', () => ({ status: 'ok' }))
  .get('/me', async ({ headers }) => {
    const token = headers.authorization?.slice('Bearer '.length) ?? ''
    const { payload } = await jwtVerify(token, keys, { algorithms: ['ES256'], typ: 'at+jwt', issuer: ISSUER })
    const [account] = await sql`select * from accounts where uuid = ${payload.sub ?? ''}`
    return { status: 200, account }
  })
  .listen({ hostname: '127.0.0.1', port: Number(PORT) })
