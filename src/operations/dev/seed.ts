/**
 * Makes people to try things with (`poterne serve --dev --seed`): four of our own, or those of a file. They come in as an
 * import brings people in (docs/import.md), and without a request, so that the log begins with what the developer asks.
 */
import type { AdministratorService } from '../../administration/administrators/service.ts'
import { describeRefusal } from '../../administration/imports/line.ts'
import type { ImportService } from '../../administration/imports/service.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import type { HashService } from '../../domain/foundation/hashing/service.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { RegistrationService } from '../../domain/sign-in/registration/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { createCatalog } from '../../texts/catalog.ts'
import { builtInPeople, type DevPerson } from './people.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  administrators: AdministratorService
  hashing: Pick<HashService, 'hash'>
  imports: Pick<ImportService, 'run'>
  registration: RegistrationService
  stores: { accounts: AccountStore }
}

/** A line of the file: as an import takes it, but that `password` may be the password itself. */
export interface SeedLine {
  line: number
  record: Record<string, unknown>
}

const HERE = { address: '127.0.0.1', addressBucket: '127.0.0.1' }

/** People who exist already stay as they are. Throws an Error that names the lines that cannot be taken; then nobody is made. */
export async function seedPeople(needs: Needs, lines: SeedLine[] | null): Promise<DevPerson[]> {
  if (lines !== null) {
    await bring(needs, lines)
    return lines.map(({ record }) => toPerson(record))
  }
  const made = builtInPeople.filter(({ about }) => about !== 'unconfirmed')
  await bring(
    needs,
    made.map((person, index) => ({ line: index + 1, record: recordOf(person, needs.clock.now()) })),
  )
  for (const person of builtInPeople) {
    if (person.about === 'unconfirmed') await register(needs, person)
    if (person.isOwner) await needs.administrators.put(person.identifier, 'owner')
  }
  return builtInPeople
}

async function bring({ imports, hashing }: Needs, lines: SeedLine[]): Promise<void> {
  const records = await Promise.all(
    lines.map(async ({ record }) =>
      typeof record.password === 'string' && record.password !== ''
        ? { ...record, password: { hash: await hashing.hash(record.password, { admitted: true }) } }
        : record,
    ),
  )
  const results = await imports.run(records, true)
  const refused = results.flatMap((result, at) =>
    result.outcome !== 'refused' || isThere(result)
      ? []
      : [describeRefusal((lines[at] as SeedLine).line, result)],
  )
  if (refused.length > 0) throw new Error(refused.join('\n'))
  await imports.run(records, false)
}

/** Somebody registered with the contact. */
const isThere = ({ code, field }: { code?: string; field?: string }) =>
  code === 'taken' && (field === 'email' || field === 'phone')

const toPerson = ({ email, phone, password, totp }: Record<string, unknown>): DevPerson => ({
  identifier: String(email || phone || ''),
  password: typeof password === 'string' ? password : null,
  about: 'from_file',
  appSecret: (totp as { secret: string } | null | undefined)?.secret ?? null,
})

const recordOf = ({ identifier, password, about, appSecret }: DevPerson, now: Date) => ({
  email: identifier,
  email_verified_at: true,
  password,
  ...(about === 'locked' && { locked_at: now.toISOString() }),
  ...(appSecret !== null && { totp: { secret: appSecret } }),
})

async function register({ stores, registration, config }: Needs, { identifier, password }: DevPerson) {
  const named = parseIdentifier(identifier, config.accounts.defaultCountry)!
  if ((await stores.accounts.findByIdentifier(named, 'login')) !== null) return
  const body = { email: identifier, password: password!, confirmation: password! }
  const { language } = config.server
  const catalog = createCatalog({ language, ...config.texts })
  await registration.register(body, { ...HERE, language: catalog.pick(languageOfTerminal()) })
}

/** Terminals say `pt_BR.UTF-8`. */
function languageOfTerminal(): string | undefined {
  const { LC_ALL, LC_MESSAGES, LANG } = process.env
  return (LC_ALL || LC_MESSAGES || LANG)?.replace(/[.@].*/, '')
}
