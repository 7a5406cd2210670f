/** Every statement, described by a migrated database: its parameters and its row are what the code declares. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import postgres from 'postgres'
import { camelCase } from '../../src/platform/postgres/database.ts'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import {
  type RegisteredStatement,
  registeredStatements,
  type Spec,
  type TypeName,
  typeNameOf,
} from '../../src/platform/postgres/statement.ts'
import { createDatabase } from '../helpers/servers.ts'

const root = join(import.meta.dir, '../..')

/** https://www.postgresql.org/docs/15/catalog-pg-type.html, the oid of each. */
const oids: Record<TypeName, number> = {
  text: 25,
  uuid: 2950,
  int: 23,
  bigint: 20,
  boolean: 16,
  timestamptz: 1184,
  bytea: 17,
  date: 1082,
  jsonb: 3802,
  json: 114,
  smallint: 21,
  float8: 701,
  'bigint[]': 1016,
}

const typesOf = (spec: Spec) => Object.entries(spec).map(([name, field]) => `${name} ${typeNameOf(field)}`)
const nameOf = (oid: number) => Object.entries(oids).find(([, each]) => each === oid)?.[0] ?? `oid ${oid}`

/** `$1` is what the first of the statement's values stands for; a value may be used more than once. */
const parameterNames = ({ params }: RegisteredStatement) =>
  params.map((param) => (param as { name: string }).name)

for (const pattern of ['src/**/*store-postgres.ts', 'src/**/*-sql.ts'])
  for (const file of new Glob(pattern).scanSync({ cwd: root })) await import(join(root, file))

let client: postgres.Sql

beforeAll(async () => {
  const { url } = await createDatabase()
  const database = openServer({ url, poolSize: 1 })
  await applyMigrations(database, new Date())
  await database.close()
  client = postgres(url, { max: 1, fetch_types: false })
}, 60_000)

afterAll(() => client?.end())

describe('PostgreSQL describes as declared', () => {
  // Those of other tests in this process are about tables of their own.
  for (const statement of registeredStatements().filter(({ name }) => !name.startsWith('test.'))) {
    test(statement.name, async () => {
      const described = await client.unsafe(statement.text, [], { prepare: true }).describe()
      const names = parameterNames(statement)
      expect(described.types.map((oid, index) => `${names[index]} ${nameOf(oid)}`)).toEqual(
        names.map((name) => `${name} ${typeNameOf(statement.paramSpec[name]!)}`),
      )
      expect(Object.keys(statement.paramSpec).sort()).toEqual([...new Set(names)].sort())
      const columns = new Set(described.columns.map(({ name, type }) => `${camelCase(name)} ${nameOf(type)}`))
      if (statement.rowSpec !== null) expect([...columns].sort()).toEqual(typesOf(statement.rowSpec).sort())
    })
  }
})
