/**
 * Complete hand-overs by browsers that are signed in: those of an own application, those of one of somebody else with a secret
 * and an ID token, the same ones at `oidc-provider`, and what the access token opens against `GET me`.
 */
import { join } from 'node:path'
import {
  basic,
  codeFor,
  entry,
  openIdAddress,
  REDIRECT,
  redeemBySecret,
  SECRET,
} from '../../../test/helpers/hand-over.ts'
import { openBrowser, type PageBrowser } from '../../../test/helpers/page-browser.ts'
import { emailOf, PASSWORD } from '../accounts.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { startChild } from '../children.ts'
import type { HandedOver, HandOverQuestion } from '../hand-over-process.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import { startOidcProvider } from '../rivals.ts'
import { compareInRounds, type Row } from '../row.ts'
import { openSessions, ownAccount, reads } from '../traffic.ts'

const HOST = 'auth.bench'
const SCOPE = 'openid profile email'

const own: HandedOver = { id: 'web', redirectUri: REDIRECT, scope: '', authorization: null }
const other: HandedOver = {
  id: 'grafana',
  redirectUri: 'https://grafana.example.com/in',
  scope: SCOPE,
  ...basic('grafana'),
}

async function signIn(url: string) {
  const browsers = []
  for (let n = 1; n <= CLIENTS; n++) {
    const browser = await openBrowser(url, { host: HOST }).open('/sign-in')
    browsers.push(await browser.press('Sign in', { identifier: emailOf(n), password: PASSWORD }))
  }
  return browsers
}

const cookiesOf = ({ cookies }: PageBrowser) => [...cookies].map((pair) => pair.join('=')).join('; ')

/** It signs in whoever comes to it, and sends them back by whole addresses. */
async function signInAtRival(url: string) {
  const browsers = Array.from({ length: CLIENTS }, () => openBrowser(url, { host: new URL(url).host }))
  for (const browser of browsers) {
    await browser.open(openIdAddress(other.id, { scope: SCOPE }))
    await browser.open(new URL(browser.left ?? '').pathname)
  }
  return browsers
}

export const handOverRow: Row = {
  name: 'hand-over',
  async measure(bench: Bench) {
    const applications = [{ id: own.id, name: 'Web', redirect_uris: [REDIRECT] }, entry(other.id)]
    const settings = { pages: { enabled: true, applications } }
    const poterne = await bench.startPoterne({ accounts: 1000, cheapPasswords: true, settings })
    const { url } = poterne
    const browsers = await signIn(url)
    const rival = await startOidcProvider(bench, {
      client_id: other.id,
      client_secret: SECRET,
      redirect_uris: [other.redirectUri],
    })
    const atPoterne = { url, host: HOST, cookies: browsers.map(cookiesOf) }
    const atRival = { url: rival.url, host: HOST, cookies: (await signInAtRival(rival.url)).map(cookiesOf) }
    const child = await startChild([process.execPath, join(import.meta.dir, '../hand-over-process.ts')])
    const handOvers = (application: HandedOver, seconds = bench.seconds, at = atPoterne) => {
      const question: HandOverQuestion = { ...at, application, seconds }
      return child.ask<number>(question)
    }
    await handOvers(other, bench.warmupSeconds, atRival)
    for (const application of [own, other]) await handOvers(application, bench.warmupSeconds)
    const lines = [
      await compareInRounds(bench, {
        row: 'hand-over',
        what: `sign-ins of another program (authorize, token with secret, userinfo), ${CLIENTS} sessions`,
        rival: 'hand-overs of an own application (authorize, token)',
        ours: () => handOvers(other),
        theirs: () => handOvers(own),
        goal: { atLeast: 0.4 },
      }),
      await compareInRounds(bench, {
        row: 'hand-over',
        what: 'the same sign-ins',
        rival: 'oidc-provider 9.13.3 on Node',
        ours: () => handOvers(other),
        theirs: () => handOvers(other, bench.seconds, atRival),
        goal: { atLeast: 3 },
      }),
    ]
    const given: string[] = []
    for (const browser of browsers) {
      const code = await codeFor(browser, other.id, { scope: SCOPE })
      given.push((await redeemBySecret(poterne, other.id, code)).body.access_token)
    }
    const asUserinfo = reads(
      '/oauth2/userinfo',
      given.map((token) => ({ authorization: `Bearer ${token}` })),
    )
    const asMe = ownAccount((await openSessions(url, CLIENTS)).map(({ access_token }) => access_token))
    const load = async (traffic: Traffic, seconds = bench.seconds) =>
      requireStatuses(await bench.load({ url, traffic, connections: CLIENTS, seconds }), [200], 'reads').rate
    for (const traffic of [asUserinfo, asMe]) await load(traffic, bench.warmupSeconds)
    const read = await compareInRounds(bench, {
      row: 'hand-over',
      what: `userinfo, ${CLIENTS} clients`,
      rival: 'GET me',
      ours: () => load(asUserinfo),
      theirs: () => load(asMe),
      goal: { atLeast: 0.8 },
    })
    await Promise.all([poterne.stop(), rival.end(), child.end()])
    return [...lines, read]
  },
}
