/** A browser and an app that sign in through a provider, over plain HTTP: redirects are followed one by one. */
import { createHash, randomBytes } from 'node:crypto'
import type { Answer } from './api-client.ts'
import { startPretendProvider } from './pretend-provider.ts'
import { mergeSettings, type Settings, startService, type TestService } from './service.ts'
import { use } from './use-service.ts'

export const APP = 'https://app.example.com/signed-in'

/** Settings with one [[social.providers]] for each issuer, named p1, p2, …, authoritative for every address. */
export const socialSettings = (...issuers: string[]): Settings => ({
  social: {
    redirect_uris: [APP, 'com.example.app:/signed-in'],
    providers: issuers.map((issuer, index) => ({
      name: `p${index + 1}`,
      issuer,
      client_id: 'poterne',
      client_secret: 'hunterTwo',
      authoritative_for: ['*'],
    })),
  },
})

/** A provider, and a service with these settings on which people sign in through it as `p1`. */
export function useSocial(settings: Settings = {}) {
  const provider = use(startPretendProvider)
  const service = use(
    () => startService({ settings: mergeSettings(settings, socialSettings(provider.issuer)) }),
    provider,
  )
  return { provider, service }
}

export interface Pkce {
  verifier: string
  challenge: string
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export interface Begun {
  /** The browser was sent there. */
  location: URL
  /** `name=value`. */
  cookie: string
  setCookie: string
}

export interface Callback {
  status: number
  /** The browser was sent back there; null where it was not. */
  location: URL | null
  answer: Answer['body']
  setCookie: string | null
}

export function createSocialBrowser(service: Pick<TestService, 'url' | 'post'>) {
  /** The service as the browser knows it is at base_url; here it is at its true address. */
  const here = (url: URL) => `${service.url}${url.pathname}${url.search}`

  async function begin(provider: string, pkce: Pkce, query: Record<string, string> = {}): Promise<Begun> {
    const parameters = new URLSearchParams({ redirect_uri: APP, code_challenge: pkce.challenge, ...query })
    const response = await fetch(`${service.url}/api/v1/auth/social/${provider}/authorize?${parameters}`, {
      redirect: 'manual',
    })
    if (response.status !== 302) throw new Error(`${response.status}: ${await response.text()}`)
    const setCookie = response.headers.get('set-cookie')!
    return {
      location: new URL(response.headers.get('location')!),
      cookie: setCookie.split(';')[0]!,
      setCookie,
    }
  }

  /** The provider's redirect back to the service. */
  async function visit(location: URL): Promise<URL> {
    const response = await fetch(location, { redirect: 'manual' })
    return new URL(response.headers.get('location')!)
  }

  async function comeBack(callback: URL, cookie: string | null): Promise<Callback> {
    const response = await fetch(here(callback), {
      redirect: 'manual',
      headers: cookie === null ? {} : { cookie },
    })
    const location = response.headers.get('location')
    const text = await response.text()
    return {
      status: response.status,
      location: location === null ? null : new URL(location),
      answer: text === '' ? null : JSON.parse(text),
      setCookie: response.headers.get('set-cookie'),
    }
  }

  /** Walks from the button to the app; gives what the app got. */
  async function walk(provider: string, pkce: Pkce, query: Record<string, string> = {}): Promise<URL> {
    const { location, cookie } = await begin(provider, pkce, query)
    const back = await comeBack(await visit(location), cookie)
    if (back.location === null) throw new Error(`${back.status}: ${JSON.stringify(back.answer)}`)
    return back.location
  }

  const exchange = (code: string, verifier: string, device: Record<string, string> = {}) =>
    service.post('social/exchange', { code, code_verifier: verifier, ...device })

  /** The answer of the exchange. */
  async function signIn(provider = 'p1', device: Record<string, string> = {}): Promise<Answer> {
    const pkce = newPkce()
    const app = await walk(provider, pkce)
    const code = app.searchParams.get('code')
    if (code === null) throw new Error(`no code: ${app.search}`)
    return exchange(code, pkce.verifier, device)
  }

  /** A code that was not exchanged yet, and its verifier. */
  async function obtainCode(provider = 'p1'): Promise<{ code: string; code_verifier: string }> {
    const pkce = newPkce()
    const app = await walk(provider, pkce)
    return { code: app.searchParams.get('code')!, code_verifier: pkce.verifier }
  }

  return { begin, visit, comeBack, walk, exchange, signIn, obtainCode }
}

export type SocialBrowser = ReturnType<typeof createSocialBrowser>
