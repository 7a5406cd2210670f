/** The promise of SpentTokenStore, on the two backends that are PostgreSQL. */

import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { createSpentTokenStore } from '../../src/domain/sign-in/identities/spent-token-store.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { countRows, forEachBackend, type OpenBackend } from './backends.ts'

const DAY_MS = 86_400_000
const end = new Date('2026-07-01T12:00:00.000Z')
const after = (ms: number) => new Date(end.getTime() + ms)

const isLogged = statement<object, { logged: boolean }>(
  sql`select relpersistence = 'p' as logged from pg_class where relname = 'spent_id_tokens'`,
)

const suite = (backend: () => OpenBackend) => {
  const store = () => createSpentTokenStore(backend().database!)

  test('of 32 callers one spends a token, and each token is spent by itself', async () => {
    const [one, other] = [randomBytes(32), randomBytes(32)]
    const spent = await Promise.all(Array.from({ length: 32 }, () => store().spend(one, end)))
    expect(spent.filter(Boolean)).toHaveLength(1)
    expect(await store().spend(other, end)).toBe(true)
    expect(await store().spend(one, after(DAY_MS))).toBe(false)
  })

  test('what expired a day ago is swept, in batches, and what expired later is not', async () => {
    const { database } = backend()
    await store().sweep(after(9 * DAY_MS), 1000)
    const kept = randomBytes(32)
    for (let i = 0; i < 3; i++) await store().spend(randomBytes(32), end)
    await store().spend(kept, after(1))
    expect(await store().sweep(after(DAY_MS), 2)).toBe(2)
    expect(await store().sweep(after(DAY_MS), 2)).toBe(1)
    expect(await store().sweep(after(DAY_MS), 2)).toBe(0)
    expect(await countRows(database!, 'spent_id_tokens')).toBe(1)
    expect(await store().spend(kept, after(1))).toBe(false)
  })

  test('it survives a crash of the server, unlike codes and tickets', async () => {
    expect(await backend().database!.first(isLogged, {})).toEqual({ logged: true })
  })
}

forEachBackend('spent identity tokens', suite, ['PostgreSQL', 'embedded PostgreSQL'])
