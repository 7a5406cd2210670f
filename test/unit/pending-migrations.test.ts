/** The check that compares the schema with the migrations: it must be able to fail. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPendingChanges } from '../../scripts/checks/migrations.ts'

setDefaultTimeout(60_000)

const present = join(import.meta.dir, '../../src/platform/postgres/schema.ts')
let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'poterne-schema-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const findIn = (source: string) => {
  const schema = join(directory, `${Bun.hash(source)}.ts`)
  writeFileSync(schema, source)
  return findPendingChanges(schema)
}

test('a table without a migration is named as one, and a schema that cannot be read is no success', async () => {
  const core = import.meta.resolve('drizzle-orm/pg-core')
  const more = `export * from '${present}'
import { integer, pgTable } from '${core}'
export const more = pgTable('more', { id: integer('id').primaryKey() })`
  expect(await findIn(more)).toEqual([
    'the schema has changes without a migration: bun run migration --name what_it_does',
  ])
  expect((await findIn('export * from "./nowhere.ts"'))[0]).toContain('nowhere')
})
