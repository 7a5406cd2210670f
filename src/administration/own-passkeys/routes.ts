/** The own passkeys of the administrator who is signed in on the page, which is the only client of these. */

import { Elysia, t } from 'elysia'
import { answer, created, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { attestationField } from '../../platform/http/passkey-schemas.ts'
import { nullable, optionalField } from '../../platform/http/schemas.ts'
import { type AdminBase, administratorOf } from '../access/access.ts'
import { detail } from '../access/operation-schema.ts'
import { passkeyRecord, passkeySchema } from '../factors/factor-schema.ts'
import type { OwnPasskeys } from './service.ts'

export function createOwnPasskeyRoutes(base: AdminBase, passkeys: OwnPasskeys) {
  return new Elysia({ name: 'own-passkeys', prefix: '/admin/v1/session/passkeys' })
    .use(base)
    .get(
      '',
      async ({ caller }) => {
        const { passkeys: own, canAdd, origin } = await passkeys.list(administratorOf(caller))
        return success({ can_add: canAdd, origin, passkeys: own.map(passkeyRecord) })
      },
      {
        response: {
          200: answer(
            'OwnPasskeys',
            {
              can_add: t.Boolean({
                description:
                  'False at an address that `passkeys.rp_id` does not cover, and with ten passkeys',
              }),
              origin: nullable(t.String(), {
                description: 'Where browsers make them: the page has this origin there',
                examples: ['http://localhost:8081'],
              }),
              passkeys: t.Array(passkeySchema),
            },
            'The passkeys of the administrator, the oldest first.',
          ),
          ...errorResponses('invalid_token'),
        },
        detail: detail(
          'listOwnPasskeys',
          'List your own passkeys',
          'Those that sign in on the page are among them.',
        ),
      },
    )
    .post(
      '/options',
      async ({ caller }) => success({ options: await passkeys.options(administratorOf(caller)) }),
      {
        response: {
          200: answer(
            'OwnPasskeyOptions',
            { options: t.Object({ challenge: t.String() }, { additionalProperties: true }) },
            'For `navigator.credentials.create`.',
          ),
          ...errorResponses('invalid_token', 'passkey_limit', 'route_not_found'),
        },
        detail: detail(
          'requestOwnPasskey',
          'Begin to add a passkey',
          'The browser makes it for the address of the page.',
        ),
      },
    )
    .post(
      '',
      async ({ caller, body, client }) => {
        const { credential, name } = body
        const added = await passkeys.add(administratorOf(caller), credential, name ?? null, client)
        return created({ passkey: passkeyRecord(added) })
      },
      {
        body: t.Object({
          credential: attestationField,
          name: optionalField(t.String()),
        }),
        response: {
          201: answer(
            'OwnPasskeyAdded',
            { passkey: passkeySchema },
            'It signs in on the page and everywhere else. The owner is told.',
            201,
          ),
          ...errorResponses(
            'invalid_token',
            'invalid_passkey',
            'passkey_limit',
            'route_not_found',
            'too_many_requests',
          ),
        },
        detail: detail('addOwnPasskey', 'Add a passkey', 'With what the browser made of the options.'),
      },
    )
}
