/** The changes of the table `administrators`. */
import { type SQL, sql } from 'drizzle-orm'
import { administrators } from '../../platform/postgres/schema.ts'
import type { Placeholders } from '../../platform/postgres/statement.ts'

/** One for each row of `account`, in this role; an administrator gets the role. */
export const putAdministrator = (p: Placeholders<'role' | 'now'>, account: SQL): SQL => sql`
    insert into ${administrators} (account_id, role, created_at)
    select id, ${p.role}, ${p.now} from ${account}
    on conflict (account_id) do update set role = excluded.role
    returning account_id`

/** `source`: from where the condition reads. */
export const deleteAdministrators = (source: SQL, where: SQL): SQL =>
  sql`delete from ${administrators} using ${source} where ${where}`

/** `later`: rows with the `id` of the account and the `role` that it gets. */
export const changeRoles = (later: SQL): SQL => sql`
    update ${administrators} set role = ${later}.role from ${later}
     where account_id = ${later}.id and ${administrators}.role <> ${later}.role`

export const noteSignIn = (p: Placeholders<'now'>, account: SQL): SQL =>
  sql`update ${administrators} set last_signed_in_at = ${p.now} from ${account} where account_id = ${account}.id`
