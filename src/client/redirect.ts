/** Leaving for the hosted pages or for a provider, and coming back, by the code flow with PKCE. */
import { PoterneError } from './error.ts'
import type { Answer } from './send.ts'
import { parse, type Storage } from './storage.ts'

export type Destination = { application: string } | { provider: string; link?: boolean }

export interface RedirectOptions {
  redirectUri: string
  /** For the hosted pages: `none`, `login`, `create`. */
  prompt?: string
}

/** What was begun: kept for ten minutes, and used once. */
export interface Begun {
  application?: string
  provider?: string
  link?: boolean
  redirectUri: string
  verifier: string
  began: number
  /** The session that links. */
  sid?: string
}

export interface CameBack extends Begun {
  code: string
}

declare const location: { href: string }
declare const history: { state: unknown; replaceState(state: unknown, title: string, address: URL): void }

const KEPT_MS = 10 * 60_000
const NAMES = ['state', 'code', 'iss', 'error']

export function createRedirects(url: string, key: string, storage: Storage) {
  const readBegun = async () => {
    const begun = parse<Record<string, Begun>>(await storage.read(key)) ?? {}
    return Object.entries(begun).filter(([, { began }]) => Date.now() - began < KEPT_MS)
  }
  const write = (begun: [string, Begun][]) =>
    storage.write(key, begun.length > 0 ? JSON.stringify(Object.fromEntries(begun)) : null)

  async function start(to: Destination, { redirectUri, prompt }: RedirectOptions, sid: string | undefined) {
    requireEngine('URLSearchParams', 'TextEncoder', 'btoa', 'crypto')
    if (!crypto.subtle) throw new PoterneError('unsupported')
    const [verifier, state] = [random(), random()]
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
    const mine: Begun = { ...to, redirectUri, verifier, began: Date.now(), ...(sid && { sid }) }
    await storage.inTurn(async () => write([...(await readBegun()), [state, mine]]))
    const query = new URLSearchParams({
      redirect_uri: redirectUri,
      code_challenge: base64url(new Uint8Array(digest)),
      state,
    })
    if ('provider' in to)
      return `${url}/api/v1/auth/social/${encodeURIComponent(to.provider)}/authorize?${query}`
    query.set('response_type', 'code')
    query.set('client_id', to.application)
    query.set('code_challenge_method', 'S256')
    if (prompt) query.set('prompt', prompt)
    return `${url}/oauth2/authorize?${query}`
  }

  /** Null where this address answers nothing that was begun here. By default it is the page's. */
  async function take(given: string | undefined): Promise<CameBack | null> {
    requireEngine('URL', ...(given == null ? ['location'] : []))
    const address = new URL(given ?? location.href)
    const [state, code, iss, error] = NAMES.map((name) => address.searchParams.get(name))
    const mine = await storage.inTurn(async () => {
      const begun = await readBegun()
      const found = begun.find(([each]) => each === state)
      if (found) await write(begun.filter((each) => each !== found))
      return found?.[1]
    })
    if (!mine) return null
    if (given == null) clean(address)
    const isForeign = iss != null && iss !== url && iss !== `${url}/oauth2`
    if (isForeign || error != null || code == null)
      throw new PoterneError('redirect_failed', { details: { error: isForeign ? 'foreign_issuer' : error } })
    return { ...mine, code }
  }

  return { start, take }
}

/** The code is not for the history, nor for whoever gets a copied address. */
function clean(address: URL): void {
  for (const name of [...NAMES, 'error_description']) address.searchParams.delete(name)
  history.replaceState(history.state, '', address)
}

function requireEngine(...names: string[]): void {
  if (names.some((name) => !(name in globalThis))) throw new PoterneError('unsupported')
}

export const formOf = (fields: Answer): string =>
  new URLSearchParams(fields as Record<string, string>).toString()

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
