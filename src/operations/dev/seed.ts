/**
 * Makes people to try things with (`poterne serve --dev --seed`): four of our own, or those of a file. It asks the services
 * themselves, so that the log begins with what the developer asks. People who exist already stay as they are.
 */
import type { AdministratorService } from '../../administration/administrators/service.ts'
import type { PeopleService } from '../../administration/people/service.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import type { Authenticators } from '../../domain/credentials/authenticators/service.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { Authentication } from '../../domain/sessions/core/authentication.ts'
import type { SessionService } from '../../domain/sessions/core/service.ts'
import type { SessionOpener } from '../../domain/sessions/core/session-opener.ts'
import type { RegistrationService } from '../../domain/sign-in/registration/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { parseTime } from '../../platform/http/read-values.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { AppError } from '../../texts/errors.ts'
import { appCodeAt, builtInPeople, type DevPerson } from './people.ts'
import { describeField } from './read-seed.ts'
import type { SeedLine } from './seed-schema.ts'
import { setSeededAccount } from './seed-store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  database: Database
  administrators: AdministratorService
  authentication: Authentication
  authenticators: Authenticators
  people: PeopleService
  registration: RegistrationService
  sessionOpener: SessionOpener
  sessions: SessionService
  stores: { accounts: AccountStore }
}

const HERE = { address: '127.0.0.1', addressBucket: '127.0.0.1' }
const NO_DEVICE = { type: null, name: null, os: null, fingerprint: null }
const PERIOD_MS = 30_000

/** Throws an Error that names the person who could not be made. */
export async function seedPeople(needs: Needs, lines: SeedLine[] | null): Promise<DevPerson[]> {
  if (lines === null) {
    for (const person of builtInPeople) await makeBuiltIn(needs, person)
    return builtInPeople
  }
  for (const line of lines) await make(needs, line)
  return lines.map(({ email, phone, password }) => ({
    identifier: email || phone || '',
    password: typeof password === 'string' ? password : null,
    about: 'from_file',
    appSecret: null,
  }))
}

async function makeBuiltIn(
  needs: Needs,
  { identifier: email, password, about, appSecret, isOwner }: DevPerson,
) {
  const { stores, registration, administrators, config, clock } = needs
  const named = parseIdentifier(email, config.accounts.defaultCountry)!
  if ((await stores.accounts.findByIdentifier(named, 'login')) === null) {
    if (about === 'unconfirmed') {
      const { language } = config.server
      const body = { email, password: password!, confirmation: password! }
      await registration.register(body, { ...HERE, language })
    } else {
      await make(needs, { email, password, verified: true }, about === 'locked' ? clock.now() : null)
    }
    if (appSecret !== null) await addApp(needs, email, appSecret)
  }
  if (isOwner) await administrators.put(email, 'owner')
}

/** Makes the account of a line. `null` stands for a contact that is a claim. */
async function make(needs: Needs, line: SeedLine, lockedAt: Date | null = null): Promise<void> {
  const { password, email_verified_at: emailAt, phone_verified_at: phoneAt, verified, ...fields } = line
  const now = needs.clock.now()
  const timeOf = (contact: unknown, at: string | boolean | null | undefined): Date | null => {
    if (!contact) return null
    return typeof at === 'string' ? parseTime(at) : at || verified ? now : null
  }
  const emailVerifiedAt = timeOf(fields.email, emailAt)
  const phoneVerifiedAt = timeOf(fields.phone, phoneAt)
  try {
    const { uuid } = await needs.people.create({
      ...fields,
      ...(typeof password === 'string' && { password }),
      verified: emailVerifiedAt !== null || phoneVerifiedAt !== null,
    })
    const passwordDigest = typeof password === 'object' ? (password?.hash ?? null) : null
    const seeded = { uuid, passwordDigest, emailVerifiedAt, phoneVerifiedAt, lockedAt }
    await setSeededAccount(needs.database, seeded)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.errorCode === 'identifier_taken') return
    const why = error.details.fields?.map(describeField).join('; ') ?? error.errorCode
    throw new Error(`${fields.email || fields.phone || 'somebody without a contact'}: ${why}`)
  }
}

/** Turns two factors on, as the person does, with the code before the present one: that one stays for the sign-in. */
async function addApp(needs: Needs, email: string, appSecret: string): Promise<void> {
  const { stores, sessionOpener, authentication, authenticators, sessions, config, clock } = needs
  const named = parseIdentifier(email, config.accounts.defaultCountry)!
  const account = (await stores.accounts.findByIdentifier(named, 'login'))!
  const opened = await sessionOpener.open({ account, device: NO_DEVICE, address: HERE.address, amr: ['pwd'] })
  const authorization = `Bearer ${opened.accessToken}`
  const signedIn = await authentication.authenticate(authorization)
  const { sealedSecret } = authenticators.createApp(email, appSecret)
  const before = new Date(clock.now().getTime() - PERIOD_MS)
  const codes = await authenticators.enrol(signedIn, ['pwd'], sealedSecret, appCodeAt(appSecret, before))
  if (codes === null) throw new Error(`${email}: the authenticator app could not be added`)
  await sessions.logOut(opened.refreshToken, undefined)
}
