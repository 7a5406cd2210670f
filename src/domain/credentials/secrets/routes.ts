/** The remaining uses of the server secrets, as operators ask for them. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../../platform/http/answers.ts'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { integer, nullable, timeField } from '../../../platform/http/schemas.ts'
import type { Secrets } from './service.ts'

const rows = t.Object({
  signing_keys: integer(),
  authenticator_apps: integer(),
  lasting_keys: integer(),
})
const previousSecret = t.Object({
  id: t.String(),
  accepted_everywhere: t.Boolean(),
  was_current: t.Boolean(),
  current_elsewhere: t.Boolean(),
  rows,
  sessions: integer(),
  removable_at: nullable(timeField()),
})
const secretStatus = answer(
  'SecretStatus',
  {
    current: t.String({ description: 'The id of the secret that seals and signs' }),
    previous: t.Array(previousSecret),
    lost_rows: integer({ description: 'Sealed rows that open under no accepted secret' }),
  },
  'What the server secrets are still needed for.',
)
export type SecretStatusRecord = typeof secretStatus.static

export function createSecretRoutes(httpBase: HttpBase, secrets: Pick<Secrets, 'status'>) {
  return new Elysia({ name: 'secrets', prefix: '/admin/v1' }).use(httpBase).get(
    '/secret',
    async () => {
      const status = await secrets.status()
      return success({
        current: status.current,
        previous: status.previous.map((each) => ({
          id: each.id,
          accepted_everywhere: each.acceptedEverywhere,
          was_current: each.wasCurrent,
          current_elsewhere: each.isCurrentElsewhere,
          rows: each.rows,
          sessions: each.sessions,
          removable_at: each.removableAt?.toISOString() ?? null,
        })),
        lost_rows: status.lostRows,
      })
    },
    {
      response: { 200: secretStatus, ...errorResponses() },
      detail: documented('Administration')(
        'showSecretStatus',
        'Read what still needs an earlier server secret',
      ),
    },
  )
}
