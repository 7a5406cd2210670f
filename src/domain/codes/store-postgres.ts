/**
 * One-time codes in PostgreSQL: unlogged table `codes` (a crash of the server forgets them), one row for each subject
 * and purpose. `used_at` is set once the code is taken or dead; the row stays until swept after `expires_at`. One
 * statement a method.
 */
import { type SQL, sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { codes } from '../../platform/postgres/schema.ts'
import { createSweep } from '../../platform/postgres/sweep.ts'
import type { CodeStore } from './store.ts'

type KeyParams = { subject: string; purpose: string }
type CodeParams = KeyParams & { hash: Uint8Array; expiresAt: Date }

const isKey: SQL = sql`subject = ${param('subject', 'uuid')} and purpose = ${param('purpose', 'text')}`
const now = param('now', 'timestamptz')
const hash = param('hash', 'bytea')
const expiresAt = param('expiresAt', 'timestamptz')

const messageId = param('messageId', 'bigint')

const put = statement<CodeParams & { messageId: number | null; now: Date }>(sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at, message_id)
  values (${param('subject', 'uuid')}, ${param('purpose', 'text')}, ${hash}, ${expiresAt}, coalesce(${messageId}, 0))
  on conflict (subject, purpose) do update
     set hash = excluded.hash, expires_at = excluded.expires_at, attempts = 0, used_at = null,
         message_id = coalesce(${messageId}, code.message_id)
   where ${messageId} is null or code.message_id <= ${messageId} or code.expires_at <= ${now}`)

const start = statement<CodeParams, { subject: string }>(sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at)
  values (${param('subject', 'uuid')}, ${param('purpose', 'text')}, ${hash}, ${expiresAt})
  on conflict (subject, purpose) do update set expires_at = excluded.expires_at
   where code.hash = excluded.hash and code.used_at is null
  returning subject`)

/** Counts, compares and spends in one update: the next caller waits for the row and then sees all three. */
const take = statement<
  KeyParams & { hash: Uint8Array; attempts: number; now: Date },
  { isRight: boolean }
>(sql`
  update ${codes}
     set attempts = attempts + 1,
         used_at = case when hash = ${hash} or attempts + 1 >= ${param('attempts', 'int')} then ${now} end
   where ${isKey} and used_at is null and attempts < ${param('attempts', 'int')} and expires_at > ${now}
  returning hash = ${hash} as is_right`)

const remove = statement<KeyParams>(sql`delete from ${codes} where ${isKey}`)

const sweep = createSweep<{ now: Date }>({
  table: codes,
  key: sql`subject, purpose`,
  where: sql`expires_at <= ${now}`,
  order: sql`expires_at`,
})

export function createPostgresCodeStore(database: Database): CodeStore {
  return {
    put: async (key, { messageId = null, ...code }, at) => {
      await database.all(put, { ...key, ...code, messageId, now: at })
    },
    start: async (key, code) => (await database.first(start, { ...key, ...code })) !== null,
    take: async (key, guess, attempts, at) =>
      (await database.first(take, { ...key, hash: guess, attempts, now: at }))?.isRight ?? false,
    remove: async (key) => {
      await database.all(remove, { ...key })
    },
    sweep: (at, limit) => sweep(database, { now: at, limit }),
  }
}
