/**
 * `oidc-provider` on Node as its documentation sets it up, with the paths of poterne, on PostgreSQL by `pg` with a pool of 10, as
 * poterne has. Whoever comes to sign in is signed in as somebody new.
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import pg from 'pg'

const { PORT, CLIENT = '', DATABASE_URL } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
await pool.query(`create table entries (key text primary key, uid text, row jsonb not null)`)
await pool.query('create index on entries (uid)')

const query = async (name, text, ...values) => (await pool.query({ name, text, values })).rows[0]?.row

/** What it keeps: an entry is written, read and ended by one statement each. */
const entriesOf = (model) => {
  const key = (id) => `${model}:${id}`
  const upsert = 'insert into entries values ($1, $2, $3) on conflict (key) do update set uid = $2, row = $3'
  const consume = `update entries set row = row || '{"consumed": true}' where key = $1`
  return {
    find: (id) => query('find', 'select row from entries where key = $1', key(id)),
    findByUid: (uid) => query('find by uid', 'select row from entries where uid = $1', uid),
    upsert: (id, row) => query('upsert', upsert, key(id), row.uid, row),
    consume: (id) => query('consume', consume, key(id)),
    destroy: (id) => query('destroy', 'delete from entries where key = $1', key(id)),
    revokeByGrantId: () => {},
  }
}

const { privateKey } = await generateKeyPair('RS256', { extractable: true })
const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  adapter: entriesOf,
  clients: [JSON.parse(CLIENT)],
  findAccount: (_, accountId) => ({
    accountId,
    claims: () => ({ sub: accountId, name: 'Person', email: `${accountId}@bench.example` }),
  }),
  claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
  cookies: { keys: ['only for the bench'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
  loadExistingGrant: async ({ oidc: { client, session, params, provider } }) => {
    const known = session.grantIdFor(client.clientId)
    if (known) return provider.Grant.find(known)
    const { accountId } = session
    const grant = new provider.Grant({ clientId: client.clientId, accountId })
    grant.addOIDCScope(params.scope)
    await grant.save()
    return grant
  },
  routes: { authorization: '/oauth2/authorize', token: '/oauth2/token', userinfo: '/oauth2/userinfo' },
})
const answer = provider.callback()

createServer((request, response) => {
  if (request.url === '/readyz') return response.end('ok')
  if (!request.url.startsWith('/sign-in/')) return answer(request, response)
  return provider.interactionFinished(request, response, { login: { accountId: randomUUID() } })
}).listen(Number(PORT), '127.0.0.1')
