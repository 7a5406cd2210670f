/**
 * One-time codes in PostgreSQL: unlogged table `codes` (a crash of the server forgets them), one row for each subject,
 * purpose and group. The column `purpose` holds purpose and group (`two_factor/owner`); a stranger's holds the purpose
 * alone. `used_at` is set once the code is taken or dead; the row stays until swept after `expires_at`. One statement
 * a method.
 */
import { type SQL, sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { codes } from '../../platform/postgres/schema.ts'
import { createSweep } from '../../platform/postgres/sweep.ts'
import type { CodeStore, TriedKey } from './store.ts'

type KeyParams = { subject: string; slot: string }
type CodeParams = KeyParams & { hash: Uint8Array; expiresAt: Date }

const subject = param('subject', 'uuid')
const slot = param('slot', 'text')
const isKey: SQL = sql`subject = ${subject} and purpose = ${slot}`
const now = param('now', 'timestamptz')
const hash = param('hash', 'bytea')
const attempts = param('attempts', 'int')
const expiresAt = param('expiresAt', 'timestamptz')
const messageId = param('messageId', 'bigint')

const put = statement<CodeParams & { messageId: number | null; now: Date }>(sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at, message_id)
  values (${subject}, ${slot}, ${hash}, ${expiresAt}, coalesce(${messageId}, 0))
  on conflict (subject, purpose) do update
     set hash = excluded.hash, expires_at = excluded.expires_at, attempts = 0, used_at = null,
         message_id = coalesce(${messageId}, code.message_id)
   where ${messageId} is null or code.message_id <= ${messageId} or code.expires_at <= ${now}`)

const kill = statement<CodeParams>(sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at)
  values (${subject}, ${slot}, ${hash}, ${expiresAt})
  on conflict (subject, purpose) do update
     set expires_at = excluded.expires_at,
         hash = case when code.used_at is null then excluded.hash else code.hash end`)

const start = statement<CodeParams, { subject: string }>(sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at)
  values (${subject}, ${slot}, ${hash}, ${expiresAt})
  on conflict (subject, purpose) do update set expires_at = excluded.expires_at
   where code.hash = excluded.hash and code.used_at is null
  returning subject`)

/**
 * Compares, counts and spends in one statement: the next caller waits for the rows, in the order of all callers, and
 * then sees all three. A right try is not counted, so that a row with tries left that is used was taken.
 */
const take = statement<
  KeyParams & { purpose: string; hash: Uint8Array; attempts: number; now: Date },
  { isRight: boolean; isSpent: boolean }
>(sql`
  with found as materialized (
    select purpose, hash = ${hash} as is_right, used_at is not null as is_used
      from ${codes}
     where subject = ${subject} and attempts < ${attempts} and expires_at > ${now}
       and purpose in (${param('purpose', 'text')}, ${param('purpose', 'text')} || '/password',
                       ${param('purpose', 'text')} || '/owner')
       and (purpose = ${slot} or hash = ${hash})
     order by purpose
       for update),
  judged as (
    update ${codes} as code
       set attempts = attempts + case when is_right then 0 else 1 end,
           used_at = case when is_right or attempts + 1 >= ${attempts} then ${now} end
      from found
     where code.subject = ${subject} and code.purpose = found.purpose and not is_used
    returning is_right)
  select exists (select from judged where is_right) as is_right,
         exists (select from found where is_right and is_used) as is_spent`)

const remove = statement<KeyParams>(sql`delete from ${codes} where ${isKey}`)

const sweep = createSweep<{ now: Date }>({
  table: codes,
  key: sql`subject, purpose`,
  where: sql`expires_at <= ${now}`,
  order: sql`expires_at`,
})

const keyOf = ({ subject, purpose, group }: TriedKey): KeyParams => ({
  subject,
  slot: group === 'stranger' ? purpose : `${purpose}/${group ?? 'none'}`,
})

export function createPostgresCodeStore(database: Database): CodeStore {
  return {
    put: async (key, { messageId = null, ...code }, at) => {
      await database.all(put, { ...keyOf(key), ...code, messageId, now: at })
    },
    start: async (key, code) => (await database.first(start, { ...keyOf(key), ...code })) !== null,
    async take(key, guess, limit, at) {
      const { purpose } = key
      const row = await database.first(take, {
        ...keyOf(key),
        purpose,
        hash: guess,
        attempts: limit,
        now: at,
      })
      return row?.isRight ? 'right' : row?.isSpent ? 'spent' : 'wrong'
    },
    kill: async (key, code) => {
      await database.all(kill, { ...keyOf(key), ...code })
    },
    remove: async (key) => {
      await database.all(remove, keyOf(key))
    },
    sweep: (at, limit) => sweep(database, { now: at, limit }),
  }
}
