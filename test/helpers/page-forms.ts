/** The forms by which a stranger may name somebody, each with the operation of the interface that does the same. */
import { PASSWORD } from './api-client.ts'
import { openBrowser } from './page-browser.ts'
import { strangersCall } from './strangers-calls.ts'

export interface PageForm {
  /** The page that has the form. */
  page: string
  /** The form is sent to this path. */
  path: string
  fields(identifier: string): Record<string, string>
  /** The number of calls in a row until a limit answers. */
  untilRefused: number
}

const form = (page: string, path: string, operation: string): PageForm => ({
  page,
  path,
  untilRefused: strangersCall(operation).untilRefused,
  fields(identifier) {
    const {
      email: _,
      phone: __,
      password_confirmation: ___,
      ...body
    } = strangersCall(operation).body(identifier)
    return { ...(body as Record<string, string>), identifier }
  },
})

export const pageForms: PageForm[] = [
  form('/sign-in', '/sign-in', 'login'),
  form('/sign-in', '/sign-in/code', '2fa/request-otp'),
  form('/code', '/code', '2fa/verify'),
  form('/code', '/code/again', '2fa/request-otp'),
  form('/sign-up', '/sign-up', 'register'),
  form('/confirm', '/confirm/again', 'resend-verification'),
  form('/recover', '/recover', 'password/forgot'),
  form('/choose-password', '/choose-password', 'password/reset'),
  form('/choose-password', '/choose-password/again', 'password/forgot'),
  {
    ...form('/confirm', '/confirm', 'verify-account'),
    fields: (identifier) => ({ identifier, otp: '000000', password: PASSWORD }),
  },
]

export interface SeenPage {
  /** Status, headers and cookies are those of the form's own answer. */
  status: number
  headers: Record<string, string>
  cookies: string[]
  /** The rest is the page that it leads to. */
  path: string
  said: string
  html: string
}

/**
 * Returns the page that a stranger sees who opens it in a new browser and sends its form. Flows, cookies and
 * identifiers are masked.
 */
export async function seenOf(
  url: string,
  { page, path, fields }: PageForm,
  identifier: string,
  headers: Record<string, string>,
): Promise<SeenPage> {
  const browser = await openBrowser(url, { headers }).open(page)
  const flow = new URL(browser.forms[0]!.action, 'https://page').search
  const answer = await browser.post(path + flow, fields(identifier))
  const mask = (text: string) =>
    text
      .replaceAll(/flow=[\w-]+/g, (found) => `flow of ${found.length}`)
      .replaceAll(identifier, 'the identifier')
  const location = answer.headers.get('location') ?? ''
  await browser.open(location)
  const shown = [...answer.headers].filter(([name]) => !['x-request-id', 'date', 'set-cookie'].includes(name))
  return {
    status: answer.status,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, mask(value)] as const).sort()),
    cookies: answer.headers.getSetCookie().map((cookie) => cookie.replace(/=[0-9a-f]{32};/, '=random;')),
    path: browser.path,
    said: browser.said,
    html: mask(browser.html),
  }
}
