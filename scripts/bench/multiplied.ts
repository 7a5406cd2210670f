/**
 * Rows by the million in the shapes in which the service writes them: a few people register, confirm, sign in and
 * refresh over HTTP, and SQL multiplies what that left in the tables.
 */
import type postgres from 'postgres'
import { PASSWORD, registration } from '../../test/helpers/api-client.ts'
import { startSmtp } from '../../test/helpers/smtp.ts'
import { waitFor } from '../../test/helpers/wait.ts'
import { onDatabase } from './accounts.ts'
import { mergeSettings, type Settings, serve } from './bench.ts'
import { apiOf } from './traffic.ts'

interface Amounts {
  accounts: number
  events: number
  /** As many messages and known devices as well. */
  sessions: number
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
const bytesLike = (column: string) =>
  `substr(sha256((n || '${column}')::text::bytea), 1, octet_length(t.${column}))`
const ifThere = (column: string, value: string) => `case when t.${column} is not null then ${value} end`

const startedAt = performance.now()
const progress = (text: string) =>
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${text}`)

export async function multiply(amounts: Amounts, executable: string, settings: Settings): Promise<void> {
  const databaseUrl = String(settings.database?.url)
  await liveAsPeople(executable, settings, databaseUrl)
  const fillBesideOthers = ([name, table]: [string, Table]) =>
    onDatabase(databaseUrl, async (sql) => {
      await sql`set session_replication_role = replica`
      await sql`set maintenance_work_mem = '512MB'`
      await fill(sql, name, table)
    })
  await Promise.all(Object.entries(tablesOf(amounts)).map(fillBesideOthers))
  await onDatabase(databaseUrl, async (sql) => {
    // As in the first migration.
    await sql`alter index accounts_parts alter column 1 set statistics 0`
    await sql`vacuum analyze`
    await sql`checkpoint`
  })
}

/** Each registers with a phone, confirms by the code in the mail, signs in on that phone and refreshes once. */
async function liveAsPeople(executable: string, settings: Settings, databaseUrl: string): Promise<void> {
  const smtp = await startSmtp({ security: 'none', auth: null })
  const more = { smtp: { port: smtp.port }, server: { trusted_proxies: ['127.0.0.1/32'] } }
  const poterne = await serve(executable, mergeSettings(settings, more))
  const headers = { 'user-agent': 'Acme/4.2 (Android 14; Pixel 7)', 'x-forwarded-for': '203.0.113.77' }
  const send = async (operation: string, sent: object) => {
    const { status, body } = await apiOf(poterne.url).post(operation, sent, { headers })
    if (status > 201) throw new Error(`${operation} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }
  for (let person = 1; person <= PEOPLE; person++) {
    const identifier = `person.of.the.bench${person}@mail.example`
    const device = { device_type: 'Mobile', device_name: 'Pixel 7', device_os: 'Android 14' }
    await send('register', registration(identifier))
    const { code } = await smtp.waitForMailTo(identifier)
    await send('verify-account', { identifier, otp: code })
    const known = { ...device, device_fingerprint: crypto.randomUUID() }
    const { refresh_token } = await send('login', { identifier, password: PASSWORD, ...known })
    await send('refresh', { refresh_token })
  }
  await onDatabase(databaseUrl, (sql) => {
    const open = () => sql`select from messages where finished_at is null or verified_at is null`
    return waitFor(async () => (await open()).length === 0, { what: 'the end of all messages' })
  })
  await poterne.end()
  await smtp.stop()
  progress(`${PEOPLE} people registered, confirmed, signed in and refreshed`)
}

interface Table {
  /** The rows that are multiplied, their order, and about how many rows there are afterwards. */
  among: string
  order: string
  amount: number
  /** What differs from the row that is copied, `t`; `n` counts the rows. Other columns are copied. */
  columns: Record<string, string>
}

function tablesOf({ accounts, events, sessions }: Amounts): Record<string, Table> {
  /** Somebody, in no order: neighbours in time are seldom neighbours in the table. */
  const somebody = `(${FIRST} + (n::bigint * 7919) % ${accounts - FIRST})`
  const inOrder = `(${FIRST} + n % ${accounts - FIRST})`
  const at = (amount: number) => `now() - (${amount} - n) * interval '29 days' / ${amount}`
  return {
    accounts: {
      ...{ among: `id <= ${PEOPLE}`, order: 'id', amount: accounts },
      columns: { id: 'n', uuid: uuidOf('n'), email: emailOf('n'), email_key: emailOf('n') },
    },
    sessions: {
      ...{ among: `account_id <= ${PEOPLE}`, order: 'created_at', amount: sessions },
      columns: {
        ...{ id: 'gen_random_uuid()', account_id: inOrder, family_hash: bytesLike('family_hash') },
        device_fingerprint: 'gen_random_uuid()::text',
      },
    },
    known_devices: {
      ...{ among: `account_id <= ${PEOPLE}`, order: 'account_id', amount: sessions },
      columns: { account_id: inOrder, tag: bytesLike('tag') },
    },
    messages: {
      ...{ among: `id <= ${PEOPLE}`, order: 'id', amount: sessions },
      columns: {
        ...{ id: 'n', destination: emailOf(inOrder), request_id: 'gen_random_uuid()::text' },
        code_subject: ifThere('code_subject', uuidOf(inOrder)),
        account_uuid: ifThere('account_uuid', uuidOf(inOrder)),
        ...{ created_at: at(sessions), finished_at: at(sessions) },
      },
    },
    events: {
      ...{ among: `id < ${FIRST}`, order: 'id', amount: events },
      columns: {
        ...{ id: 'n', created_at: at(events), account: uuidOf(somebody) },
        actor_id: ifThere('actor_id', `${uuidOf(somebody)}::text`),
        session_id: ifThere('session_id', 'gen_random_uuid()'),
        request_id: ifThere('request_id', 'gen_random_uuid()::text'),
      },
    },
    event_details: {
      ...{ among: `event_id < ${FIRST}`, order: 'event_id', amount: events },
      columns: { event_id: 'n' },
    },
  }
}

/** The indexes that no constraint needs are made afterwards: an index that is made at once takes a tenth of the time. */
async function fill(
  sql: postgres.Sql,
  table: string,
  { among, order, amount, columns }: Table,
): Promise<void> {
  await sql.unsafe(`create temp table template as
    select *, row_number() over (order by ${order}) - 1 as place from ${table} where ${among}`)
  const [{ count }] = await sql<[{ count: number }]>`select count(*)::int as count from template`
  if (count === 0) throw new Error(`nothing of ${table} to multiply`)
  const all = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
     where table_name = ${table} and table_schema = 'public' order by ordinal_position`
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
     where schemaname = 'public' and tablename = ${table}
       and not exists (select from pg_constraint where conname = indexname)`
  for (const { name } of indexes) await sql.unsafe(`drop index "${name}"`)
  for (let first = FIRST; first <= amount; first += AT_ONCE) {
    const last = Math.min(amount, first + AT_ONCE - 1)
    await sql.unsafe(`insert into ${table} (${all.map(({ name }) => `"${name}"`)}) overriding system value
      select ${all.map(({ name }) => columns[name] ?? `t."${name}"`)}
        from generate_series(${first}, ${last}) n join template t on t.place = n % ${count}`)
    progress(`  ${last} of ${table}`)
  }
  await sql.unsafe(`select setval(pg_get_serial_sequence('${table}', 'id'), ${amount})
    where exists (select from information_schema.columns where table_name = '${table}' and is_identity = 'YES')`)
  for (const { name, definition } of indexes) {
    await sql.unsafe(definition)
    progress(`  index ${name}`)
  }
  await sql`drop table template`
}
