/** Accounts of an import: whether they are there already, and all of a call in one transaction. */
import { type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { endClaimsTo, isClaimed } from '../../domain/accounts/core/account-sql.ts'
import { forgetForeignPasswords } from '../../domain/accounts/core/changes-sql.ts'
import { addImported, endWaitingFor, importedFields } from '../../domain/accounts/core/opening-sql.ts'
import { addImportedUsernames, hashUsernames } from '../../domain/accounts/core/usernames-sql.ts'
import { addImportedApps } from '../../domain/credentials/authenticators/factors-sql.ts'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { recordEvents } from '../../domain/foundation/events/event-sql.ts'
import { addImportedIdentities } from '../../domain/sign-in/identities/identity-sql.ts'
import { addImportedPasskeys } from '../../domain/sign-in/passkeys/passkey-sql.ts'
import type { Database, Executor } from '../../platform/postgres/database.ts'
import { databaseCode, retryConflicts } from '../../platform/postgres/failure.ts'
import {
  accounts,
  erasedAccounts,
  events,
  identities,
  passkeys,
  usernames,
} from '../../platform/postgres/schema.ts'
import { defineStatement, json } from '../../platform/postgres/statement.ts'
import type { ImportedLine } from './line.ts'

/** A line with everything that was made for it. */
export interface MadeLine extends Omit<ImportedLine, 'uuid' | 'password' | 'totpSecret'> {
  uuid: string
  passwordDigest: string | null
  sealedTotp: Uint8Array | null
}

/** What is there already of the line with this index. */
export interface Found {
  line: number
  field: string
  uuid: string | null
  /** The account came with an import, and has verified the contact or waits for it. */
  imported: boolean
}

/**
 * The row that has a unique name. With a limit PostgreSQL looks each one up by its index; without, it would read every
 * account in each call until it learns how many came in since. `where` says the name alone, or another index would do.
 */
const one = (columns: SQL, table: PgTable, where: SQL) =>
  sql`lateral (select ${columns} from ${table} where ${where} limit 1) as ${table}`

const findKnown = defineStatement({
  name: 'imports.find_known',
  params: { lines: 'text' },
  row: { line: 'int', field: 'text', uuid: 'uuid?', imported: 'boolean' },
  sql: (p) => sql`
  with named as materialized (
    select * from jsonb_to_recordset(${p.lines}::jsonb) as named (
           line int, uuid uuid, email text, phone text, "mayWaitFor" jsonb, username text, identities jsonb, passkeys jsonb))
  select line, 'uuid' as field, ${accounts}.uuid, false as imported
    from named cross join ${one(sql`uuid`, accounts, sql`uuid = named.uuid`)}
  union all
  select line, 'erased', named.uuid, false from named
   where exists (select 1 from ${erasedAccounts} where ${erasedAccounts}.uuid = named.uuid)
      or exists (select 1 from ${events} where type = 'account.erased' and account = named.uuid)
  union all
  select line, 'email', ${accounts}.uuid, coalesce(origin = 'import', false) and named."mayWaitFor" ? named.email
    from named cross join
         ${one(sql`uuid, origin`, accounts, sql`email_key = named.email and email_confirmed_at is not null`)}
  union all
  select line, 'phone', ${accounts}.uuid, coalesce(origin = 'import', false) and named."mayWaitFor" ? named.phone
    from named cross join
         ${one(sql`uuid, origin`, accounts, sql`phone = named.phone and phone_confirmed_at is not null`)}
  union all
  select line, case when contact.key = named.phone then 'phone' else 'email' end, ${accounts}.uuid, origin = 'import'
    from named cross join jsonb_array_elements_text("mayWaitFor") contact (key) cross join
         ${one(sql`uuid, origin`, accounts, sql`waiting_for = contact.key`)}
   where origin is not null
  union all
  select line, 'username', null::uuid, false
    from named cross join ${one(sql`1`, usernames, sql`hash = decode(named.username, 'hex')`)}
  union all
  select line, 'identities', null::uuid, false
    from named cross join jsonb_to_recordset(named.identities) as linked (issuer text, subject text) cross join
         ${one(sql`1`, identities, sql`issuer = linked.issuer and subject = linked.subject`)}
  union all
  select line, 'passkeys', null::uuid, false
    from named cross join jsonb_array_elements_text(named.passkeys) held (id) cross join
         ${one(sql`1`, passkeys, sql`credential_id = held.id`)}`,
})

const endWaiting = defineStatement({
  name: 'imports.end_waiting',
  params: { key: 'text' },
  sql: (p) => endWaitingFor(p),
})

const add = defineStatement({
  name: 'imports.add',
  params: { lines: 'text', now: 'timestamptz' },
  row: { ids: json<Record<string, number>>() },
  sql: (p) => sql`with made as (${addImported(p)}) select jsonb_object_agg(uuid, id) as ids from made`,
})

const addUsernames = defineStatement({
  name: 'imports.add_usernames',
  params: { rows: 'text' },
  sql: addImportedUsernames,
})

const addApps = defineStatement({
  name: 'imports.add_apps',
  params: { rows: 'text', now: 'timestamptz' },
  sql: addImportedApps,
})

const addIdentities = defineStatement({
  name: 'imports.add_identities',
  params: { rows: 'text', now: 'timestamptz' },
  sql: addImportedIdentities,
})

const addPasskeys = defineStatement({
  name: 'imports.add_passkeys',
  params: { rows: 'text', rpId: 'text' },
  sql: addImportedPasskeys,
})

const forget = defineStatement({
  name: 'imports.forget_hashes',
  params: { unusedSince: 'timestamptz', limit: 'int', now: 'timestamptz' },
  row: { uuid: 'uuid' },
  sql: forgetForeignPasswords,
})

const passwordForgotten = (account: string): NewEvent => ({
  type: 'account.updated',
  account,
  sessionId: null,
  data: { fields: ['password'] },
})

/** The contacts of other claims end one by one: there are few where an import is the first thing that happens. */
const findClaimed = defineStatement({
  name: 'imports.find_claimed',
  params: { keys: 'text' },
  row: { key: 'text' },
  sql: (p) => sql`
  select key from jsonb_array_elements_text(${p.keys}::jsonb) named (key)
   where ${isClaimed(sql`key`, 'email')}
      or ${isClaimed(sql`key`, 'phone')}
      or exists (select 1 from ${accounts} where waiting_for = key)`,
})

const contactsOf = ({ emailKey, phone }: Pick<ImportedLine, 'emailKey' | 'phone'>) =>
  [emailKey, phone].filter((key) => key !== null)

/** The contacts that a line would verify, or wait for. */
const ownContacts = (line: ImportedLine | MadeLine): string[] =>
  [line.emailConfirmedAt && line.emailKey, line.phoneConfirmedAt && line.phone, line.waitingFor].filter(
    (key): key is string => key !== null,
  )

export type ImportStore = ReturnType<typeof createImportStore>

export function createImportStore(database: Database) {
  async function find(executor: Executor, lines: readonly (ImportedLine | null)[]): Promise<Found[]> {
    const known = lines.flatMap((line, index) => (line === null ? [] : [{ line, index }]))
    const hashes = await hashUsernames(
      executor,
      known.flatMap(({ line }) => line.username ?? []),
    )
    const named = known.map(({ line, index }) => ({
      ...{ line: index, uuid: line.uuid, email: line.emailKey, phone: line.phone },
      mayWaitFor: ownContacts(line),
      username: line.username && hashes.get(line.username),
      identities: line.identities,
      passkeys: line.passkeys.map(({ credentialId }) => credentialId),
    }))
    return executor.all(findKnown, { lines: JSON.stringify(named) })
  }

  async function write(
    transaction: Executor,
    lines: readonly MadeLine[],
    rpId: string,
    now: Date,
  ): Promise<void> {
    const keys = [...new Set(lines.flatMap(contactsOf))]
    const claimed = new Set(
      (await transaction.all(findClaimed, { keys: JSON.stringify(keys) })).map(({ key }) => key),
    )
    for (const key of new Set(lines.flatMap(ownContacts)))
      if (claimed.has(key)) await transaction.run(endWaiting, { key })
    const { ids } = (await transaction.first(add, { lines: JSON.stringify(lines.map(rowOf)), now }))!
    const ofEach = <Row>(rows: (line: MadeLine) => Row[]) =>
      JSON.stringify(lines.flatMap((line) => rows(line).map((row) => ({ account: ids[line.uuid], ...row }))))
    const hashes = await hashUsernames(
      transaction,
      lines.flatMap(({ username }) => username ?? []),
    )
    const named = lines.flatMap(({ uuid, username }) =>
      username ? [{ hash: hashes.get(username), account: uuid }] : [],
    )
    if (named.length > 0) await transaction.run(addUsernames, { rows: JSON.stringify(named) })
    const apps = ofEach(({ sealedTotp }) => (sealedTotp ? [{ sealed: base64(sealedTotp) }] : []))
    if (apps !== '[]') await transaction.run(addApps, { rows: apps, now })
    const linked = ofEach(({ identities }) => identities)
    if (linked !== '[]') await transaction.run(addIdentities, { rows: linked, now })
    const held = ofEach(({ passkeys }) => passkeys.map(passkeyRow))
    if (held !== '[]') await transaction.run(addPasskeys, { rows: held, rpId })
    const claimedHere = new Set(lines.flatMap(claimsOf))
    for (const line of lines) {
      const proved = verifiedOf(line).filter(({ key }) => claimed.has(key) || claimedHere.has(key))
      if (proved.length > 0) await endClaimsTo(transaction, ids[line.uuid] as number, proved)
    }
  }

  return {
    findKnown: (lines: readonly (ImportedLine | null)[]) => find(database, lines),
    /** Takes the foreign passwords of up to `limit` accounts; returns of how many. */
    forgetHashes: (unusedSince: Date, limit: number, now: Date): Promise<number> =>
      retryConflicts(() =>
        database.transaction(async (transaction) => {
          const forgotten = await transaction.all(forget, { unusedSince, limit, now })
          await recordEvents(
            transaction,
            forgotten.map(({ uuid }) => passwordForgotten(uuid)),
            now,
          )
          return forgotten.length
        }),
      ),
    /** All of them or none; false if somebody took one of their names meanwhile. */
    async add(lines: readonly MadeLine[], rpId: string | null, now: Date): Promise<boolean> {
      const once = () => database.transaction((transaction) => write(transaction, lines, rpId ?? '', now))
      try {
        await retryConflicts(once)
        return true
      } catch (error) {
        if (databaseCode(error) === UNIQUE_VIOLATION) return false
        throw error
      }
    },
  }
}

const UNIQUE_VIOLATION = '23505'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const fromUrl = (text: string) => base64(Buffer.from(text, 'base64url'))

const passkeyRow = ({ credentialId, publicKey, userHandle, ...rest }: ImportedLine['passkeys'][number]) => ({
  ...{ credential_id: credentialId, public_key: fromUrl(publicKey), user_handle: fromUrl(userHandle) },
  ...{ counter: rest.counter, name: rest.name, created_at: rest.createdAt, last_used_at: rest.lastUsedAt },
  ...{ backup_eligible: rest.backupEligible, backed_up: rest.backedUp },
  ...{ transports: rest.transports, aaguid: rest.aaguid },
})

const verifiedOf = ({ emailKey, emailConfirmedAt, phone, phoneConfirmedAt }: MadeLine) => [
  ...(emailKey && emailConfirmedAt ? [{ kind: 'email' as const, key: emailKey }] : []),
  ...(phone && phoneConfirmedAt ? [{ kind: 'phone' as const, key: phone }] : []),
]

const claimsOf = ({ emailKey, emailConfirmedAt, phone, phoneConfirmedAt }: MadeLine) => [
  ...(emailKey && !emailConfirmedAt ? [emailKey] : []),
  ...(phone && !phoneConfirmedAt ? [phone] : []),
]

/** What `addImported` reads; it takes what is not there for null. */
function rowOf(line: MadeLine): Record<string, unknown> {
  const [identity] = line.identities
  const isByProvider = identity !== undefined && line.passwordDigest === null
  const row: Record<string, unknown> = {}
  for (const field of importedFields) {
    const value = line[field as keyof MadeLine]
    if (value !== null) row[field] = value
  }
  row.provider = isByProvider ? identity.provider : 'local'
  if (isByProvider) row.providerUid = identity.subject
  return row
}
