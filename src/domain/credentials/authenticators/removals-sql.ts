/** The table `two_factor_removals`: removals of two factors that an administrator asked for, and that wait for a day. */
import { type SQL, sql } from 'drizzle-orm'
import { twoFactorRemovals } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'

/** One for each row of `account`, which has the `id`. */
export const addRemoval = (
  p: Placeholders<'id' | 'dueAt' | 'now' | 'actorType' | 'actorId' | 'actorName'>,
  account: SQL,
): SQL => sql`
    insert into ${twoFactorRemovals} (account_id, id, due_at, created_at, actor_type, actor_id, actor_name)
    select id, ${p.id}, ${p.dueAt}, ${p.now}, ${p.actorType}, ${p.actorId}, ${p.actorName} from ${account}
    returning id, due_at`

/** `source`: from where the condition reads, if it is more than the removal. */
export const deleteRemovals = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${twoFactorRemovals} ${source ? sql`using ${source}` : sql``} where ${where}`
