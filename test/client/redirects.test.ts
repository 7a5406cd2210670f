/** The client package on its way to the hosted pages and back. */
import { describe, expect, test } from 'bun:test'
import { type ClientStorage, createClient, type PoterneError } from '../../src/client/index.ts'
import { REDIRECT, signedInBrowser } from '../helpers/hand-over.ts'
import { openBrowser } from '../helpers/page-browser.ts'
import { useService } from '../helpers/use-service.ts'

const BASE_URL = 'https://auth.example.com'

const service = useService({
  shape: 'redis',
  settings: {
    server: { base_url: BASE_URL },
    pages: { enabled: true, applications: [{ id: 'web', name: 'Web', redirect_uris: [REDIRECT] }] },
  },
})

/** The reverse proxy. */
const there = (address: string) => address.replace(BASE_URL, service.url)
const fetchThere: typeof fetch = ((address: string, init: RequestInit) =>
  fetch(there(address), init)) as never

function newClient(kept = new Map<string, string>()) {
  const storage: ClientStorage = {
    getItem: (name) => Bun.sleep(1).then(() => kept.get(name)),
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
  }
  return { kept, auth: createClient({ url: BASE_URL, storage, fetch: fetchThere }) }
}

const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error) as Promise<PoterneError>
const start = (auth: ReturnType<typeof createClient>, more = {}) =>
  auth.startRedirect({ application: 'web' }, { redirectUri: REDIRECT, ...more })

/** The address at which the browser comes back. */
async function comeBack(address: string): Promise<string> {
  const { browser } = await signedInBrowser(service)
  browser.left = null
  await browser.open(address.slice(BASE_URL.length))
  return browser.left!
}

describe('a redirect to the hosted pages', () => {
  test('comes back signed in, with a session that refreshes and ends', async () => {
    const { auth, kept } = newClient()
    const step = await auth.completeRedirect(await comeBack(await start(auth)))
    expect(step?.account?.uuid).toBe(auth.state.account!.uuid)
    expect([...kept.keys()]).toEqual(['poterne'])
    service.clock.advance(16 * 60_000)
    expect((await auth.reload()).uuid).toBe(step!.account!.uuid)
    expect(await auth.signOut()).toBe(true)
  })

  test('is taken once, and only where it began', async () => {
    const { auth } = newClient()
    const address = await comeBack(await start(auth))
    expect(await newClient().auth.completeRedirect(address)).toBeNull()
    expect(await auth.completeRedirect(address.replace(/state=[^&]+/, 'state=foreign'))).toBeNull()
    expect((await auth.completeRedirect(address))?.account).toBeDefined()
    expect(await auth.completeRedirect(address)).toBeNull()
    expect(await auth.completeRedirect('https://app.example.com/')).toBeNull()
    const twice = await comeBack(await start(auth))
    const steps = await Promise.all([auth.completeRedirect(twice), auth.completeRedirect(twice)])
    expect(steps.map((step) => step?.account !== undefined)).toEqual([true, false])
  })

  test('two at a time do not disturb each other, and one is forgotten after ten minutes', async () => {
    const { auth, kept } = newClient()
    const [first, second] = await Promise.all([start(auth), start(auth)])
    for (const address of [second, first])
      expect((await auth.completeRedirect(await comeBack(address)))?.account).toBeDefined()
    const late = await comeBack(await start(auth))
    const begun = JSON.parse(kept.get('poterne.redirect')!) as Record<string, { began: number }>
    for (const each of Object.values(begun)) each.began -= 10 * 60_000
    kept.set('poterne.redirect', JSON.stringify(begun))
    expect(await auth.completeRedirect(late)).toBeNull()
  })

  test('from a foreign issuer, or with an error, fails, and its verifier is used up', async () => {
    const { auth } = newClient()
    const address = await comeBack(await start(auth))
    const foreign = address.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example')
    expect(await failure(auth.completeRedirect(foreign))).toMatchObject({ code: 'redirect_failed' })
    expect(await auth.completeRedirect(address)).toBeNull()
    const stranger = openBrowser(service.url)
    await stranger.open((await start(auth, { prompt: 'none' })).slice(BASE_URL.length))
    expect(await failure(auth.completeRedirect(stranger.left!))).toMatchObject({
      code: 'redirect_failed',
      details: { error: 'login_required' },
    })
    expect(auth.state.status).toBe('signed_out')
  })
})
