/**
 * The client of poterne for browsers, React Native and servers: it signs people in, keeps their tokens, refreshes them
 * in time, and turns every failure into a PoterneError. docs/client-package.md tells how to use it.
 */
import type { Account } from './api.ts'
import { PoterneError } from './error.ts'
import { createServiceFetch } from './fetch-service.ts'
import { browserPasskeys, createPasskeys, type PasskeyEngine } from './passkeys.ts'
import { createRedirects, type Destination, formOf, type RedirectOptions } from './redirect.ts'
import type { AnswerOf, BodyOf, Method, PathOf, WithoutOurs } from './routes.ts'
import { type Answer, API, createSend, type Fetch, type Sent, sendAgain, withoutSlash } from './send.ts'
import { createSession, isOver, isSame, type Kept, type State, sidOf } from './session.ts'
import { deviceOf, type Step, type TwoFactor } from './sign-in.ts'
import { createSignOut } from './sign-out.ts'
import { type ClientStorage, createStorage } from './storage.ts'

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

export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions) {
  const { key = 'poterne', services = [], device, passkeys = browserPasskeys } = options
  const url = withoutSlash(options.url)
  const fetch: Fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init))
  const send = createSend(url, options.language, fetch)
  const storage = createStorage(options.storage, options.onProblem ?? (() => {}))
  const deviceKey = `${key}.device`
  const readDevice = () => deviceOf(storage, deviceKey)
  const refresh = async (refresh_token: string) =>
    send('POST', `${API}refresh`, { body: { refresh_token, ...(await readDevice()) } })
  const session = createSession({ key, storage, refresh, isShared: options.storage === undefined })
  const redirects = createRedirects(url, `${key}.redirect`, storage)

  /** Never with an access token. */
  const post = async (path: string, body: Answer) =>
    send('POST', API + path, {
      body: { ...device, ...(await readDevice()), ...complete(body) },
    })

  async function settle(answer: Answer, identifier?: unknown): Promise<Step> {
    const { two_factor, device_token, account, message } = answer
    if (two_factor)
      return { twoFactor: { identifier, ...(two_factor as object) } as TwoFactor, message: message as string }
    if (device_token)
      await storage.write(deviceKey, JSON.stringify({ ...(await readDevice()), device_token }))
    await session.keep(answer)
    return { account: account as Account }
  }

  const signIn = async (path: string, body: Answer) => settle(await post(path, body), body.identifier)

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
    const kept = await session.update((now) => (isSame(now, held) ? { ...now, account } : undefined))
    if (!isSame(kept, held)) throw new PoterneError('signed_out')
    return account
  }

  async function startRedirect(to: Destination, where: RedirectOptions): Promise<string> {
    const linking = 'provider' in to && to.link
    return redirects.start(to, where, linking ? sidOf(await session.required()) : undefined)
  }

  async function completeRedirect(address?: string, body: Answer = {}): Promise<Step | null> {
    const back = await redirects.take(address)
    if (!back) return null
    const {
      code,
      verifier: code_verifier,
      application: client_id,
      provider,
      redirectUri: redirect_uri,
    } = back
    if (client_id !== undefined) {
      const form = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier }
      return settle(await send('POST', '/oauth2/token', { body: formOf(form) }))
    }
    if (!back.link) return signIn('social/exchange', { ...body, code, code_verifier })
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

  type Said = Promise<{ message: string }>

  return {
    get state(): State {
      return session.getState()
    },
    subscribe: session.subscribe,
    call,
    fetch: createServiceFetch(session, services, fetch),
    accessToken: async () => (await session.required()).access_token,
    reload,
    signOut: createSignOut(session, send, refresh),
    register: (body: WithoutOurs<'register'>) => post('register', body) as Said,
    confirm,
    resendConfirmation: (body: WithoutOurs<'resend-confirmation'>) =>
      post('resend-confirmation', body) as Said,
    signIn: (body: WithoutOurs<'login'>) => signIn('login', body),
    requestCode: (body: WithoutOurs<'2fa/request-otp'>) => post('2fa/request-otp', body) as Said,
    signInByCode: (body: WithoutOurs<'2fa/verify'>) => signIn('2fa/verify', body),
    finish: async (
      { identifier, login_token }: Pick<TwoFactor, 'identifier' | 'login_token'>,
      body: { otp: string; trust_device?: boolean },
    ) => signIn('2fa/verify', { identifier, login_token, ...body }),
    forgotPassword: (body: WithoutOurs<'password/forgot'>) => post('password/forgot', body) as Said,
    resetPassword: (body: WithoutOurs<'password/reset'>) => post('password/reset', body) as Said,
    ...createPasskeys(send, session, inSession, signIn, passkeys),
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
