/** The identities of an account at sign-in providers. */
import { Elysia, t } from 'elysia'
import { answer, created, success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { byPost, documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses, ownerProofErrors } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { iso, recordOf } from '../../../platform/http/records.ts'
import { nullable, timeField } from '../../../platform/http/schemas.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import { type OwnerCall, type OwnerProof, ownerProofBody, ownerProofFields } from '../core/sign-in-schema.ts'
import { identityProofFields, providerParams } from './identity-schema.ts'
import type { IdentityService } from './service.ts'
import type { LinkedIdentity } from './store.ts'

const detail = documentedInSession('Social login')

const identity = recordOf<LinkedIdentity>()({
  provider: [t.String({ examples: ['google'] }), ({ provider }) => provider],
  provider_uid: [
    t.String({ description: 'The id of the person at the provider', examples: ['110169484474386276334'] }),
    ({ subject }) => subject,
  ],
  email: [
    nullable(t.String({ examples: ['ada@example.com'] }), {
      description: 'As the provider gave it when it was linked',
    }),
    ({ email }) => email,
  ],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
})
const identitySchema = namedObject(
  'Identity',
  identity.fields,
  'A sign-in through a provider, linked to the account.',
)

const identitiesAnswer = <const Status extends 200 | 201>(status: Status) =>
  answer(
    status === 200 ? 'Identities' : 'IdentitiesAfterLinking',
    { identities: t.Array(identitySchema) },
    'The identities that are linked now.',
    status,
  )

const whereSet =
  'Needs the password if the account has one, otherwise a sign-in of the last 5 minutes. With two-factor sign-in it also needs `otp`.'

/** Elysia changes schemas when it compiles a route, so each service has its own. */
const unlinking = () => ({
  params: providerParams,
  body: t.Optional(ownerProofBody),
  response: {
    200: identitiesAnswer(200),
    ...errorResponses('identity_not_found', 'last_sign_in_method', ...ownerProofErrors),
  },
})

const unlinkingDetail = detail('unlinkIdentity', 'Unlink an identity', `${whereSet} The owner is told.`)

export function createIdentityRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  identities: IdentityService,
) {
  const unlink = async ({
    signedIn,
    params,
    body,
    client,
  }: OwnerCall<OwnerProof | null | undefined> & { params: { provider: string } }) =>
    success({
      identities: (await identities.unlink(signedIn, params.provider, body ?? {}, client)).map(identity.read),
    })

  return new Elysia({ name: 'identities', prefix: '/api/v1/auth/identities' })
    .use(httpBase)
    .use(bearer)
    .get(
      '',
      async ({ signedIn }) => success({ identities: (await identities.list(signedIn)).map(identity.read) }),
      {
        response: { 200: identitiesAnswer(200), ...errorResponses() },
        detail: detail('listIdentities', 'List your linked identities'),
      },
    )
    .post(
      '/:provider',
      async ({ signedIn, params, body, client }) => {
        const linked = await identities.link(signedIn, params.provider, body, client)
        return created({ identities: linked.map(identity.read) })
      },
      {
        params: providerParams,
        body: t.Object({
          ...identityProofFields,
          ...ownerProofFields,
        }),
        response: {
          201: identitiesAnswer(201),
          ...errorResponses(
            'provider_not_found',
            'identity_taken',
            'identity_limit',
            'provider_unavailable',
            ...ownerProofErrors,
          ),
        },
        detail: detail(
          'linkIdentity',
          'Link an identity',
          `With \`code\` and \`code_verifier\`, or with \`id_token\` and \`nonce\`. ${whereSet} The owner is told.`,
        ),
      },
    )
    .delete('/:provider', unlink, { ...unlinking(), detail: unlinkingDetail })
    .post('/:provider/remove', unlink, { ...unlinking(), detail: byPost(unlinkingDetail) })
}
