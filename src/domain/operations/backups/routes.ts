/** The answers of a running service to `poterne backup`; for the operator alone. */

import { Elysia, t } from 'elysia'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { nullable } from '../../../platform/http/schemas.ts'
import { detail } from '../../administration/access/operation-schema.ts'
import type { BackupService } from './service.ts'

export function createBackupRoutes(
  httpBase: HttpBase,
  backups: Pick<BackupService, 'snapshot' | 'release' | 'noteSuccess'>,
) {
  return new Elysia({ name: 'backups', prefix: '/admin/v1' })
    .use(httpBase)
    .post('/backups/snapshot', async () => ({ status: 200 as const, ...(await backups.snapshot()) }), {
      response: {
        200: t.Object({
          status: t.Literal(200),
          directory: nullable(t.String()),
          refused: nullable(t.String({ description: 'Why no copy could be made, in one line.' })),
        }),
        ...errorResponses('route_not_found'),
      },
      detail: detail('copyDatabase', 'Copy the files of the embedded database'),
    })
    .post(
      '/backups/release',
      async () => {
        await backups.release()
        return { status: 200 as const }
      },
      {
        response: { 200: t.Object({ status: t.Literal(200) }), ...errorResponses('route_not_found') },
        detail: detail('releaseDatabase', 'Leave the files of the embedded database to another process'),
      },
    )
    .post(
      '/backups',
      async ({ body }) => {
        await backups.noteSuccess(body)
        return { status: 200 as const }
      },
      {
        body: t.Object({
          file: nullable(t.String({ maxLength: 4096 })),
          bytes: t.Integer({ minimum: 0 }),
          rows: t.Integer({ minimum: 0 }),
          warning: t.Optional(nullable(t.String({ maxLength: 1000 }))),
        }),
        response: { 200: t.Object({ status: t.Literal(200) }), ...errorResponses('validation_failed') },
        detail: detail('noteBackup', 'Record a backup that was made and verified'),
      },
    )
}
