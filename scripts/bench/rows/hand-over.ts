/**
 * Complete hand-overs by browsers that are signed in: those of an own application, those of one of somebody else with a secret
 * and an ID token, the same ones at `oidc-provider`, and what the access token opens against `GET me`.
 */
import { join } from 'node:path'
import {
  addressOf,
  authorizeAddress,
  basic,
  entry,
  newVerifier,
  REDIRECT,
  SECRET,
  token,
  userinfo,
} from '../../../test/helpers/hand-over.ts'
import { openBrowser, type PageBrowser } from '../../../test/helpers/page-browser.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { compare, ratePerSecond } from '../compare.ts'
import { startRival } from '../rivals.ts'
import { login, ownAccount, reads } from '../traffic.ts'

const HOST = 'auth.bench'
/** So many that each hands over some ten times: what a person opened stays in the tables for a month, and is counted. */
const BROWSERS = 4096
const own = { client_id: 'web', redirect_uri: REDIRECT, scope: '' }
/** It has a secret, and asks userinfo who signed in. */
const other = { client_id: 'grafana', redirect_uri: addressOf('grafana'), scope: 'openid profile email' }

/** Returns the access token. */
async function handOver(url: string, { cookies }: PageBrowser, application: typeof own): Promise<string> {
  const verifier = newVerifier()
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  const asked = await fetch(url + authorizeAddress(verifier, application), {
    redirect: 'manual',
    headers: { host: HOST, cookie },
  })
  await asked.bytes()
  const code = new URL(asked.headers.get('location') ?? 'none:').searchParams.get('code')
  if (code === null) throw new Error(`authorize answered ${asked.status}`)
  const { client_id, redirect_uri } = application
  const form = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier }
  const { status, body } = await (application === own
    ? token({ url }, { ...form, client_id })
    : token({ url }, form, basic(client_id)))
  const told = application === own ? { status: 200 } : await userinfo({ url }, body.access_token)
  if (status !== 200 || told.status !== 200)
    throw new Error(`token answered ${status}, userinfo ${told.status}`)
  return body.access_token
}

async function signIn(url: string) {
  const browsers: PageBrowser[] = []
  let next = 1
  const signInSome = async () => {
    while (next <= BROWSERS) {
      const person = login(next++)
      const browser = await openBrowser(url, { host: HOST }).open('/sign-in')
      browsers.push(await browser.press('Sign in', person))
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, signInSome))
  return browsers
}

/** It runs on Node, signs in whoever comes to it, and sends them back by whole addresses. */
async function startOidcProvider(bench: Bench) {
  if (Bun.which('node') === null) throw new Error('node is not installed: apt-get install nodejs')
  const { client_id, redirect_uri } = other
  const { url } = await startRival(['node', join(import.meta.dir, '../rivals/oidc-provider.mjs')], {
    DATABASE_URL: await bench.newDatabase(),
    CLIENT: JSON.stringify({ client_id, client_secret: SECRET, redirect_uris: [redirect_uri] }),
  })
  const browsers = Array.from({ length: CLIENTS }, () => openBrowser(url, { host: new URL(url).host }))
  for (const browser of browsers) {
    await browser.open(authorizeAddress(newVerifier(), other))
    await browser.open(new URL(browser.left ?? '').pathname)
  }
  return { url, browsers }
}

export async function measureHandOver(bench: Bench) {
  const applications = [{ id: own.client_id, name: 'Web', redirect_uris: [REDIRECT] }, entry(other.client_id)]
  const settings = { pages: { enabled: true, applications } }
  const { url } = await bench.startPoterne({ accounts: BROWSERS, cheapPasswords: true, settings })
  const here = { url, browsers: await signIn(url) }
  const rival = await startOidcProvider(bench)
  let next = 0
  const handOvers = (application: typeof own, at = here, seconds = bench.seconds) =>
    ratePerSecond(CLIENTS, seconds, () =>
      handOver(at.url, at.browsers[next++ % at.browsers.length]!, application),
    )
  await handOvers(other, rival, bench.warmupSeconds)
  for (const application of [own, other]) await handOvers(application, here, bench.warmupSeconds)
  const lines = [
    await compare(bench, {
      what: `sign-ins of another program (authorize, token with secret, userinfo), ${CLIENTS} at once`,
      ...{ rival: 'hand-overs of an own application (authorize, token)', atLeast: 0.4 },
      ours: () => handOvers(other),
      theirs: () => handOvers(own),
    }),
    await compare(bench, {
      ...{ what: 'the same sign-ins', rival: 'oidc-provider 9.13.3 on Node', atLeast: 3 },
      ours: () => handOvers(other),
      theirs: () => handOvers(other, rival),
    }),
  ]
  const some = here.browsers.slice(0, CLIENTS)
  const tokens = await Promise.all(some.map((browser) => handOver(url, browser, other)))
  const asUserinfo = reads('/oauth2/userinfo', tokens)
  const asMe = await ownAccount(url, CLIENTS)
  for (const traffic of [asUserinfo, asMe]) await bench.load(url, traffic, { seconds: bench.warmupSeconds })
  const read = await compare(bench, {
    ...{ what: `userinfo, ${CLIENTS} clients`, rival: 'GET me', atLeast: 0.8 },
    ours: () => bench.rate(url, asUserinfo),
    theirs: () => bench.rate(url, asMe),
  })
  return [...lines, read]
}
