/**
 * The client of poterne for browsers, React Native and servers: it signs people in, keeps their tokens, refreshes them
 * in time, and turns every failure into a PoterneError. docs/client-package.md tells how to use it.
 */
import type { Account, Passkey } from './api.ts'
import { PoterneError } from './error.ts'
import { browserPasskeys, type PasskeyEngine, tellAccepted, tellUnknown } from './passkeys.ts'
import { createRedirects, type Destination, formOf, type RedirectOptions } from './redirect.ts'
import type { AnswerOf, BodyOf, Method, PathOf, WithoutOurs } from './routes.ts'
import { type Answer, createSend, type Fetch, type Sent, sendAgain, withoutSlash } from './send.ts'
import { createSession, isOver, isSame, type Kept, type State, sidOf } from './session.ts'
import { type ClientStorage, createStorage, parse } from './storage.ts'

export interface ClientOptions {
  /** `https://auth.example.com`: `server.base_url` of the service. */
  url: string
  /** The origins of your own services, to which `fetch` may send the access token. */
  services?: string[]
  /** By default the browser's `localStorage`, elsewhere memory. */
  storage?: ClientStorage
  /** The first part of the names in the storage. */
  key?: string
  /** One of `languages` of `GET settings`. By default what the browser sends. */
  language?: string
  /** By which people recognise this device in the list of their sessions. */
  device?: { device_type?: 'Mobile' | 'Tablette' | 'Navigateur'; device_name?: string; device_os?: string }
  fetch?: Fetch
  passkeys?: PasskeyEngine
  /** Told once where the storage failed: everything is in memory then. */
  onProblem?: (problem: PoterneError) => void
}

/** What `finish` needs, beside what the page shows. */
export interface TwoFactor {
  methods: string[]
  sent_to: string | null
  expires_in: number
  login_token: string
  identifier: string
}

/** `twoFactor` is there where a second factor is due. */
export type Step =
  | { account: Account; twoFactor?: never; message?: never }
  | { account?: never; twoFactor: TwoFactor; message: string }

export interface Proof {
  password?: string
  otp?: string
}

export type Client = ReturnType<typeof createClient>

const API = '/api/v1/auth/'
/** A token that is younger than this was not refused for its age. */
const YOUNG_MS = 10_000

export function createClient(options: ClientOptions) {
  const { key = 'poterne', services = [], device, passkeys = browserPasskeys } = options
  const url = withoutSlash(options.url)
  const fetch: Fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init))
  const send = createSend(url, options.language, fetch)
  const storage = createStorage(options.storage, options.onProblem ?? (() => {}))
  const redirects = createRedirects(url, `${key}.redirect`, storage)
  const session = createSession({
    key,
    storage,
    isShared: options.storage === undefined,
    refresh: async (refresh_token) =>
      send('POST', `${API}refresh`, { body: { refresh_token, ...(await readDevice()) } }),
  })

  interface Device {
    device_fingerprint?: string
    device_token?: string
  }

  /** Made once and kept: what strangers do elsewhere then never refuses the owner of this device. */
  const readDevice = () =>
    storage.inTurn(async (): Promise<Device> => {
      const kept = parse<Device>(await storage.read(`${key}.device`)) ?? {}
      if (kept.device_fingerprint !== undefined || typeof crypto === 'undefined') return kept
      const bytes = [...crypto.getRandomValues(new Uint8Array(16))]
      const device_fingerprint = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
      await storage.write(`${key}.device`, JSON.stringify({ ...kept, device_fingerprint }))
      return { ...kept, device_fingerprint }
    })

  /** Never with an access token. */
  const post = async (path: string, body: Answer) =>
    send('POST', API + path, { body: { ...device, ...(await readDevice()), ...complete(body) } })

  async function settle(answer: Answer, identifier?: unknown): Promise<Step> {
    const { two_factor, device_token, account, message } = answer
    if (two_factor)
      return { twoFactor: { identifier, ...(two_factor as object) } as TwoFactor, message: message as string }
    if (device_token)
      await storage.write(`${key}.device`, JSON.stringify({ ...(await readDevice()), device_token }))
    await session.keep(answer)
    return { account: account as Account }
  }

  /** Everything that is sent in a session: `held` is null where nobody is signed in. */
  async function inSession(held: Kept | null, method: string, path: string, body?: Answer): Promise<Answer> {
    let present = held
    const request = () => send(method, API + path, inNameOf(present, path, body))
    const go = () => (method === 'GET' ? sendAgain(request) : request())
    try {
      return await go()
    } catch (error) {
      if (!held || !isOver(error)) throw error
      present = await session.refreshed(held)
      return go()
    }
  }

  async function call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    body?: BodyOf<M, P>,
  ): Promise<AnswerOf<M, P>> {
    return (await inSession(await session.fresh(), method, path, body as Answer)) as AnswerOf<M, P>
  }

  async function reload(): Promise<Account> {
    const held = await session.required()
    const { account } = (await inSession(held, 'GET', 'me')) as { account: Account }
    const kept = await session.update((now) => (now && isSame(now, held) ? { ...now, account } : undefined))
    if (!kept || !isSame(kept, held)) throw new PoterneError('signed_out')
    return account
  }

  async function fetchService(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const text = String(address)
    if (!services.some((origin) => text.startsWith(`${withoutSlash(origin)}/`)))
      throw new PoterneError('not_a_service', { message: `${text} is in none of the services` })
    const held = await session.required()
    const go = ({ access_token }: Kept) =>
      fetch(text, {
        ...init,
        headers: { ...listed(init.headers), authorization: `Bearer ${access_token}` },
      })
    const response = await go(held)
    const isOld = Date.now() - held.came > YOUNG_MS
    if (response.status !== 401 || !isOld || isStream(init.body)) return response
    return go(await session.refreshed(held))
  }

  async function signInWithPasskey(how: { conditional?: boolean; signal?: AbortSignal } = {}): Promise<Step> {
    const { options } = await send('POST', `${API}passkeys/login/options`, { body: {} })
    const credential = await passkeys.get(options as Answer, {
      ...(how.conditional && { mediation: 'conditional' as const }),
      ...(how.signal && { signal: how.signal }),
    })
    try {
      const step = await settle(await post('passkeys/login', { credential }))
      await tellPasskeys()
      return step
    } catch (error) {
      await tellUnknown(error)
      throw error
    }
  }

  /** Only right after a sign-in and after a removal. It is a courtesy to the browser, and fails in silence. */
  const tellPasskeys = () => call('GET', 'passkeys').then(tellAccepted, () => {})

  async function addPasskey({
    name = null,
    ...proof
  }: Proof & { name?: string | null } = {}): Promise<Passkey> {
    const held = await session.required()
    const { options } = await inSession(held, 'POST', 'passkeys/registration/options', proof as Answer)
    const credential = await passkeys.create(options as Answer)
    return (await inSession(held, 'POST', 'passkeys/registration', { credential, name })).passkey as Passkey
  }

  async function removePasskey(id: string, proof: Proof = {}): Promise<void> {
    const path = `passkeys/${encodeURIComponent(id)}/remove`
    await inSession(await session.required(), 'POST', path, proof as Answer)
    await tellPasskeys()
  }

  async function startRedirect(to: Destination, where: RedirectOptions): Promise<string> {
    const linking = 'provider' in to && to.link
    return redirects.start(to, where, linking ? sidOf(await session.required()) : undefined)
  }

  async function completeRedirect(address?: string, body: Answer = {}): Promise<Step | null> {
    const back = await redirects.take(address)
    if (!back) return null
    const { code, verifier: code_verifier, application, provider, redirectUri } = back
    if (application !== undefined) {
      const form = { grant_type: 'authorization_code', client_id: application, redirect_uri: redirectUri }
      return settle(await send('POST', '/oauth2/token', { body: formOf({ ...form, code, code_verifier }) }))
    }
    if (!back.link) return settle(await post('social/exchange', { ...body, code, code_verifier }))
    const held = await session.required()
    if (sidOf(held) !== back.sid) throw new PoterneError('signed_out')
    await inSession(held, 'POST', `identities/${provider}`, { ...body, code, code_verifier })
    return { account: await reload() }
  }

  async function confirm(
    body: WithoutOurs<'verify-account'>,
  ): Promise<{ message: string; account?: Account }> {
    const answer = await post('verify-account', { sign_in: 'password' in body, ...body })
    const { message } = answer as { message: string }
    return answer.access_token ? ({ message, ...(await settle(answer)) } as { message: string }) : { message }
  }

  /** Forgets first: what the service answers changes nothing here. False where it did not hear of it. */
  async function signOut({ everywhere = false } = {}): Promise<boolean> {
    let held: Kept | null = null
    await session.update((now) => {
      held = now
      return null
    })
    if (!held) return true
    const { access_token: token, refresh_token } = held as Kept
    try {
      if (everywhere) await endAll(token, refresh_token)
      else await send('POST', `${API}logout`, { body: { refresh_token }, token })
      return true
    } catch {
      return false
    }
  }

  async function endAll(token: string, refresh_token: string): Promise<void> {
    const end = (access: string) => send('POST', `${API}logout-all`, { body: {}, token: access })
    try {
      await end(token)
    } catch (error) {
      if (!isOver(error)) throw error
      await end((await post('refresh', { refresh_token })).access_token as string)
    }
  }

  type Said = Promise<{ message: string }>

  return {
    get state(): State {
      return session.getState()
    },
    subscribe: session.subscribe,
    call,
    fetch: fetchService,
    accessToken: async () => (await session.required()).access_token,
    reload,
    signOut,
    register: (body: WithoutOurs<'register'>) => post('register', body) as Said,
    confirm,
    resendConfirmation: (body: WithoutOurs<'resend-confirmation'>) =>
      post('resend-confirmation', body) as Said,
    signIn: async (body: WithoutOurs<'login'>) => settle(await post('login', body), body.identifier),
    requestCode: (body: WithoutOurs<'2fa/request-otp'>) => post('2fa/request-otp', body) as Said,
    signInByCode: async (body: WithoutOurs<'2fa/verify'>) =>
      settle(await post('2fa/verify', body), body.identifier),
    finish: async (
      { identifier, login_token }: Pick<TwoFactor, 'identifier' | 'login_token'>,
      body: { otp: string; trust_device?: boolean },
    ) => settle(await post('2fa/verify', { identifier, login_token, ...body }), identifier),
    forgotPassword: (body: WithoutOurs<'password/forgot'>) => post('password/forgot', body) as Said,
    resetPassword: (body: WithoutOurs<'password/reset'>) => post('password/reset', body) as Said,
    signInWithPasskey,
    addPasskey,
    removePasskey,
    startRedirect,
    completeRedirect,
  }
}

/** The service wants a new password twice; people here type it once. */
const complete = (body: Answer): Answer =>
  body.password === undefined ? body : { password_confirmation: body.password, ...body }

/**
 * What is written in a session carries its refresh token, which stands for the password of an account that has none; an
 * export asks for it in a header.
 */
function inNameOf(held: Kept | null, path: string, body: Answer | undefined): Sent {
  const { access_token: token, refresh_token } = held ?? {}
  return {
    token,
    body: body && { refresh_token, ...complete(body) },
    ...(refresh_token && path.startsWith('me/export') && { headers: { 'x-refresh-token': refresh_token } }),
  }
}

/** The headers as an object: `Headers` is not there in every engine. */
function listed(headers: RequestInit['headers']): Record<string, string> {
  const entries = (headers as { entries?(): Iterable<[string, string]> } | undefined)?.entries
  if (Array.isArray(headers)) return Object.fromEntries(headers)
  return entries ? Object.fromEntries(entries.call(headers)) : { ...(headers as Record<string, string>) }
}

/** It was read by the first try. */
const isStream = (body: unknown) => ['getReader', Symbol.asyncIterator].some((each) => each in Object(body))
