/** The content of the stores, the log and the outbox of a world, compared with what may be there. */
import { sql } from 'drizzle-orm'
import { type Statement, statement } from '../../src/platform/postgres/database.ts'
import { must } from './model.ts'
import type { World } from './world.ts'

const tables = statement<object, { name: string }>(
  sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
)

const rowsOf = (table: string): Statement<object, { row: string }> =>
  statement(sql`select row_to_json(t)::text as row from ${sql.identifier(table)} t`)

/** Every row of every table as JSON, bytes in hex. */
async function dumpDatabase({ service }: World): Promise<string> {
  const { database } = service().inside
  const parts: string[] = []
  for (const { name } of await database.all(tables, {})) {
    for (const { row } of await database.all(rowsOf(name), {})) parts.push(row)
  }
  return parts.join('\n')
}

async function dumpRedis(world: World): Promise<string> {
  const url = world.redisUrl()
  if (url === null) return ''
  const redis = new Bun.RedisClient(url)
  const parts: string[] = []
  for (const key of (await redis.send('KEYS', ['*'])) as string[]) {
    const type = await redis.send('TYPE', [key])
    const value = await redis.send(type === 'hash' ? 'HGETALL' : 'GET', [key])
    parts.push(key, JSON.stringify(value))
  }
  redis.close()
  return parts.join('\n')
}

/** Returns it as it is, and as its bytes stand in a bytea column. */
function formsOf(secret: string): string[] {
  return [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64').slice(0, -2)]
}

/** Six digits alone: not a part of a number, a time or bytes. */
export const holdsCode = (text: string, code: string) =>
  new RegExp(`(?<![0-9a-f.:-])${code}(?![0-9a-f.:-])`).test(text) ||
  text.includes(`\\x${Buffer.from(code).toString('hex')}`)

/** The log but for its numbers of messages and milliseconds, which may have six digits as a code does. */
export const withoutNumbers = (log: string) =>
  log.replaceAll(/"(delay_ms|duration_ms|message_id|messages)":[\d.]+/g, '')

/** A refresh token's random half, a TOTP secret's bytes: parts that would be enough. */
function longSecrets({ secrets }: World): string[] {
  const tokens = [...secrets.tokens]
  const halves = tokens.filter((token) => /^[0-9a-f]{64}$/.test(token)).map((token) => token.slice(0, 32))
  const recovery = [...secrets.recovery].flatMap((code) => [code, code.replaceAll('-', '')])
  return [...secrets.passwords, ...tokens, ...recovery, ...secrets.totp].flatMap(formsOf).concat(halves)
}

/** Nothing secret in the stores and in the log. */
export async function checkSecrets(world: World): Promise<void> {
  const stored = `${await dumpDatabase(world)}\n${await dumpRedis(world)}`
  const log = world.log().join('')
  const words = withoutNumbers(log)
  for (const secret of longSecrets(world)) {
    must(!stored.includes(secret), 'a secret stands in the stores')
    must(!log.includes(secret), 'a secret stands in the log')
  }
  for (const code of world.secrets.codes) {
    must(!holdsCode(stored, code), `the code ${code} stands in the stores`)
    must(!holdsCode(words, code), `the code ${code} stands in the log`)
  }
  for (const to of world.given.all()) must(!log.includes(to), `${to} stands in the log`)
}

const proved = statement<object, { twice: number }>(sql`
  select count(*)::int as twice from (
    select lower(email) from accounts where email_confirmed_at is not null group by lower(email) having count(*) > 1
    union all
    select phone from accounts where phone_confirmed_at is not null group by phone having count(*) > 1) doubles`)

export async function checkAccounts({ service }: World): Promise<void> {
  const row = await service().inside.database.first(proved, {})
  must(row?.twice === 0, 'an identifier is proved by two accounts')
}

type Sent = { destination: string; purpose: string; atMs: number }

const sentCodes = statement<object, Sent>(sql`
  select lower(destination) as destination, purpose, (extract(epoch from created_at) * 1000)::float8 as at_ms
    from messages where outcome = 'sent' and code_subject is not null order by created_at`)

const MINUTE_MS = 60_000
/** A call is counted a moment before its message is written. */
const SLACK_MS = 3000

/** They go to a contact that the account has not verified, and count as a stranger's for every caller. */
const TO_UNPROVED = ['confirmation', 'email_change', 'phone_change']

/**
 * Checks the limits against what was really sent. Strangers have a burst of 3, then one a minute, 6 an hour, 12 a day
 * for each destination. Owners have a burst of 3 by device and by session, 10 a day and 10 an hour, beside them.
 */
export async function checkSendingLimits(world: World): Promise<void> {
  if (!world.limited) return
  const all = await world.service().inside.database.all(sentCodes, {})
  must(all.length <= world.arrivals.filter(({ code }) => code !== null).length, 'a message was lost')
  for (const sent of Map.groupBy(all, ({ destination }) => destination).values()) {
    const [{ destination }] = sent as [Sent, ...Sent[]]
    const within = (times: Sent[], windowMs: number, most: number) => {
      for (let i = most; i < times.length; i++) {
        const [from, to] = [times[i - most]!.atMs, times[i]!.atMs]
        const forgotten = world.forgotAtMs.some((at) => at >= from && at <= to)
        must(
          forgotten || to - from >= windowMs - SLACK_MS,
          `${most + 1} codes to ${destination} in ${to - from} ms`,
        )
      }
    }
    const asStrangers = sent.filter(({ purpose }) => TO_UNPROVED.includes(purpose))
    within(asStrangers, 60 * MINUTE_MS, 6)
    within(asStrangers, 24 * 60 * MINUTE_MS, 12)
    within(sent, 60 * MINUTE_MS, 6 + 10 + 10)
    within(sent, 24 * 60 * MINUTE_MS, 12 + 10 + 30)
    for (const [purpose, ofPurpose] of Map.groupBy(sent, ({ purpose }) => purpose))
      within(ofPurpose, MINUTE_MS, TO_UNPROVED.includes(purpose) ? 3 : 3 + 3 + 3)
  }
}
