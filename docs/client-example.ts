/**
 * A client for the browser, React Native, Node or Bun: copy it and make it yours. Beside the language it needs `fetch`
 * and `setTimeout`, and for passkeys a browser. It knows the two outcomes of a login, keeps the tokens in the store you
 * give it, refreshes them when they are too old, and turns every failure into one `PoterneError`.
 */

export interface Tokens {
  access_token: string
  refresh_token: string
}

/** Where the tokens are kept: docs/clients.md says what suits which platform. */
export interface TokenStore {
  read(): Promise<Tokens | null> | Tokens | null
  write(tokens: Tokens | null): Promise<void> | void
}

/** The fields an application mostly needs; the documentation at /swagger names all 24. */
export interface Account {
  id: number
  uuid: string
  email: string | null
  phone: string | null
  role_id: number
  two_factor_enabled: boolean
}

export interface TwoFactorDue {
  /** `email` and `sms`: a code is on its way; `totp`: the authenticator app shows it; `recovery_code`: nothing else serves. */
  methods: string[]
  sent_to: string | null
  expires_in: number
  /** Stands for the password in `finishLogIn`. */
  login_token: string
}

/** What the service says and what the browser answers go through unchanged, as WebAuthn writes them in JSON. */
interface Browser {
  navigator: {
    credentials: {
      get(options: object): Promise<{ toJSON(): unknown } | null>
      create(options: object): Promise<{ toJSON(): unknown } | null>
    }
  }
  PublicKeyCredential: {
    parseRequestOptionsFromJSON(options: object): object
    parseCreationOptionsFromJSON(options: object): object
    signalUnknownCredential?(which: object): Promise<void>
    signalAllAcceptedCredentials?(which: object): Promise<void>
  }
}

/** Typed here, so that this file compiles where the types of browsers are not at hand. */
const browser = globalThis as unknown as Browser

export interface Passkey {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
}

export type LogInOutcome = { account: Account } | { twoFactor: TwoFactorDue; message: string }

export class PoterneError extends Error {
  readonly status: number
  /** Stable: decide by it. `message` is a sentence in the person's language: show it. */
  readonly code: string
  readonly fields: { field: string; code: string; message: string }[]
  readonly retryAfterSeconds: number | null
  readonly requestId: string | null
  /** With `unknown_passkey`: what the browser should forget. */
  readonly passkey: { rp_id: string; credential_id: string } | null

  constructor(status: number, body: Record<string, unknown>) {
    super(String(body.message ?? 'The service did not answer as expected'))
    this.status = status
    this.code = String(body.code ?? 'unexpected_answer')
    this.fields = (body.errors as PoterneError['fields'] | undefined) ?? []
    this.retryAfterSeconds = (body.retry_after as number | undefined) ?? null
    this.passkey = (body.passkey as PoterneError['passkey'] | undefined) ?? null
    this.requestId = (body.request_id as string | undefined) ?? null
  }
}

export interface ClientOptions {
  /** `https://auth.example.com` */
  baseUrl: string
  store: TokenStore
  /** One of `languages` of `GET settings`. */
  language?: string
  /** Shown to the person in the list of sessions. */
  device?: { device_type?: 'Mobile' | 'Tablette' | 'Navigateur'; device_name?: string; device_os?: string }
  /** Names this device, and nothing else: what strangers do elsewhere then never refuses its owner. */
  fingerprint?: string
  /** Nobody is signed in any more: show the login. */
  onSignedOut?: () => void
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/**
 * A random name for this device, made once and kept. Where there is no `localStorage` or `crypto`, as in React Native,
 * hand over a storage that answers at once and a function that makes a UUID.
 */
export function keptFingerprint(
  storage: { getItem(key: string): string | null; setItem(key: string, value: string): void } = localStorage,
  createUuid: () => string = () => crypto.randomUUID(),
): string {
  const key = 'poterne-device'
  const kept = storage.getItem(key) ?? createUuid()
  storage.setItem(key, kept)
  return kept
}

/** Pauses before a request that may be sent again is; the service says how long where it knows. */
const RETRY_SECONDS = [1, 3]

export function createClient(options: ClientOptions) {
  const { baseUrl, store, language = 'fr', onSignedOut, fetch = globalThis.fetch } = options
  const fingerprint = options.fingerprint === undefined ? {} : { device_fingerprint: options.fingerprint }
  const device = { ...options.device, ...fingerprint }
  let refreshing: Promise<Tokens> | null = null

  async function send<T>(method: string, path: string, body?: unknown, accessToken?: string): Promise<T> {
    const answer = await fetch(`${baseUrl}/api/v1/auth/${path}`, {
      method,
      headers: {
        'accept-language': language,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const content = (await answer.json().catch(() => ({}))) as Record<string, unknown>
    if (!answer.ok) throw new PoterneError(answer.status, content)
    return content as T
  }

  /** For what may be done twice: reading, and refreshing, whose answer is the same for a while. */
  async function sendAgain<T>(work: () => Promise<T>): Promise<T> {
    for (const pauseSeconds of RETRY_SECONDS) {
      try {
        return await work()
      } catch (error) {
        // What is no PoterneError came from fetch: no connection, or the answer was lost.
        if (error instanceof PoterneError && error.status !== 503) throw error
        const seconds = (error instanceof PoterneError && error.retryAfterSeconds) || pauseSeconds
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      }
    }
    return work()
  }

  /** One at a time; whoever comes meanwhile, in this tab or another, gets the same tokens. */
  function refresh(refused: Tokens): Promise<Tokens> {
    refreshing ??= renew(refused).finally(() => {
      refreshing = null
    })
    return refreshing
  }

  async function renew(refused: Tokens): Promise<Tokens> {
    const kept = await readTokens()
    // Another tab was faster.
    if (kept.access_token !== refused.access_token) return kept
    const { refresh_token } = kept
    try {
      const tokens = await sendAgain(() => send<Tokens>('POST', 'refresh', { refresh_token, ...fingerprint }))
      // Signed out meanwhile: the session of these tokens is over too.
      await readTokens()
      return await keep(tokens)
    } catch (error) {
      if (error instanceof PoterneError && error.status === 401 && (await store.read())) await signedOut()
      throw error
    }
  }

  async function readTokens(): Promise<Tokens> {
    const tokens = await store.read()
    if (tokens === null) throw new PoterneError(401, { code: 'signed_out', message: 'Nobody is signed in' })
    return tokens
  }

  async function keep({ access_token, refresh_token }: Tokens): Promise<Tokens> {
    const tokens = { access_token, refresh_token }
    await store.write(tokens)
    return tokens
  }

  async function signedOut(): Promise<void> {
    await store.write(null)
    onSignedOut?.()
  }

  /**
   * Any route that needs an access token: `call<Sessions>('GET', 'sessions')`, where the type is yours or a generator's.
   * Refreshes once where the token is refused.
   */
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const tokens = await readTokens()
    const request = (accessToken: string) => () => send<T>(method, path, body, accessToken)
    const go = (work: () => Promise<T>) => (method === 'GET' ? sendAgain(work) : work())
    try {
      return await go(request(tokens.access_token))
    } catch (error) {
      const refused =
        error instanceof PoterneError && (error.code === 'token_expired' || error.code === 'invalid_token')
      if (!refused) throw error
    }
    return go(request((await refresh(tokens)).access_token))
  }

  type LogInAnswer = (Tokens & { account: Account }) | { two_factor: TwoFactorDue; message: string }

  async function settle(answer: LogInAnswer): Promise<LogInOutcome> {
    if ('two_factor' in answer) return { twoFactor: answer.two_factor, message: answer.message }
    await keep(answer)
    return { account: answer.account }
  }

  /**
   * From a button, without arguments. For the list that the browser opens below the identifier, when the page has loaded:
   * `{ mediation: 'conditional', signal }`, and abort the signal before anything else is done.
   */
  async function signInWithPasskey(
    how: { mediation?: 'conditional'; signal?: AbortSignal } = {},
  ): Promise<Account> {
    const { options } = await send<{ options: object }>('POST', 'passkeys/login/options', {})
    const publicKey = browser.PublicKeyCredential.parseRequestOptionsFromJSON(options)
    const credential = (await browser.navigator.credentials.get({ ...how, publicKey }))?.toJSON()
    try {
      const answer = await send<Tokens & { account: Account }>('POST', 'passkeys/login', {
        credential,
        ...device,
      })
      await keep(answer)
      await tellBrowser()
      return answer.account
    } catch (error) {
      if (error instanceof PoterneError && error.passkey !== null) {
        const { rp_id: rpId, credential_id: credentialId } = error.passkey
        await browser.PublicKeyCredential.signalUnknownCredential?.({ rpId, credentialId }).catch(() => {})
      }
      throw error
    }
  }

  /** Shows the service that a sign-in of the last five minutes was ours. It is for no other service. */
  async function ownSession(): Promise<{ refresh_token: string }> {
    const { refresh_token } = await readTokens()
    return { refresh_token }
  }

  /**
   * `proof`: needed unless the sign-in of this session was less than five minutes ago and proved the same. A passkey that
   * was added without it confirms no changes in its first day.
   */
  async function addPasskey(
    proof: { password?: string; otp?: string } = {},
    name: string | null = null,
  ): Promise<Passkey> {
    const { options } = await call<{ options: object }>('POST', 'passkeys/registration/options', {
      ...proof,
      ...(await ownSession()),
    })
    const publicKey = browser.PublicKeyCredential.parseCreationOptionsFromJSON(options)
    const credential = (await browser.navigator.credentials.create({ publicKey }))?.toJSON()
    return (await call<{ passkey: Passkey }>('POST', 'passkeys/registration', { credential, name })).passkey
  }

  /** The browser hides passkeys that are gone here. Call it only right after a sign-in and after a removal. */
  async function tellBrowser(): Promise<void> {
    const { signal } = await call<{
      signal: { rp_id: string; user_id: string | null; credential_ids: string[] }
    }>('GET', 'passkeys')
    if (signal.user_id === null) return
    await browser.PublicKeyCredential.signalAllAcceptedCredentials?.({
      rpId: signal.rp_id,
      userId: signal.user_id,
      allAcceptedCredentialIds: signal.credential_ids,
    }).catch(() => {})
  }

  return {
    call,
    signInWithPasskey,
    addPasskey,
    async removePasskey(id: string, proof: { password?: string; otp?: string } = {}) {
      await call('DELETE', `passkeys/${id}`, { ...proof, ...(await ownSession()) })
      await tellBrowser()
    },
    register: (person: { email?: string; phone?: string; password: string }) =>
      send<{ message: string }>('POST', 'register', { ...person, password_confirmation: person.password }),
    /** With the password that the person chose, the code confirms the account and signs in at once. */
    confirm: async (identifier: string, otp: string, password?: string) => {
      if (password === undefined) {
        return send<{ message: string }>('POST', 'verify-account', { identifier, otp, ...fingerprint })
      }
      const body = { identifier, otp, password, sign_in: true, ...device }
      const answer = await send<Tokens & { account: Account; message: string }>(
        'POST',
        'verify-account',
        body,
      )
      await keep(answer)
      return { message: answer.message, account: answer.account }
    },
    resendConfirmation: (identifier: string) =>
      send<{ message: string }>('POST', 'resend-verification', { identifier, ...fingerprint }),
    logIn: async (identifier: string, password: string) =>
      settle(await send<LogInAnswer>('POST', 'login', { identifier, password, ...device })),
    /** After `twoFactor`: the code sent, the one of the authenticator app, or a recovery code. */
    finishLogIn: async (
      identifier: string,
      otp: string,
      { login_token }: Pick<TwoFactorDue, 'login_token'>,
    ) => settle(await send<LogInAnswer>('POST', '2fa/verify', { identifier, otp, login_token, ...device })),
    me: async () => (await call<{ account: Account }>('GET', 'me')).account,
    async logOut() {
      const tokens = await store.read()
      await signedOut()
      if (tokens !== null) await send('POST', 'logout', { refresh_token: tokens.refresh_token })
    },
  }
}
