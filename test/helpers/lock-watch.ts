/**
 * The time for which a migration keeps others waiting: measured by statements that wait, and by the locks that it
 * holds.
 */
import postgres from 'postgres'
import { retryConflicts } from '../../src/platform/postgres/failure.ts'

/** One client for each, all the while. They are valid in every shape of the tables since the first migration. */
const PROBES = {
  'find account': 'select id, password_digest from accounts where email_key = $1',
  'add account': `insert into accounts (uuid, email, email_key, accountable_type, role_id, created_at, updated_at, language)
                  values (gen_random_uuid(), $1, $1, 'User', 1, now(), now(), 'fr')`,
  'change account': 'update accounts set sign_in_count = sign_in_count + 1 where id = $1::int',
  'change session': 'update sessions set last_used_at = clock_timestamp() where account_id = $1::int',
  'add message': `insert into messages (channel, destination, purpose, language, created_at, next_attempt_at)
                  values ('email', $1, 'notice', 'fr', now(), now())`,
  // Asked by each replica that says whether it is ready.
  'read migrations': `select to_jsonb(poterne_migrations) from poterne_migrations where number < $1::int`,
}

const hasText = (text: string) => !text.includes('$1::int')

/** The locks that exclude writers, or everybody. */
const STRONG = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

export interface Waits {
  /** The longest wait of each probe, in milliseconds. */
  waits: Record<string, number>
  /** The longest time for which one connection held a strong lock on a table, and which table. */
  held: { ms: number; table: string }
}

export interface LockWatch {
  /** Returns the waits since the last call. */
  take(): Waits
  stop(): Promise<void>
}

export async function watchLocks(url: string, accounts: number): Promise<LockWatch> {
  let ending = false
  let longest: Record<string, number> = {}
  const begun = new Map<string, number>()
  const held = new Map<string, { from: number; to: number }>()
  const connect = () => postgres(url, { max: 1, onnotice: () => {}, connection: { enable_seqscan: false } })
  let ended: { table: string; ms: number }[] = []
  const note = (name: string, ms: number) => {
    longest[name] = Math.max(longest[name] ?? 0, ms)
  }
  let added = 0
  const probes = Object.entries(PROBES).map(async ([name, text]) => {
    const client = connect()
    const value = () => {
      const id = 1 + Math.floor(Math.random() * accounts)
      if (!hasText(text)) return id
      return name === 'find account' ? `person-${id}@example.com` : `probe-${added++}@example.com`
    }
    await client.unsafe('select 1')
    while (!ending) {
      const startedAt = performance.now()
      begun.set(name, startedAt)
      await retryConflicts(() => client.unsafe(text, [value()]))
      note(name, performance.now() - startedAt)
      begun.delete(name)
      await Bun.sleep(2)
    }
    await client.end()
  })
  const watcher = (async () => {
    const client = connect()
    while (!ending) {
      const from = performance.now()
      const rows = await client.unsafe(
        `select pid || ' ' || relname as key from pg_locks join pg_class on pg_class.oid = relation
          where granted and locktype = 'relation' and relkind = 'r' and relnamespace = 'public'::regnamespace
            and mode = any(string_to_array('${STRONG.join(',')}', ','))`,
      )
      const to = performance.now()
      const seen = new Set(rows.map(({ key }) => key as string))
      for (const key of seen) held.set(key, { from: held.get(key)?.from ?? from, to })
      for (const [key, span] of held) {
        if (seen.has(key)) continue
        held.delete(key)
        ended.push({ table: key.split(' ')[1]!, ms: to - span.from })
      }
      await Bun.sleep(3)
    }
    await client.end()
  })()
  return {
    take() {
      for (const [name, startedAt] of begun) note(name, performance.now() - startedAt)
      const spans = [
        ...ended,
        ...[...held].map(([key, { from, to }]) => ({ table: key.split(' ')[1]!, ms: to - from })),
      ]
      const worst = spans.reduce((one, other) => (other.ms > one.ms ? other : one), { table: '', ms: 0 })
      const result = { waits: longest, held: worst }
      longest = {}
      ended = []
      return result
    },
    async stop() {
      ending = true
      await Promise.all([...probes, watcher])
    },
  }
}
