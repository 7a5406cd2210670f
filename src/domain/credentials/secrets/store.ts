/**
 * The lasting keys, and which server secrets are in use, in PostgreSQL in every shape. Of any number of replicas that
 * put a key for one label, all read the same one afterwards. The tables are `lasting_keys` (a row for each label) and
 * `server_secrets` (a row for each secret that was ever accepted).
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { lastingKeys, serverSecrets } from '../../../platform/postgres/schema.ts'
import { column, defineStatement, type RowOf } from '../../../platform/postgres/statement.ts'
import type { LastingLabel } from '../../../platform/secret.ts'

const listLastingKeys = defineStatement({
  name: 'secrets.list_lasting_keys',
  row: { label: column<LastingLabel>('text'), sealedKey: 'bytea' },
  sql: () => sql`select label, sealed_key from ${lastingKeys}`,
})

export type SealedLastingKey = RowOf<typeof listLastingKeys>

const putLastingKey = defineStatement({
  name: 'secrets.put_lasting_key',
  params: { label: 'text', sealedKey: 'bytea', instead: 'bytea?' },
  sql: (p) => sql`
  insert into ${lastingKeys} as stored (label, sealed_key) values (${p.label}, ${p.sealedKey})
  on conflict (label) do update set sealed_key = excluded.sealed_key where stored.sealed_key = ${p.instead}`,
})

const noteUse = defineStatement({
  name: 'secrets.note_use',
  params: { current: 'text', accepted: 'text', now: 'timestamptz' },
  sql: (p) => sql`
  with accepted as (select id from jsonb_array_elements_text(${p.accepted}::jsonb) id),
  missing as (
    update ${serverSecrets} set missing_at = ${p.now} where id not in (select id from accepted))
  insert into ${serverSecrets} as secret (id, current_at, current_since)
  select id, case when id = ${p.current} then ${p.now} end, case when id = ${p.current} then ${p.now} end
    from accepted order by id
  on conflict (id) do update
     set current_at = coalesce(excluded.current_at, secret.current_at),
         current_since = coalesce(secret.current_since, excluded.current_since)`,
})

const listUses = defineStatement({
  name: 'secrets.list_uses',
  row: {
    id: 'text',
    /** A replica last sealed and signed with it then, and has done so since; null if none did. */
    currentAt: 'timestamptz?',
    currentSince: 'timestamptz?',
    /** A replica that does not accept it last ran then; null if none did since it is known. */
    missingAt: 'timestamptz?',
  },
  sql: () => sql`select id, current_at, current_since, missing_at from ${serverSecrets}`,
})

export type SecretUse = RowOf<typeof listUses>

const claimRound = defineStatement({
  name: 'secrets.take_turn',
  params: { current: 'text', until: 'timestamptz', now: 'timestamptz' },
  row: { id: 'text' },
  sql: (p) => sql`
  update ${serverSecrets} set turn_until = ${p.until}
   where id = ${p.current} and (turn_until is null or turn_until <= ${p.now})
  returning id`,
})

export type SecretStore = ReturnType<typeof createSecretStore>

export function createSecretStore(database: Database) {
  return {
    listLastingKeys: (): Promise<SealedLastingKey[]> => database.all(listLastingKeys, {}),
    /** Adds the key where there is none, or puts it in the place of `instead` if that still stands there. */
    putLastingKey: (key: SealedLastingKey, instead: Uint8Array | null): Promise<void> =>
      database.run(putLastingKey, { ...key, instead }),
    /** Does so with each of them, in one trip. */
    putLastingKeys: (keys: (SealedLastingKey & { instead: Uint8Array | null })[]): Promise<unknown> =>
      database.transaction(({ run }) => Promise.all(keys.map((key) => run(putLastingKey, key)))),
    /** Notes which secrets a replica has now; the others that are known are missing there. */
    noteUse: ({ current, accepted }: { current: string; accepted: string[] }, now: Date): Promise<void> =>
      database.run(noteUse, { current, accepted: JSON.stringify(accepted), now }),
    listUses: (): Promise<SecretUse[]> => database.all(listUses, {}),
    /** It returns true for one replica until then. */
    claimRound: async (current: string, until: Date, now: Date): Promise<boolean> =>
      (await database.first(claimRound, { current, until, now })) !== null,
  }
}
