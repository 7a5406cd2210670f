/**
 * The small world that generated requests are about: people in every state an account can have, with their newest code,
 * tokens alive and dead, and passwords. A thing that a request destroys is made anew.
 */
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { type Answer, newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { codeIn } from '../helpers/inbox.ts'
import type { TestService } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'
import type { Held } from './requests.ts'

export const kinds = ['email', 'phone', 'both', 'unconfirmed', 'two-factor', 'locked'] as const
type Kind = (typeof kinds)[number]

interface Someone {
  kind: Kind
  email: string
  phone: string
  password: string
  uuid: string
  session: string
  access: string
  expired: string
  ended: string
  refresh: string
}

export interface People {
  /** The string that a request means. */
  resolve(held: Held): string
  /** Everything of theirs that must never be seen: passwords, codes, tokens. */
  secrets(): string[]
  /** Called after a request that may have changed this person's account. */
  renew(person: number): Promise<void>
}

const LIFETIME_MS = 16 * 60_000

const setUp = (assignment: string) =>
  statement<{ uuid: string }>(
    sql`update accounts set ${sql.raw(assignment)} where uuid = ${param('uuid', 'uuid')}`,
  )
const turnOnTwoFactor = setUp('two_factor_enabled = true')
const lock = setUp('locked_at = created_at')

export async function createPeople(service: TestService): Promise<People> {
  const everyPassword = new Set<string>()
  const everyToken = new Set<string>()
  let made = 0

  const codes = createCodeIndex(service)

  /** Each from an address of its own, which no limit knows. */
  async function must(operation: string, body: unknown): Promise<Answer['body']> {
    const address = `198.18.${made % 256}.${Math.floor(Math.random() * 256)}`
    const answer = await service.post(operation, body, { headers: { 'x-forwarded-for': address } })
    if (answer.status >= 300) throw new Error(`${operation}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  async function make(kind: Kind, expired: string): Promise<Someone> {
    const password = `staple ${++made} Zebra ${crypto.randomUUID().slice(0, 8)}`
    everyPassword.add(password)
    const [email, phone] = [newEmail(), newPhone()]
    const someone = { kind, email, phone, password, uuid: crypto.randomUUID(), session: crypto.randomUUID() }
    const identifier = kind === 'phone' ? phone : email
    await must('register', { ...registration(identifier, password), ...(kind === 'both' && { phone }) })
    if (kind === 'unconfirmed')
      return { ...someone, access: 'none', expired, ended: 'none', refresh: '0'.repeat(64) }
    const otp = await waitFor(() => codes.newest(identifier), { what: `a code for ${identifier}` })
    await must('verify-account', { identifier, otp })
    const ended = await logIn(identifier, password)
    await must('logout', { refresh_token: ended.refresh_token })
    const living = await logIn(identifier, password)
    const { uuid } = living.account
    const { database } = service.inside
    if (kind === 'two-factor') await database.all(turnOnTwoFactor, { uuid })
    if (kind === 'locked') await database.all(lock, { uuid })
    const claims = JSON.parse(Buffer.from(living.access_token.split('.')[1], 'base64url').toString())
    return {
      ...someone,
      uuid,
      session: claims.sid,
      access: living.access_token,
      expired,
      ended: ended.access_token,
      refresh: living.refresh_token,
    }
  }

  async function logIn(identifier: string, password: string) {
    const answer = await must('login', { identifier, password })
    everyToken.add(answer.access_token).add(answer.refresh_token)
    return answer
  }

  const old = await make('email', 'none')
  service.clock.advance(LIFETIME_MS)
  const people = await Promise.all(kinds.map((kind) => make(kind, old.access)))
  const of = (person: number) => people[person % people.length]!

  return {
    resolve({ held, person }) {
      const someone = of(person)
      return held === 'code' ? (codes.newest(someone.email, someone.phone) ?? '123456') : someone[held]
    },
    secrets: () => [...everyPassword, ...everyToken],
    async renew(person) {
      const { kind } = of(person)
      people[person % people.length] = await make(kind, old.access)
    },
  }
}

/** The newest code that came to any of them; every message is looked at once, for there will be thousands. */
function createCodeIndex({ smtp, gateway }: TestService) {
  const newest = new Map<string, { code: string; place: number }>()
  let [mails, texts] = [0, 0]
  const note = (to: string, text: string) => {
    const code = codeIn(text)
    if (code !== null) newest.set(to, { code, place: mails + texts })
  }
  return {
    newest(...destinations: string[]): string | undefined {
      for (; mails < smtp.messages.length; mails++) note(smtp.messages[mails]!.to, smtp.messages[mails]!.text)
      for (; texts < gateway.requests.length; texts++) {
        const { fields } = gateway.requests[texts]!
        note(String(fields.to), String(fields.text))
      }
      const found = destinations.flatMap((to) => newest.get(to) ?? [])
      return found.sort((a, b) => b.place - a.place)[0]?.code
    },
  }
}
