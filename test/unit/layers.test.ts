/** The rules of scripts/check-layers.ts, each fed a file that breaks it. */
import { describe, expect, test } from 'bun:test'
import { drawDiagrams } from '../../scripts/architecture-diagrams.ts'
import { checkLayers } from '../../scripts/check-layers.ts'
import { checkTableOwners } from '../../scripts/table-owners.ts'

const check = (path: string, text: string) => checkLayers([{ path, text }])

describe('imports', () => {
  test.each([
    [
      'src/platform/http/x.ts',
      "import { a } from '../../domain/messages/codes/store.ts'",
      'platform imports domain',
    ],
    ['src/texts/fr.ts', "import type { A } from '../platform/config/types.ts'", 'texts imports platform'],
    ['src/texts/fr.ts', "import type { A } from '../domain/login/service.ts'", 'texts imports domain'],
    [
      'src/domain/messages/codes/service.ts',
      "import { a } from '../../sign-in/login/service.ts'",
      'room messages/codes imports sign-in/login, a later room',
    ],
    [
      'src/domain/sign-in/login/routes.ts',
      "import { createApp } from '../../../compose/app.ts'",
      'domain imports compose',
    ],
    [
      'src/domain/sign-in/login/service.ts',
      "import { a } from '../../../storage/backup/files.ts'",
      'domain imports storage (src/storage/backup/files.ts), which is beside it',
    ],
    [
      'src/pages/account/service.ts',
      "import { a } from '../../administration/directory/service.ts'",
      'pages imports administration (src/administration/directory/service.ts), which is beside it',
    ],
    [
      'src/platform/postgres/pool.ts',
      "import { a } from '../http/answers.ts'",
      'room platform/postgres imports platform/http, a later room',
    ],
    [
      'src/operations/doctor/checks.ts',
      "import { a } from '../commands/doctor.ts'",
      'operations imports commands',
    ],
    [
      'src/domain/sign-in/login/routes.ts',
      "import { a } from '../cellar/service.ts'",
      'room sign-in/cellar is missing in the order',
    ],
    [
      'src/compose/app.ts',
      "import type { A } from '../operations/commands/serve.ts'",
      'compose imports commands',
    ],
    ['src/compose/compose.ts', "await import('../operations/commands/serve.ts')", 'compose imports commands'],
    ['src/operations/commands/serve.ts', "import '../../main.ts'", 'commands imports main'],
  ])('%s may not look up: %s', (path, text, reason) => {
    expect(check(path, text)).toEqual([expect.stringContaining(reason)])
  })

  test.each([
    ['src/domain/sign-in/login/service.ts', 'elysia'],
    ['src/domain/sessions/tokens/service.ts', '@elysiajs/swagger'],
    ['src/domain/messages/codes/service.ts', 'drizzle-orm'],
    ['src/domain/messages/codes/store-redis.ts', 'drizzle-orm/pg-core'],
    ['src/compose/compose.ts', 'postgres'],
    ['src/domain/messages/codes/store-postgres.ts', 'ioredis'],
    ['src/operations/commands/serve.ts', '@electric-sql/pglite'],
  ])('%s may not import %s', (path, name) => {
    expect(check(path, `import x from '${name}'`)).toEqual([`${path}: ${expectedPlace(name)}`])
  })

  test('no files import each other in a circle, by types alone either', () => {
    const file = (name: string, other: string) => ({
      path: `src/platform/${name}.ts`,
      text: `import type { A } from './${other}.ts'`,
    })
    expect(checkLayers([file('a', 'b'), file('b', 'c'), file('c', 'a'), file('d', 'a')])).toEqual([
      'these files import each other in a circle: src/platform/a.ts, src/platform/b.ts, src/platform/c.ts',
    ])
  })

  test('a plugin has the name of its room', () => {
    const path = 'src/domain/sign-in/login/routes.ts'
    expect(check(path, "new Elysia({ name: 'login' }).use(new Elysia({ name: 'login-page' }))")).toEqual([])
    expect(check(path, "new Elysia({ name: 'administration-login' })")).toEqual([
      `${path}: the plugin administration-login does not have the name of its room, login`,
    ])
  })

  test('nothing in src/ imports tests, scripts or a path without extension', () => {
    expect(check('src/main.ts', "import { a } from '../scripts/build.ts'")).toHaveLength(1)
    expect(check('src/main.ts', "import { a } from '../test/helpers/wait.ts'")).toHaveLength(1)
    expect(check('src/main.ts', "import { a } from './operations/commands/serve'")).toHaveLength(1)
  })

  test('a new room must be given its place first', () => {
    expect(check('src/plugins/x.ts', "import { a } from '../platform/clock.ts'")).toEqual([
      expect.stringContaining('is not a floor of src'),
    ])
  })

  test('every import of a multi-line statement and of one line is seen', () => {
    const text =
      "import {\n  a,\n  b,\n} from '../../domain/messages/codes/a.ts'\nexport * from '../../domain/messages/codes/b.ts'; import '../../domain/messages/codes/c.ts'"
    expect(check('src/platform/http/x.ts', text)).toHaveLength(3)
  })

  test.each([
    ['src/domain/messages/codes/store-postgres.ts', "import { sql } from 'drizzle-orm'"],
    ['src/domain/messages/codes/budget-store.ts', "import { sql } from 'drizzle-orm'"],
    ['src/platform/redis/connection.ts', "import Redis from 'ioredis'"],
    [
      'src/domain/sign-in/login/routes.ts',
      "import { Elysia } from 'elysia'\nimport { a } from './service.ts'",
    ],
    [
      'src/domain/sign-in/login/service.ts',
      "import { AppError } from '../../../texts/errors.ts'\nimport { b } from '../../messages/codes/x.ts'",
    ],
    ['src/domain/sessions/tokens/service.ts', "import { jwt } from '@elysiajs/jwt'"],
    ['src/domain/messages/codes/service.ts', "import { a } from '../../foundation/limits/callers.ts'"],
    [
      'src/operations/commands/version.ts',
      "import manifest from '../../../package.json' with { type: 'json' }",
    ],
    ['src/main.ts', "import { serve } from './operations/commands/serve.ts'"],
    ['src/operations/commands/doctor.ts', "import { a } from '../doctor/checks.ts'"],
    ['src/console/routes.ts', "import { a } from '../pages/frame/frame.ts'\nimport { Elysia } from 'elysia'"],
    ['src/storage/backup/job.ts', "import { a } from '../embedded/instance.ts'"],
    ['scripts/bench/run.ts', "import postgres from 'postgres'"],
  ])('%s may: %s', (path, text) => {
    expect(check(path, text)).toEqual([])
  })
})

describe('tables', () => {
  const owned = (path: string, text: string) => checkTableOwners([{ path, text }])

  test.each([
    ['sql`update ${accounts} set role_id = 1`', 'writes accounts, which belongs to accounts/core'],
    ['sql`\n  insert into\n  ${sessions} (id) values (1)`', 'writes sessions, which belongs to sessions'],
    ['sql`delete from only ${passkeys}`', 'writes passkeys'],
    ['database.delete(tickets)', 'writes tickets'],
    ['createSweep({\n  table: messages,\n})', 'writes messages'],
    ['createAgeSweep(\n  messages,\n)', 'writes messages'],
    ['sql`update ${table} set x = 1`', 'writes table, which has no owner'],
    [
      "import { accounts as people } from '../../../platform/postgres/schema.ts'",
      'imports a table by another name',
    ],
    ['sql`update accounts set role_id = 1`', 'writes accounts'],
  ])('a room may not write the table of another: %s', async (text, problem) => {
    const schema = {
      path: 'src/platform/postgres/schema.ts',
      text: await Bun.file('src/platform/postgres/schema.ts').text(),
    }
    expect(checkTableOwners([schema, { path: 'src/domain/sign-in/login/store.ts', text }])).toEqual([
      expect.stringContaining(problem),
    ])
  })

  test('the owner writes, and others read and speak of it', () => {
    expect(owned('src/domain/accounts/core/changes-sql.ts', 'sql`update ${accounts} set a = 1`')).toEqual([])
    expect(
      owned('src/domain/sign-in/login/store.ts', '// update ${accounts}\nsql`select 1 from ${accounts}`'),
    ).toEqual([])
  })

  test('the writers of accounts and of sessions stay few', () => {
    const writer = (number: number) => ({
      path: `src/domain/sessions/core/${number}-sql.ts`,
      text: 'sql`update ${sessions} set a = 1`',
    })
    expect(checkTableOwners([writer(1), writer(2)])).toEqual([])
    expect(checkTableOwners([writer(1), writer(2), writer(3)])).toEqual([
      expect.stringContaining('sessions is written by 3 files, more than 2'),
    ])
  })
})

function expectedPlace(name: string): string {
  if (name.includes('elysia'))
    return `imports ${name}, which belongs in app.ts, platform/http/, routes.ts and *-schema.ts`
  if (name === 'ioredis') return `imports ${name}, which belongs in platform/redis/ and store-redis.ts`
  return `imports ${name}, which belongs in platform/postgres/, storage/, store.ts, store-postgres.ts and *-sql.ts`
}

test('a diagram leaves out an arrow where a longer way leads to the same place', () => {
  const files = [
    {
      path: 'src/domain/sign-in/login/service.ts',
      text: "import '../core/a.ts'; import '../../accounts/core/a.ts'; import '../../messages/codes/b.ts'",
    },
    { path: 'src/domain/accounts/core/a.ts', text: "import { b } from '../../messages/codes/b.ts'" },
    { path: 'src/domain/messages/codes/b.ts', text: "import { c } from '../../../platform/clock.ts'" },
  ]
  const drawn = drawDiagrams(
    'before\n<!-- folders -->\nold\n<!-- /folders -->\n<!-- sign-in -->\n<!-- /sign-in -->\nafter',
    files,
  )
  const arrows = drawn.split('\n').filter((line) => line.includes('-->') && !line.startsWith('<'))
  expect(arrows).toEqual(['  sign-in --> accounts', '  accounts --> messages', '  login --> core'])
  expect(drawn).toStartWith('before\n<!-- folders -->\n```mermaid\nflowchart TD\n')
  expect(drawn).toEndWith('\n```\n<!-- /sign-in -->\nafter')
})
