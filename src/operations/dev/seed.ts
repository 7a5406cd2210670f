/**
 * Three people to try things with (`poterne serve --dev --seed`), made through the public interface. One has an
 * authenticator app and becomes an owner of the page of administration, an operator locked one, and one has not confirmed yet. People who exist already stay as they are.
 */
import { Secret, TOTP } from 'otpauth'
import type { Mailbox } from './mailbox.ts'

/** Sends a request to the service that is starting; answers with status and body. */
type SeedRequest = (
  method: 'GET' | 'POST',
  path: string,
  options?: { body?: object; accessToken?: string },
) => Promise<{ status: number; body: Record<string, unknown> }>

interface SeededPerson {
  email: string
  password: string
  about: 'authenticator_app' | 'locked' | 'unconfirmed'
  /** Base32, to be typed into an authenticator app; null where it was made in an earlier run. */
  appSecret: string | null
}

interface Options {
  request: SeedRequest
  mailbox: Pick<Mailbox, 'list'>
  /** Locks the account of this e-mail address, if it is not locked. */
  lock: (email: string) => Promise<void>
  /** Resolves when the mailbox may hold something new. */
  wait: () => Promise<void>
}

const SEED_PASSWORD = 'une phrase bien longue'

const seededPeople = [
  { email: 'ada@example.com', about: 'authenticator_app' },
  { email: 'bob@example.com', about: 'locked' },
  { email: 'chloe@example.com', about: 'unconfirmed' },
] as const

/** Throws an Error that names the request that was refused. */
export async function seedPeople({ request, mailbox, lock, wait }: Options): Promise<SeededPerson[]> {
  const password = SEED_PASSWORD

  async function expectStatus(expected: number, ...args: Parameters<SeedRequest>) {
    const { status, body } = await request(...args)
    if (status !== expected) throw new Error(`seeding: ${args[1]} answered ${status} ${body.code ?? ''}`)
    return body
  }

  async function confirm(email: string): Promise<void> {
    const newest = (to: string) =>
      mailbox.list().find((entry) => entry.to === to && entry.purpose === 'confirmation')
    while (!newest(email)) await wait()
    const otp = newest(email)!.code
    await expectStatus(201, 'POST', 'verify-account', { body: { identifier: email, otp, password } })
  }

  async function addApp(email: string): Promise<string> {
    const login = await expectStatus(200, 'POST', 'login', { body: { identifier: email, password } })
    const accessToken = login.access_token as string
    const app = await expectStatus(200, 'POST', '2fa/totp', { accessToken, body: { password } })
    const otp = new TOTP({ secret: Secret.fromBase32(app.secret as string) }).generate()
    await expectStatus(200, 'POST', '2fa/totp/confirm', { accessToken, body: { otp } })
    return app.secret as string
  }

  /**
   * 403 account_unconfirmed, 403 account_locked and 202 show that the person registered with this password before.
   */
  async function exists(email: string): Promise<boolean> {
    return (await request('POST', 'login', { body: { identifier: email, password } })).status !== 401
  }

  const made: SeededPerson[] = []
  for (const { email, about } of seededPeople) {
    let appSecret: string | null = null
    if (!(await exists(email))) {
      const body = { email, password, password_confirmation: password }
      await expectStatus(201, 'POST', 'register', { body })
      if (about !== 'unconfirmed') await confirm(email)
      if (about === 'authenticator_app') appSecret = await addApp(email)
    }
    if (about === 'locked') await lock(email)
    made.push({ email, password, about, appSecret })
  }
  return made
}
