/**
 * Rows by the million in the shapes in which the service writes them: a few people register, confirm, sign in and
 * refresh over HTTP, and SQL multiplies what that left in the tables.
 */
import type postgres from 'postgres'
import { startSmtp } from '../../test/helpers/smtp.ts'
import { waitFor } from '../../test/helpers/wait.ts'
import { onDatabase, PASSWORD } from './accounts.ts'
import { loadSettings, type Settings, startPoterne } from './poterne.ts'
import { post } from './traffic.ts'

export interface Amounts {
  accounts: number
  events: number
  /** As many messages and known devices as well. */
  sessions: number
}

export interface MultiplyOptions extends Amounts {
  executable: string
  databaseUrl: string
  redisUrl: string
  progress: (text: string) => void
}

const PEOPLE = 4
/** The id of the first row that is a copy; what the people left has lower ones. */
const FIRST = 101
/** The rows of one statement, and of one line of progress. */
const AT_ONCE = 500_000

const firstNames =
  'amelie,bruno,chloe,david,elodie,fatou,gael,hugo,ines,jules,karim,lea,moussa,nadia,olivier,paul'
const lastNames = 'martin,diallo,bernard,kone,dubois,traore,moreau,lefevre,garcia,mbaye,roux,fournier,girard'
const domains = 'gmail.example,orange.example,outlook.example,yahoo.example'
const pick = (list: string, place: string) =>
  `(string_to_array('${list}', ','))[1 + ((${place}) % ${list.split(',').length})]`

const emailOf = (n: string) =>
  `(${pick(firstNames, n)} || '.' || ${pick(lastNames, `${n} / 7`)} || ${n} || '@' || ${pick(domains, `${n} / 3`)})`
const uuidOf = (n: string) => `md5('account ' || (${n}))::uuid`
/** The bytes of a column, as random as before. */
const bytesLike = (column: string, n: string) =>
  `substr(sha256((${n} || '${column}')::text::bytea), 1, octet_length(t.${column}))`
const ifThere = (column: string, value: string) => `case when t.${column} is not null then ${value} end`

export async function multiply(options: MultiplyOptions): Promise<void> {
  const { databaseUrl, progress } = options
  await liveAsPeople(options)
  const tables = tablesOf(options)
  // The three that take the longest, beside each other.
  const among = [['accounts'], ['events'], ['event_details', 'sessions', 'known_devices', 'messages']]
  await Promise.all(
    among.map((names) =>
      onDatabase(databaseUrl, async (sql) => {
        await sql`set session_replication_role = replica`
        await sql`set maintenance_work_mem = '1GB'`
        for (const name of names) await fill(sql, tables.find((table) => table.name === name)!, progress)
      }),
    ),
  )
  await onDatabase(databaseUrl, async (sql) => {
    // As in the first migration.
    await sql`alter index accounts_parts alter column 1 set statistics 0`
    await sql`vacuum analyze`
    await sql`checkpoint`
  })
}

/** Each registers with a phone, confirms by the code in the mail, signs in on that phone and refreshes once. */
async function liveAsPeople({ executable, databaseUrl, redisUrl, progress }: MultiplyOptions): Promise<void> {
  const smtp = await startSmtp({ security: 'none', auth: null })
  const poterne = await startPoterne({ executable, settings: settingsFor(smtp.port, databaseUrl, redisUrl) })
  const call = async (operation: string, body: object) => {
    const { method, path } = post(operation, body)
    const answer = await fetch(poterne.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Acme/4.2 (Android 14; Pixel 7)',
        'x-forwarded-for': '203.0.113.77',
      },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${operation} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as { refresh_token: string }
  }
  for (let person = 1; person <= PEOPLE; person++) {
    const email = `person.of.the.bench${person}@mail.example`
    const device = {
      ...{ device_type: 'Mobile', device_name: 'Pixel 7', device_os: 'Android 14' },
      device_fingerprint: crypto.randomUUID(),
    }
    await call('register', { email, password: PASSWORD, password_confirmation: PASSWORD })
    const { code } = await smtp.waitForMailTo(email)
    await call('verify-account', { identifier: email, otp: code })
    const { refresh_token } = await call('login', { identifier: email, password: PASSWORD, ...device })
    await call('refresh', { refresh_token })
  }
  await onDatabase(databaseUrl, (sql) =>
    waitFor(
      async () =>
        (await sql`select from messages where finished_at is null or verified_at is null`).length === 0,
      { what: 'the end of all messages' },
    ),
  )
  await poterne.stop()
  await smtp.stop()
  progress(`${PEOPLE} people registered, confirmed, signed in and refreshed`)
}

export function settingsFor(smtpPort: number, databaseUrl: string, redisUrl: string): Settings {
  const base = loadSettings(smtpPort)
  return {
    ...base,
    server: { ...base.server, trusted_proxies: ['127.0.0.1/32'] },
    database: { url: databaseUrl },
    redis: { url: redisUrl, key_prefix: 'capacity:' },
  }
}

interface Table {
  name: string
  /** The rows that are multiplied, their order, and about how many rows there are afterwards. */
  among: string
  order: string
  amount: number
  /** What differs from the row that is copied, `t`; `n` counts the rows. Other columns are copied. */
  columns: Record<string, string>
}

function tablesOf({ accounts, events, sessions }: Amounts): Table[] {
  /** Somebody, in no order: neighbours in time are seldom neighbours in the table. */
  const somebody = `(${FIRST} + (n::bigint * 7919) % ${accounts - FIRST})`
  const inOrder = `(${FIRST} + n % ${accounts - FIRST})`
  const at = (amount: number) => `now() - (${amount} - n) * interval '29 days' / ${amount}`
  return [
    {
      ...{ name: 'accounts', among: `id <= ${PEOPLE}`, order: 'id', amount: accounts },
      columns: { id: 'n', uuid: uuidOf('n'), email: emailOf('n'), email_key: emailOf('n') },
    },
    {
      ...{ name: 'sessions', among: `account_id <= ${PEOPLE}`, order: 'created_at', amount: sessions },
      columns: {
        ...{ id: 'gen_random_uuid()', account_id: inOrder, family_hash: bytesLike('family_hash', 'n') },
        device_fingerprint: 'gen_random_uuid()::text',
      },
    },
    {
      ...{ name: 'known_devices', among: `account_id <= ${PEOPLE}`, order: 'account_id', amount: sessions },
      columns: { account_id: inOrder, tag: bytesLike('tag', 'n') },
    },
    {
      ...{ name: 'messages', among: `id <= ${PEOPLE}`, order: 'id', amount: sessions },
      columns: {
        ...{ id: 'n', destination: emailOf(inOrder), request_id: 'gen_random_uuid()::text' },
        code_subject: ifThere('code_subject', uuidOf(inOrder)),
        account_uuid: ifThere('account_uuid', uuidOf(inOrder)),
        ...{ created_at: at(sessions), finished_at: at(sessions) },
      },
    },
    {
      ...{ name: 'events', among: `id < ${FIRST}`, order: 'id' },
      amount: events,
      columns: {
        ...{ id: 'n', created_at: at(events), account: uuidOf(somebody) },
        actor_id: ifThere('actor_id', `${uuidOf(somebody)}::text`),
        session_id: ifThere('session_id', 'gen_random_uuid()'),
        request_id: ifThere('request_id', 'gen_random_uuid()::text'),
      },
    },
    {
      ...{ name: 'event_details', among: `event_id < ${FIRST}`, order: 'event_id', amount: events },
      columns: { event_id: 'n' },
    },
  ]
}

/** The indexes that no constraint needs are made afterwards: an index that is made at once takes a tenth of the time. */
async function fill(sql: postgres.Sql, table: Table, progress: (text: string) => void): Promise<void> {
  const { name, among, order, amount, columns } = table
  await sql.unsafe(`create temp table template as
    select *, row_number() over (order by ${order}) - 1 as place from ${name} where ${among}`)
  const [{ count }] = await sql<[{ count: number }]>`select count(*)::int as count from template`
  if (count === 0) throw new Error(`nothing of ${name} to multiply`)
  const all = (
    await sql<{ name: string }[]>`select column_name as name from information_schema.columns
               where table_name = ${name} and table_schema = 'public' order by ordinal_position`
  ).map((column) => column.name)
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
     where schemaname = 'public' and tablename = ${name}
       and not exists (select from pg_constraint where conname = indexname)`
  for (const index of indexes) await sql.unsafe(`drop index "${index.name}"`)
  for (let first = FIRST; first <= amount; first += AT_ONCE) {
    const last = Math.min(amount, first + AT_ONCE - 1)
    await sql.unsafe(`insert into ${name} (${all.map((column) => `"${column}"`)}) overriding system value
      select ${all.map((column) => columns[column] ?? `t."${column}"`)}
        from generate_series(${first}, ${last}) n join template t on t.place = n % ${count}`)
    progress(`  ${last} of ${name}`)
  }
  await sql.unsafe(`select setval(pg_get_serial_sequence('${name}', 'id'), ${amount})
    where exists (select from information_schema.columns where table_name = '${name}' and is_identity = 'YES')`)
  for (const index of indexes) {
    await sql.unsafe(index.definition)
    progress(`  index ${index.name}`)
  }
  await sql`drop table template`
}
