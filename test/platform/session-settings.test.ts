/** Settings of roles and databases change neither a value that is read nor an answer. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { openServerCopy } from '../../src/platform/postgres/copy.ts'
import { type Database, statement } from '../../src/platform/postgres/database.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { newEmail } from '../helpers/api-client.ts'
import { startPooler } from '../helpers/pooler.ts'
import { createDatabase, sharedPostgres, type TestDatabase } from '../helpers/servers.ts'
import { startService } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'

setDefaultTimeout(120_000)

/** Numbers whose least value is the usual one. */
const UNUSUAL_NUMBERS: Record<string, string[]> = {
  extra_float_digits: ['-15', '0', '3'],
  gin_fuzzy_search_limit: ['1'],
  statement_timeout: ['50'],
  lock_timeout: ['50'],
  idle_in_transaction_session_timeout: ['50'],
  idle_session_timeout: ['50'],
}
const UNUSUAL_TEXTS: Record<string, string[]> = {
  DateStyle: [
    'SQL, DMY',
    'SQL, YMD',
    'SQL, MDY',
    'German, DMY',
    'Postgres, DMY',
    'Postgres, MDY',
    'ISO, YMD',
  ],
  TimeZone: ['Asia/Kathmandu', 'America/St_Johns', 'posix/Europe/Lisbon'],
  timezone_abbreviations: ['Australia', 'India'],
  client_encoding: ['LATIN1', 'EUC_JP'],
  lc_monetary: ['C.UTF-8'],
  lc_numeric: ['C.UTF-8'],
  lc_time: ['C.UTF-8'],
  default_text_search_config: ['pg_catalog.arabic'],
}
/** A move closes a database by the first; the others name objects, which an operator means. */
const MEANT = new Set([
  'default_transaction_read_only',
  'default_table_access_method',
  'default_tablespace',
  'local_preload_libraries',
  'search_path',
  'temp_tablespaces',
])
/** Settings of superusers that a role or a database may have all the same. */
const OF_SUPERUSERS: [string, string[]][] = [
  ['session_replication_role', ['replica', 'local']],
  ['lc_messages', ['C.UTF-8']],
]

interface Shown {
  name: string
  vartype: string
  boot_val: string | null
  min_val: string | null
  enumvals: string[] | null
}

function unusualValues({ name, vartype, boot_val, min_val, enumvals }: Shown): string[] {
  if (MEANT.has(name)) return []
  if (vartype === 'bool') return [boot_val === 'on' ? 'off' : 'on']
  if (vartype === 'enum') return (enumvals ?? []).filter((value) => value !== boot_val)
  if (vartype === 'string') return UNUSUAL_TEXTS[name] ?? []
  return UNUSUAL_NUMBERS[name] ?? (min_val === null || min_val === boot_val ? [] : [min_val])
}

const read = statement<{ at: Date; bytes: Uint8Array; text: string }, Record<string, unknown>>(sql`
  select ${sql.placeholder('at')}::timestamptz as at, ${sql.placeholder('bytes')}::bytea as bytes,
         ${sql.placeholder('text')}::text as text, array['a', null]::text[] as list,
         ${sql.placeholder('at')}::timestamptz - interval '-1 2:03:04' as earlier,
         '2026-11-05'::date as day, 0.1::float8 + 0.2::float8 as number, 9007199254740991::bigint as big,
         jsonb_build_object('at', ${sql.placeholder('at')}::timestamptz, 'half', 0.5::float8) as object,
         'a\\b' as plain, null::int = null::int as nothing, pg_get_expr(adbin, adrelid) as expression,
         current_setting('transaction_isolation') as isolation, current_setting('statement_timeout') as timeout
    from pg_attrdef where adrelid = 'accounts'::regclass order by adnum limit 1`)
const given = {
  at: new Date('2026-11-05T10:20:30.456Z'),
  bytes: new Uint8Array([0, 39, 92, 120, 127, 128, 255]),
  text: 'Zoë \\ ’ ☂ 😀',
}
/** One after the other, with more time between them than the unusual time-outs have. */
const pause = (work: Pick<Database, 'run'>) =>
  work.run(statement(sql`select pg_sleep(0.06)`), {}).then(() => Bun.sleep(60))

describe('a setting of a role or a database', () => {
  let database: TestDatabase
  let admin: postgres.Sql
  let usual: Record<string, unknown> | null
  const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
  let url: string

  beforeAll(async () => {
    database = await createDatabase()
    admin = postgres(database.url, { max: 1, onnotice: () => {} })
    await admin.unsafe(`create role ${role} login superuser`)
    url = database.url.replace(/\/\/[^@]*@/, `//${role}@`)
    usual = await readBy(url, false)
  })
  afterAll(async () => {
    await admin.end()
    await database.drop()
    const sql = postgres((await sharedPostgres()).url)
    await sql.unsafe(`drop role ${role}`)
    await sql.end()
  })

  async function readBy(at: string, slowly: boolean) {
    const opened = openServer({ url: at, poolSize: 1 })
    try {
      return await opened.transaction(async (one) => {
        if (slowly) await pause(one)
        return one.first(read, given)
      })
    } finally {
      await opened.close()
    }
  }

  /** Each setting has another of its values in each round, here by the role and there by the database. */
  async function rounds(): Promise<[string, string][][]> {
    const shown = await admin<Shown[]>`
      select name, vartype, boot_val, min_val, enumvals from pg_settings where context = 'user'`
    const values = shown.map((one): [string, string[]] => [one.name, unusualValues(one)])
    const all = [...values, ...OF_SUPERUSERS].filter(([, some]) => some.length > 0)
    const most = Math.max(...all.map(([, some]) => some.length))
    return Array.from({ length: most }, (_, at) =>
      all.map(([name, some]): [string, string] => [name, some[at % some.length]!]),
    )
  }

  test('changes nothing that is read, whichever it is', async () => {
    expect(usual).toMatchObject({ ...given, bytes: Buffer.from(given.bytes), big: 9007199254740991 })
    expect(usual).toMatchObject({ isolation: 'read committed', timeout: '2500ms', number: 0.1 + 0.2 })
    const places = [`role ${role}`, `database ${database.name}`]
    for (const [round, settings] of (await rounds()).entries()) {
      expect(settings.length).toBeGreaterThan(100)
      for (const [at, [name, value]] of settings.entries()) {
        const given = `'${value.replaceAll(', ', "', '")}'`
        // A few, such as transaction_isolation, can be set in a transaction alone.
        await admin.unsafe(`alter ${places[(at + round) % 2]} set "${name}" = ${given}`).catch(() => {})
      }
      expect(await readBy(url, true)).toEqual(usual)
      for (const place of places) await admin.unsafe(`alter ${place} reset all`)
    }
  })

  test('reaches no connection behind a pooler either, and no copy', async () => {
    const pooler = await startPooler(database.url, 'session')
    const byPooler = pooler.url.replace(/\/\/[^@]*@/, '//postgres@')
    const odd = { bytea_output: 'escape', DateStyle: 'German', default_transaction_isolation: 'serializable' }
    for (const [name, value] of Object.entries(odd))
      await admin.unsafe(`alter database ${database.name} set ${name} = '${value}'`)
    const found = await readBy(byPooler, false)
    const copy = await openServerCopy(byPooler)
    const [row] = await copy.query(
      `select '\\x00ff'::bytea::text as bytes, '2026-11-05T10:00:00Z'::timestamptz::text as at,
              current_setting('transaction_isolation') as isolation`,
    )
    await copy.close()
    await pooler.stop()
    for (const name of Object.keys(odd)) await admin.unsafe(`alter database ${database.name} reset ${name}`)
    expect(found).toEqual(usual)
    expect(row).toEqual({ bytes: '\\x00ff', at: '2026-11-05 10:00:00+00', isolation: 'read committed' })
  })
})

const german = ['escape', 'German, DMY', 'repeatable read'] as const
const unusual = [['escape', 'SQL, DMY', 'serializable'] as const, ...reduced([], [german])]

describe.each(unusual)('a database with %s, %s and %s', (bytes, dates, isolation) => {
  test('serves sign-ups, sign-ins and refreshes at once, and shows the right day', async () => {
    const empty = await createDatabase({ migrated: false })
    const admin = postgres(empty.url, { max: 1, onnotice: () => {} })
    await admin.unsafe(`alter database ${empty.name} set bytea_output = '${bytes}'`)
    await admin.unsafe(`alter database ${empty.name} set datestyle = '${dates.replace(', ', "', '")}'`)
    await admin.unsafe(`alter database ${empty.name} set default_transaction_isolation = '${isolation}'`)
    await admin.unsafe(`alter database ${empty.name} set lock_timeout = '1ms'`)
    const storage = { server: { secret: 'ab'.repeat(32) }, database: { url: empty.url } }
    const service = await startService({ storage })
    try {
      const people = await Promise.all(Array.from({ length: 8 }, () => service.signUp(newEmail())))
      const bodies = await Promise.all(people.map((person) => service.logIn(person)))
      for (const { account } of bodies)
        expect(account.created_at.slice(0, 10)).toBe(new Date().toISOString().slice(0, 10))
      const again = await Promise.all(Array.from({ length: 32 }, () => service.logIn(people[0]!)))
      const refreshed = await Promise.all(
        again.map(({ refresh_token }) => service.post('refresh', { refresh_token })),
      )
      expect(refreshed.map(({ status }) => status)).toEqual(again.map(() => 200))
      expect(service.log.filter((line) => /"level":(50|"error")/.test(line))).toEqual([])
    } finally {
      await service.close()
      await admin.end()
      await empty.drop()
    }
  })
})
