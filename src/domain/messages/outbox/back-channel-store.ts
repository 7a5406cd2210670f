/**
 * The applications that are told when a session of theirs ends, as the configuration has them: the table `back_channels`, by
 * which triggers of the database queue the messages (drizzle/…_tell_applications_of_ended_sessions.sql).
 */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { backChannels } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { deleteMessages } from './queue-sql.ts'

const put = defineStatement({
  name: 'outbox.put_back_channels',
  params: { applications: 'text' },
  sql: (p) => sql`
  with listed as (select value as application from jsonb_array_elements_text(${p.applications}::jsonb)),
  gone as (delete from ${backChannels} where application not in (select application from listed)),
  dropped as (
    ${deleteMessages(
      sql`channel = 'application' and finished_at is null
        and destination not in (select application from listed)`,
    )})
  insert into ${backChannels} (application) select application from listed on conflict do nothing`,
})

export type BackChannelStore = ReturnType<typeof createBackChannelStore>

export function createBackChannelStore(database: Database) {
  return {
    /** Nobody else is told any more, of what waits neither. */
    put: (applications: string[]): Promise<void> =>
      database.run(put, { applications: JSON.stringify(applications) }),
  }
}
