/** Calls the API as a client does, with shortcuts for the common steps: register, confirm, sign in. */
import type { Inbox } from './inbox.ts'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads, it asserts.
  body: any
}

export interface CallOptions {
  language?: string
  /** Access token. */
  bearer?: string
  headers?: Record<string, string>
}

export interface Person {
  identifier: string
  password: string
}

/** Somebody who has just signed in for the first time: who it is, and what the login answered. */
export interface SignedIn {
  person: Person
  /** The access token. */
  bearer: string
  refresh_token: string
  account: Answer['body']
  uuid: string
}

export interface ApiClient {
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  /** POST under /api/v1/auth, e.g. `post('login', {…})`. */
  post(operation: string, body: unknown, options?: CallOptions): Promise<Answer>
  get(operation: string, options?: CallOptions): Promise<Answer>
  /** Registers by e-mail or phone (a leading plus) and confirms with the code that arrived. */
  signUp(identifier: string, password?: string): Promise<Person>
  /** Signs up and in; `device`: the device fields of the login. */
  signedIn(identifier?: string, device?: Record<string, string>): Promise<SignedIn>
  /** Asks for a code by this operation, with the identifier alone, and gives the one that arrives. */
  askCode(operation: string, identifier: string, options?: CallOptions): Promise<string>
  /** Resets the password by the code that arrives. */
  resetPassword(identifier: string, password: string, options?: CallOptions): Promise<void>
  /** The body of a successful login. */
  logIn(person: Person, device?: Record<string, string>): Promise<Answer['body']>
}

export const PASSWORD = 'correct horse battery'

export function registration(identifier: string, password = PASSWORD) {
  const contact = identifier.startsWith('+') ? { phone: identifier } : { email: identifier }
  return { ...contact, password, password_confirmation: password }
}

let people = 0
/** A new e-mail address. */
export const newEmail = () => `person-${++people}-${crypto.randomUUID().slice(0, 8)}@example.com`
/** A new French mobile number, from 06 10 to 06 38, since some numbers above belong to other countries. */
export const newPhone = () => `+336${String(10_000_000 + ((Date.now() + ++people * 7919) % 29_000_000))}`

export function createApiClient(url: string, inbox: Inbox): ApiClient {
  async function call(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Answer> {
    const headers: Record<string, string> = { ...options.headers }
    if (body !== undefined) headers['content-type'] ??= 'application/json'
    if (options.language !== undefined) headers['accept-language'] = options.language
    if (options.bearer !== undefined) headers.authorization = `Bearer ${options.bearer}`
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const post: ApiClient['post'] = (operation, body, options) =>
    call('POST', `/api/v1/auth/${operation}`, body, options)
  const must = (answer: Answer, status: number) => {
    if (answer.status !== status) throw new Error(`expected ${status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const signUp: ApiClient['signUp'] = async (identifier, password = PASSWORD) => {
    must(await post('register', registration(identifier, password)), 201)
    const otp = await inbox.nextCode(identifier)
    must(await post('verify-account', { identifier, otp }), 201)
    return { identifier, password }
  }
  const logIn: ApiClient['logIn'] = async (person, device) =>
    must(await post('login', { ...person, ...device }), 200)
  const askCode: ApiClient['askCode'] = async (operation, identifier, options) => {
    must(await post(operation, { identifier }, options), 201)
    return inbox.nextCode(identifier)
  }
  return {
    call,
    post,
    get: (operation, options) => call('GET', `/api/v1/auth/${operation}`, undefined, options),
    signUp,
    logIn,
    async signedIn(identifier = newEmail(), device) {
      const person = await signUp(identifier)
      const { access_token: bearer, refresh_token, account } = await logIn(person, device)
      return { person, bearer, refresh_token, account, uuid: account.uuid }
    },
    askCode,
    async resetPassword(identifier, password, options) {
      const otp = await askCode('password/forgot', identifier, options)
      const body = { identifier, otp, password, password_confirmation: password }
      must(await post('password/reset', body, options), 200)
    },
  }
}
