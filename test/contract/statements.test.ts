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

for (const pattern of ['src/**/*store*.ts', 'src/**/*-sql.ts'])
  for (const file of new Glob(pattern).scanSync({ cwd: root })) await import(join(root, file))

/** Those of other tests in this process are about tables of their own. */
const ofTheProduct = () => registeredStatements().filter(({ name }) => !name.startsWith('test.'))

let client: postgres.Sql

beforeAll(async () => {
  const { url } = await createDatabase()
  const database = openServer({ url, poolSize: 1 })
  await applyMigrations(database, new Date())
  await database.close()
  client = postgres(url, { max: 1, fetch_types: false })
}, 60_000)

afterAll(() => client?.end())

/**
 * The statements that change a table twice, with the reason why no row is changed twice: PostgreSQL would apply only one of
 * the two changes, without a word.
 */
const changedTwice: { table: string; statements: string[]; because: string }[] = [
  {
    table: 'messages',
    because: 'it replaces messages that waited before, and adds new ones, which the statement does not see',
    statements: [
      'contacts.request_of_email',
      'contacts.request_of_phone',
      'outbox.add_code',
      'registration.register_by_email',
      'registration.register_by_phone',
    ],
  },
  {
    table: 'back_channels',
    because: 'it removes the applications that are not listed, and adds those that are',
    statements: ['outbox.put_back_channels'],
  },
  {
    table: 'accounts',
    because:
      'beside the owner (changed, or added) it deletes the registration that waits for the contact, and clears the claims of accounts that neither wait for it nor are the owner',
    statements: [
      'accounts.end_claims_of_email',
      'accounts.end_claims_of_phone',
      'identities.open',
      'registration.confirm_apart_by_email',
      'registration.confirm_apart_by_phone',
      'registration.confirm_by_email',
      'registration.confirm_by_phone',
    ],
  },
  {
    table: 'known_devices',
    because: 'it forgets devices other than the one that it remembers, and old addresses',
    statements: ['administration_sessions.open', 'passkeys.sign_in', 'sessions.sign_in'],
  },
  {
    table: 'trusted_devices',
    because: 'it adds one and removes those that it pushes out, which are other rows',
    statements: ['trusted_devices.add'],
  },
  {
    table: 'sessions',
    because: 'it ends sessions that are there already, and opens one, which the statement does not see',
    statements: ['applications.redeem_code'],
  },
  {
    table: 'code_failures',
    because: 'it lowers the count after a wrong code, and deletes it after a right one',
    statements: ['attempts.release'],
  },
  {
    table: 'sessions',
    because: 'the sessions below the one that ends are moved or ended, by whose account it is',
    statements: ['browser_sessions.replace'],
  },
  {
    table: 'totp_factors',
    because: 'it is given the code of an app or a recovery code, never both',
    statements: ['authenticators.use'],
  },
  {
    table: 'event_details',
    because: 'rows that it counts up are there already, and those that it adds are not',
    statements: ['events.add_failures'],
  },
  {
    table: 'event_details',
    because: 'it keeps the rows that count several failures, and deletes the others',
    statements: ['events.sweep_details'],
  },
  {
    table: 'administrators',
    because: 'it deletes those without a role, and changes those with another one',
    statements: ['restore.change_administrators_again'],
  },
  {
    table: 'server_secrets',
    because: 'it marks the secrets that are not accepted any more, and notes the use of those that are',
    statements: ['secrets.note_use'],
  },
]

test('no statement changes a table twice without a reason', () => {
  const found = ofTheProduct().flatMap(({ name, text }) => {
    const targets = [...text.matchAll(/\b(?:insert into|delete from|update) "(\w+)"/g)].map(
      ([, table]) => table,
    )
    return [...new Set(targets.filter((table, place) => targets.indexOf(table) < place))].map(
      (table) => `${name} changes ${table}`,
    )
  })
  const listed = changedTwice.flatMap(({ table, statements }) =>
    statements.map((name) => `${name} changes ${table}`),
  )
  expect(found.sort()).toEqual(listed.sort())
})

/** The statements that open accounts without a permit, with the reason. */
const opensWithoutPermit: Record<string, string> = {
  'imports.add': 'the operator vouches for what the old system knew',
  'people.create': 'an administrator makes the account',
  'people.put_registration': 'an administrator verifies the contact',
}

/** It sets when the account was confirmed, or adds an account that has been. */
const opensAccounts = ({ text }: RegisteredStatement) =>
  /\baccount_confirmed_at = (?!null)/.test(text.replace(/where[^()]*/g, '')) ||
  [...text.matchAll(/insert into "accounts"\s*(?:as \w+\s*)?\(([^)]*)\)/g)].some(([, columns]) =>
    columns?.includes('account_confirmed_at'),
  )

test('every statement that opens an account asks for the permit, and opens it only with one', () => {
  const opening = ofTheProduct().filter(opensAccounts)
  const around = opening.filter(
    ({ text }) => !/permit as materialized/.test(text) || !/coalesce\(permit\.role_id/.test(text),
  )
  expect(around.map(({ name }) => name).sort()).toEqual(Object.keys(opensWithoutPermit).sort())
  const permitted = opening.filter((statement) => !around.includes(statement)).map(({ name }) => name)
  expect(permitted.sort()).toEqual([
    'identities.open',
    'passwords.open_registration',
    'registration.confirm_apart_by_email',
    'registration.confirm_apart_by_phone',
    'registration.confirm_by_email',
    'registration.confirm_by_phone',
  ])
})

test('an import looks each line up by an index, also while PostgreSQL knows of no account', async () => {
  const { text } = ofTheProduct().find(({ name }) => name === 'imports.find_known')!
  await client.unsafe(`set plan_cache_mode = force_generic_plan; prepare looking_up as ${text}`)
  const plan = JSON.stringify(await client.unsafe(`explain execute looking_up('[]')`))
  await client.unsafe('deallocate looking_up; reset plan_cache_mode')
  // That plan is kept while many come in: what reads every account once for a call reads ever more.
  expect(plan).toContain('accounts_waiting_for')
  expect(plan).not.toMatch(/Hash Join|Merge Join|Seq Scan on accounts/)
})

/** The plan for any values, as the connections of a service make it. */
async function planOf({ text }: RegisteredStatement): Promise<string> {
  const values = [...new Set(text.match(/\$\d+/g))].map(() => 'null').join()
  await client.unsafe(
    `set plan_cache_mode = force_generic_plan; set enable_seqscan = off; prepare planned as ${text}`,
  )
  const plan = await client.unsafe(`explain execute planned${values && `(${values})`}`)
  await client.unsafe('deallocate planned; reset plan_cache_mode; reset enable_seqscan')
  return JSON.stringify(plan)
}

test('a contact is looked for in the indexes that hold no missing ones', async () => {
  const indexes = ['proved', 'claimed', 'registered']
  for (const kind of ['email', 'phone'])
    for (const name of [`accounts.find_for_login_by_${kind}`, `administration_accounts.list_by_${kind}`]) {
      const plan = await planOf(ofTheProduct().find((each) => each.name === name)!)
      expect(indexes.filter((index) => !plan.includes(`accounts_${kind}_${index}`))).toEqual([])
    }
  const plan = await planOf(ofTheProduct().find(({ name }) => name === 'imports.find_claimed')!)
  expect(plan.match(/accounts_(email|phone)_(claimed|registered)/g)?.length).toBe(4)
  expect(plan).not.toContain('Seq Scan on accounts')
})

describe('PostgreSQL describes as declared', () => {
  for (const statement of ofTheProduct()) {
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
