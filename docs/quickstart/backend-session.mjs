// npm install openid-client; node backend-session.mjs: an application whose pages are drawn by the server. The browser gets a cookie, and
// never a token.
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import * as client from 'openid-client'

const poterne = process.env.POTERNE_URL ?? 'http://localhost:8080'
const own = process.env.APP_URL ?? 'http://localhost:3000'
const clientId = process.env.CLIENT_ID ?? 'web'

/**
 * poterne counts tries by the address of the person. Every call of this server would otherwise be the same one: so it names the person's
 * in X-Forwarded-For, and poterne believes it, because `server.trusted_proxies` lists this server.
 */
const visitor = new AsyncLocalStorage()
function asVisitor(url, options = {}) {
  const headers = new Headers(options.headers)
  headers.set('x-forwarded-for', visitor.getStore())
  return fetch(url, { ...options, headers })
}

let found
/** Where poterne has its addresses. Leave `allowInsecureRequests` out where they are https. */
function findPoterne() {
  const options = { algorithm: 'oauth2', execute: [client.allowInsecureRequests], [client.customFetch]: asVisitor }
  found ??= client.discovery(new URL(poterne), clientId, undefined, client.None(), options)
  found.catch(() => { found = undefined })
  return found
}

/** In the memory of this process: a restart signs everybody out here, and several processes need a store that they share. */
const sessions = new Map()

const newSession = (session) => {
  const id = randomBytes(32).toString('base64url')
  sessions.set(id, session)
  const secure = own.startsWith('https:') ? '; Secure' : ''
  return `session=${id}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

/** The refresh token works once: whoever else needs it meanwhile waits for the same answer. */
function refresh(session) {
  session.refreshing ??= findPoterne()
    .then((config) => client.refreshTokenGrant(config, session.tokens.refresh_token))
    .then((tokens) => { session.tokens = tokens })
    .finally(() => { session.refreshing = undefined })
  return session.refreshing
}

/** Who is signed in; null where the session is over. Throws where poterne does not answer: nobody is signed out by that. */
async function readAccount(session, again = true) {
  const { access_token } = session.tokens
  const headers = { authorization: `Bearer ${access_token}` }
  const answer = await asVisitor(`${poterne}/api/v1/auth/me`, { headers })
  if (answer.ok) return (await answer.json()).account
  if (answer.status !== 401) throw new Error(`poterne says ${answer.status}`)
  if (!again) return null
  try {
    // Another request may have been faster, and its tokens are good.
    if (session.tokens.access_token === access_token) await refresh(session)
  } catch (error) {
    if (error.error === 'invalid_grant') return null
    throw error
  }
  return readAccount(session, false)
}

const routes = {
  async 'GET /'({ id, session, page }) {
    const account = session?.tokens ? await readAccount(session) : null
    if (account === null) {
      if (session?.tokens) sessions.delete(id)
      return page('<p>Not signed in.</p><a href="/sign-in">Sign in</a>')
    }
    const name = (account.email ?? account.phone).replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)
    page(`<p>Hello ${name}.</p><form method="post" action="/sign-out"><button>Sign out</button></form>`)
  },
  async 'GET /sign-in'({ go }) {
    const [verifier, state] = [client.randomPKCECodeVerifier(), client.randomState()]
    const to = client.buildAuthorizationUrl(await findPoterne(), {
      redirect_uri: `${own}/signed-in`,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    })
    go(to, newSession({ verifier, state }))
  },
  async 'GET /signed-in'({ id, session, url, go }) {
    if (!session?.verifier) return go('/')
    // A new name: nobody who knew the one before gets in with it.
    sessions.delete(id)
    const checks = { pkceCodeVerifier: session.verifier, expectedState: session.state }
    const tokens = await client.authorizationCodeGrant(await findPoterne(), url, checks)
    go('/', newSession({ tokens }))
  },
  // It also ends the browser's session with poterne, and with it what that session handed over to other applications.
  async 'POST /sign-out'({ id, go }) {
    sessions.delete(id)
    go(`${poterne}/oauth2/sign-out?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: `${own}/` })}`)
  },
}

async function answer(request, response) {
  const id = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
  const page = (content) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(content)
  const go = (to, cookie) =>
    response.writeHead(303, { location: String(to), ...(cookie && { 'set-cookie': cookie }) }).end()
  try {
    const url = new URL(own + request.url)
    const route = routes[`${request.method} ${url.pathname}`]
    if (!route) return response.writeHead(404).end()
    await route({ id, session: sessions.get(id), url, page, go })
  } catch (error) {
    console.error(error.cause?.cause ?? error)
    response.writeHead(503, { 'content-type': 'text/html' }).end('<p>Not now.</p><a href="/">Try again</a>')
  }
}

// Behind a reverse proxy of your own the address of the person is in its X-Forwarded-For.
createServer((request, response) => visitor.run(request.socket.remoteAddress, () => answer(request, response))).listen(
  Number(new URL(own).port || 3000),
  '127.0.0.1',
)
