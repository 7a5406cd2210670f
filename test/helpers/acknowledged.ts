/** The answers that clients got under load, and the check that a database that was opened again still holds them. */
import { expect } from 'bun:test'
import { join } from 'node:path'
import { newEmail, PASSWORD, type Person, registration } from './api-client.ts'
import { checkPages } from './check-pages.ts'
import { type Executable, startExecutable } from './executable.ts'
import type { Settings } from './service.ts'

/** The answers, with their times. */
export interface Acknowledged {
  at: number
  registered?: string
  confirmed?: Person
  /** A refresh token that opens a session, or one that opens none any more. */
  session?: string
  ended?: string
}

const nowMs = () => performance.timeOrigin + performance.now()
export const dataDirOf = ({ storage }: Executable) => storage.storage!.data_dir as string

/**
 * Four clients who register, confirm, sign in and sign out, until more than 20 answers are there, however slow the
 * machine. The answers are added while it runs.
 */
export async function load(service: Executable, acknowledged: Acknowledged[], forMs: number): Promise<void> {
  const untilMs = nowMs() + forMs
  const note = (what: Omit<Acknowledged, 'at'>) => acknowledged.push({ at: nowMs(), ...what })
  const one = async () => {
    while (nowMs() < untilMs || acknowledged.length <= 20) {
      const email = newEmail()
      const { status } = await service.post('register', registration(email))
      if (status !== 201) throw new Error(`register answered ${status}`)
      note({ registered: email })
      const otp = await service.inbox.nextCode(email)
      const person = { identifier: email, password: PASSWORD }
      if ((await service.post('verify-account', { identifier: email, otp })).status !== 201) continue
      note({ confirmed: person })
      const [kept, ended] = [await service.logIn(person), await service.logIn(person)]
      note({ session: kept.refresh_token })
      if ((await service.post('logout', { refresh_token: ended.refresh_token })).status !== 200) continue
      note({ ended: ended.refresh_token })
    }
  }
  await Promise.all(Array.from({ length: 4 }, one))
}

interface Examination extends Pick<Executable, 'smtp' | 'gateway'> {
  acknowledged: Acknowledged[]
  /** It serves a service whose server secret is no file beside the database. */
  storage?: Settings
}

/** Opens the data directory with the executable. Throws where something acknowledged is missing, or a page is damaged. */
export async function examine(
  directory: string,
  { smtp, gateway, acknowledged, storage = { storage: { data_dir: directory } } }: Examination,
): Promise<void> {
  const service = await startExecutable({
    storage,
    smtp,
    gateway,
  })
  try {
    for (const { registered, confirmed, session, ended } of acknowledged) {
      if (registered) {
        const own = await service.post('login', { identifier: registered, password: PASSWORD })
        // Unconfirmed, or confirmed meanwhile; one that is not there would be 401.
        expect([200, 403]).toContain(own.status)
      }
      if (confirmed) expect((await service.post('login', confirmed)).status).toBe(200)
      if (session) expect((await service.post('refresh', { refresh_token: session })).status).toBe(200)
      if (ended) expect((await service.post('refresh', { refresh_token: ended })).status).toBe(401)
    }
    expect((await service.post('register', registration(newEmail()))).status).toBe(201)
    await service.kill('SIGTERM')
  } finally {
    await service.close()
  }
  const { pages, trees } = await checkPages(join(directory, 'postgres'))
  expect(pages).toBeGreaterThan(500)
  expect(trees).toBeGreaterThan(100)
}
