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
