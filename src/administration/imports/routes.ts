/** Bringing accounts in, for the operator alone: a line may say anything of an account. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { invalid, parseTime, readNumber } from '../../platform/http/read-values.ts'
import { declare } from '../../platform/http/route-traits.ts'
import { nullable } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { detail } from '../access/operation-schema.ts'
import type { AccountExportService } from './export.ts'
import type { ImportService } from './service.ts'

export const MOST_RECORDS = 500

const results = t.Array(
  t.Object({
    outcome: t.Union([t.Literal('imported'), t.Literal('present'), t.Literal('refused')]),
    uuid: t.Optional(t.String()),
    code: t.Optional(t.String({ description: 'Why it was refused (docs/import.md)', examples: ['taken'] })),
    field: t.Optional(t.String()),
    other: t.Optional(t.Integer({ description: 'The index of the record that names the same' })),
    hash: t.Optional(t.String({ description: 'The kind of the password hash', examples: ['bcrypt'] })),
  }),
  { description: 'One for each record, in their order' },
)

const exported = {
  records: t.Array(t.Record(t.String(), t.Unknown()), {
    description: 'In the order of their ids, as an import takes them',
  }),
  next_after: nullable(t.Integer({ description: '`after` of the next call; null where this was the last' })),
  last: t.Integer({ description: 'The greatest id of all accounts' }),
  unopened: t.Integer({ description: 'Authenticator apps whose secret no server secret opens' }),
}

export function createImportRoutes(
  base: AdminBase,
  imports: ImportService,
  accountExport: AccountExportService,
) {
  const routes = new Elysia({ name: 'imports', prefix: '/admin/v1' }).use(base).post(
    '/accounts/forget-hashes',
    async ({ body }) => {
      const unusedSince = parseTime(body.unused_since)
      if (unusedSince === null) throw invalid('unused_since')
      const { forgotten, isDone } = await imports.forgetHashes(unusedSince)
      return success({ forgotten, done: isDone })
    },
    {
      body: t.Object({ unused_since: t.String({ examples: ['2026-01-01T00:00:00Z'] }) }),
      response: {
        200: answer(
          'ForgottenHashes',
          { forgotten: t.Integer(), done: t.Boolean({ description: 'No account is left; else call again' }) },
          'The passwords of other systems were taken from so many accounts.',
        ),
        ...errorResponses('validation_failed'),
      },
      detail: detail('forgetHashes', 'Take the passwords of other systems from accounts that nobody used'),
    },
  )
  routes.get(
    '/accounts/export',
    async ({ query }) => {
      const bounds = { minimum: 1, maximum: MOST_RECORDS }
      const limit = readNumber('limit', query.limit ?? String(MOST_RECORDS), bounds)
      return success({ ...(await accountExport.read(readNumber('after', query.after ?? '0'), limit)) })
    },
    {
      query: t.Object({
        after: t.Optional(t.String({ description: 'The id after which to begin', examples: ['500'] })),
        limit: t.Optional(t.String({ description: `At most ${MOST_RECORDS}`, examples: ['500'] })),
      }),
      response: {
        200: answer('ExportedAccounts', exported, 'The next accounts, with what opens them.'),
        ...errorResponses('validation_failed'),
      },
      detail: detail('exportAccounts', 'Take accounts along, with password hashes and secrets of apps'),
    },
  )
  return routes.post(
    '/accounts/import',
    async ({ body }) => {
      const { records, dry_run: dryRun = false } = body
      const wrong_password_ms = records.length === 0 ? await imports.measureWrong() : null
      return success({ results: await imports.run(records, dryRun), wrong_password_ms })
    },
    {
      body: t.Object({
        records: t.Array(t.Record(t.String(), t.Unknown()), { maxItems: MOST_RECORDS }),
        dry_run: t.Optional(t.Boolean({ description: 'Says what would happen, and writes nothing' })),
      }),
      response: {
        200: answer(
          'ImportResults',
          {
            results,
            wrong_password_ms: nullable(
              t.Integer({
                description: 'The time of a processor that a wrong password takes now; without records alone',
              }),
            ),
          },
          'What became of each record.',
        ),
        ...errorResponses('validation_failed', 'body_too_large'),
      },
      detail: {
        ...detail('importAccounts', 'Bring accounts in from another system'),
        ...declare({ takesLarge: true }),
      },
    },
  )
}
