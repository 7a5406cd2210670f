/** `invitations/accept`: joining the groups of an invitation. */
import { Elysia, t } from 'elysia'
import { success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { ownAccountAnswer } from '../../accounts/core/account-schema.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { MeService } from '../me/service.ts'
import type { Memberships } from './service.ts'

const detail = documentedInSession('Account')

export function createMembershipRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  memberships: Memberships,
  accounts: Pick<MeService, 'describe'>,
) {
  return new Elysia({ name: 'invitations', prefix: '/api/v1/auth' })
    .use(httpBase)
    .use(bearer)
    .post(
      '/invitations/accept',
      async ({ signedIn, body, client }) => {
        const account = await memberships.accept(signedIn, body.invitation, client)
        return success(accounts.describe({ ...signedIn, account }))
      },
      {
        body: t.Object({
          invitation: t.String({
            maxLength: 256,
            description: 'The code of the invitation',
            examples: ['7K3M-9QWX-2T4V-H8ZN'],
          }),
        }),
        response: {
          200: ownAccountAnswer,
          ...errorResponses('invalid_invitation', 'group_limit', 'too_many_requests'),
        },
        detail: detail(
          'acceptInvitation',
          'Join the groups of an invitation',
          'Groups only, never a role. It costs one use of the invitation, and none where you are in all of its groups already.',
        ),
      },
    )
}
