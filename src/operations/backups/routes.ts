/** The answers of a running service to `poterne backup`; for the operator alone. */

import { Elysia, t } from 'elysia'
import type { AdminBase } from '../../administration/access/access.ts'
import { detail, done, doneAnswer } from '../../administration/access/operation-schema.ts'
import { answer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { nullable } from '../../platform/http/schemas.ts'
import type { BackupService } from './service.ts'

const snapshotAnswer = answer(
  'DatabaseCopy',
  {
    directory: nullable(t.String()),
    refused: nullable(t.String({ description: 'Why no copy could be made, in one line.' })),
  },
  'The copy, or why there is none.',
)

export function createBackupRoutes(
  base: AdminBase,
  backups: Pick<BackupService, 'snapshot' | 'noteSuccess'>,
) {
  return new Elysia({ name: 'backups', prefix: '/admin/v1' })
    .use(base)
    .post('/backups/snapshot', async () => success(await backups.snapshot()), {
      response: { 200: snapshotAnswer, ...errorResponses('route_not_found') },
      detail: detail('copyDatabase', 'Copy the files of the embedded database'),
    })
    .post('/backups', async ({ body }) => done(backups.noteSuccess(body)), {
      body: t.Object({
        file: nullable(t.String({ maxLength: 4096 })),
        bytes: t.Integer({ minimum: 0 }),
        rows: t.Integer({ minimum: 0 }),
        warning: t.Optional(nullable(t.String({ maxLength: 1000 }))),
      }),
      response: { 200: doneAnswer, ...errorResponses('validation_failed') },
      detail: detail('noteBackup', 'Record a backup that was made and verified'),
    })
}
