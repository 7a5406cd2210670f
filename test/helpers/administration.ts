/** Administration as its callers meet it: the operator behind the socket, scripts and the page on the TCP listener. */
import { type Answer, newEmail, type Person } from './api-client.ts'
import { appCode, PERIOD_MS } from './authenticator.ts'
import type { TestService } from './service.ts'

/** Settings of a service whose administration listens, as if behind a reverse proxy. */
export const ADMIN_ORIGIN = 'https://admin.example.com'
export const listening = { admin: { listen: '127.0.0.1:8081', base_url: ADMIN_ORIGIN } }

interface AdminCallOptions {
  headers?: Record<string, string | undefined> | undefined
}

async function read(answer: Response): Promise<Answer> {
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}

/** Calls an operation under /admin/v1 as the socket does. */
export async function asOperator(
  service: TestService,
  method: string,
  path: string,
  body?: unknown,
  { headers = {} }: AdminCallOptions = {},
): Promise<Answer> {
  const text = body === undefined ? null : JSON.stringify(body)
  const sent = {
    'x-operator': 'root',
    ...(text !== null && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
    ...headers,
  } as Record<string, string>
  const request = new Request(`http://administration/admin/v1/${path}`, { method, headers: sent, body: text })
  return read(await service.inside.administration.handle(request))
}

export type AdminCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>

/** The calls of the operator on one service. */
export const operatorOf =
  (service: TestService): AdminCall =>
  (method, path, body, headers) =>
    asOperator(service, method, path, body, { headers })

/** The same on the TCP listener; a header that is undefined is not sent. */
export async function onListener(
  service: TestService,
  method: string,
  path: string,
  body?: unknown,
  { headers = {} }: AdminCallOptions = {},
): Promise<Answer> {
  const sent = { host: new URL(ADMIN_ORIGIN).host, ...headers }
  const answer = await fetch(`${service.adminUrl}${path.startsWith('/') ? path : `/admin/v1/${path}`}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return read(answer)
}

/** A browser with the page: it keeps the cookie and the token of its session. */
export function createPage(service: TestService, from: Record<string, string> = {}) {
  const page = {
    cookie: undefined as string | undefined,
    /** The browser, as a sign-in named it. */
    device: undefined as string | undefined,
    csrf: undefined as string | undefined,
    async call(
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string | undefined> = {},
    ) {
      const answer = await onListener(service, method, path, body, {
        headers: {
          'sec-fetch-site': 'same-origin',
          ...from,
          cookie: [page.cookie, page.device].filter(Boolean).join('; ') || undefined,
          'x-csrf-token': page.csrf,
          ...headers,
        },
      })
      for (const set of answer.headers.getSetCookie()) {
        const pair = set.slice(0, set.indexOf(';'))
        if (pair.includes('_device=')) page.device = pair
        else page.cookie = pair
      }
      if (typeof answer.body?.csrf_token === 'string') page.csrf = answer.body.csrf_token
      return answer
    },
  }
  return page
}
export type Page = ReturnType<typeof createPage>

export interface TestAdministrator {
  person: Person
  uuid: string
  page: Page
  /** The secret of the authenticator app. */
  secret: string
  recoveryCodes: string[]
}

/** An account with this role; nobody has signed in with it on the page. */
export async function addAdministrator(service: TestService, role: string) {
  const person = await service.signUp(newEmail())
  const { body } = await asOperator(service, 'POST', 'administrators', { account: person.identifier, role })
  if (body.administrator?.role !== role) throw new Error(JSON.stringify(body))
  return { person, uuid: body.administrator.uuid as string }
}

/** The same, signed in on the page with an app that was set up there. */
export async function signInAs(
  service: TestService,
  role: string,
  from: Record<string, string> = {},
): Promise<TestAdministrator> {
  const { person, uuid } = await addAdministrator(service, role)
  const page = createPage(service, from)
  await page.call('POST', 'session', person)
  const { secret } = (await page.call('POST', 'session/app')).body
  const opened = await page.call('POST', 'session/verify', { otp: appCode(secret, service.clock.now()) })
  if (opened.status !== 200) throw new Error(JSON.stringify(opened.body))
  return { person, uuid, page, secret, recoveryCodes: opened.body.recovery_codes }
}

/** Signs in again, with the next code of the app. */
export async function signInAgain(
  service: TestService,
  { person, secret }: TestAdministrator,
  from: Record<string, string> = {},
): Promise<Page> {
  const page = createPage(service, from)
  await page.call('POST', 'session', person)
  service.clock.advance(PERIOD_MS)
  const opened = await page.call('POST', 'session/verify', { otp: appCode(secret, service.clock.now()) })
  if (opened.status !== 200) throw new Error(JSON.stringify(opened.body))
  return page
}
