/** Sign in with a passkey, and look after the passkeys of an account. */
import { Elysia, t } from 'elysia'
import { answer, created, messageAnswer, success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { byPost, documented, documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses, ownerProofErrors } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { assertionField, attestationField } from '../../../platform/http/passkey-schemas.ts'
import { nullable, optionalField, timeField } from '../../../platform/http/schemas.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import { deviceFields, deviceOf } from '../../sessions/core/session-schema.ts'
import {
  type OwnerCall,
  type OwnerProof,
  ownerProofBody,
  signedInAnswer,
  signedInRecord,
} from '../core/sign-in-schema.ts'
import { NAME_CHARACTERS, type Passkey } from './passkey.ts'
import type { PasskeyService } from './service.ts'
import type { WellKnownFiles } from './well-known.ts'

const passkeySchema = namedObject(
  'Passkey',
  {
    id: t.String({ format: 'uuid' }),
    name: t.String({ examples: ['iCloud Keychain'] }),
    created_at: timeField(),
    last_used_at: nullable(timeField()),
    backed_up: t.Boolean({ description: 'Whether it is synced, so that it is not lost with the device' }),
    transports: t.Array(t.String({ examples: ['internal', 'hybrid'] })),
    aaguid: t.String({
      description: 'The kind of authenticator that holds it',
      examples: ['fbfc3007-154e-4ecc-8c0b-6e020557d7bd'],
    }),
  },
  'A passkey of the account.',
)

function passkeyRecord(passkey: Passkey) {
  return {
    id: passkey.id,
    name: passkey.name,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
    backed_up: passkey.backedUp,
    transports: passkey.transports,
    aaguid: passkey.aaguid,
  }
}

const signalSchema = t.Object(
  {
    rp_id: t.String({ examples: ['example.com'] }),
    user_id: nullable(t.String({ description: 'Base64url; null if there is no passkey' })),
    credential_ids: t.Array(t.String({ description: 'Base64url' })),
  },
  { description: 'For `PublicKeyCredential.signalAllAcceptedCredentials`' },
)

const optionsAnswer = (dictionary: string) =>
  answer(
    dictionary.replace('PublicKeyCredential', 'Passkey').replace('JSON', ''),
    {
      options: t.Object(
        {
          challenge: t.String({
            description: 'Base64url; valid for five minutes, once',
            examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
          }),
        },
        { additionalProperties: true, description: `\`${dictionary}\` of WebAuthn Level 3` },
      ),
    },
    'The options that the browser needs.',
  )

const passkeyAnswer = <const Status extends 200 | 201>(status: Status) =>
  answer(
    status === 200 ? 'PasskeyAnswer' : 'PasskeyAdded',
    { passkey: passkeySchema },
    'The passkey as it is now.',
    status,
  )

const passkeysAnswer = answer(
  'Passkeys',
  { passkeys: t.Array(passkeySchema), signal: signalSchema },
  'The passkeys of the account, and what the browser may be told of them.',
)

const idParams = t.Object({
  id: t.String({ format: 'uuid', description: 'The `id` of the passkey in the list' }),
})

const nameField = t.String({
  minLength: 1,
  maxLength: NAME_CHARACTERS,
  description: 'The name under which the owner sees it',
  examples: ['My phone'],
})

const freshNote =
  'Neither password nor code is needed if the session was opened with them less than five minutes ago and the body has its present `refresh_token`, which stays valid.'

const detail = documented('Passkeys')
const detailInSession = documentedInSession('Passkeys')

/** Elysia changes schemas when it compiles a route, so each service has its own. */
const removal = () => ({
  params: idParams,
  body: t.Optional(ownerProofBody),
  response: {
    200: messageAnswer(200),
    ...errorResponses('passkey_not_found', 'last_sign_in_method', 'no_other_factor', ...ownerProofErrors),
  },
})

const removalDetail = detailInSession('removePasskey', 'Remove a passkey', `${freshNote} The owner is told.`)

export function createPasskeyRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  passkeys: PasskeyService,
) {
  async function remove({
    signedIn,
    params,
    body,
    client,
  }: OwnerCall<OwnerProof | null | undefined> & { params: { id: string } }) {
    await passkeys.remove(signedIn, params.id, body ?? {}, client)
    return success({ message: client.texts.sentences.passkey_removed })
  }

  return createLoginRoutes(httpBase, passkeys)
    .use(bearer)
    .post(
      '/registration/options',
      async ({ signedIn, body, client }) =>
        success({ options: await passkeys.registrationOptions(signedIn, body, client) }),
      {
        body: ownerProofBody,
        response: {
          200: optionsAnswer('PublicKeyCredentialCreationOptionsJSON'),
          ...errorResponses('passkey_limit', ...ownerProofErrors),
        },
        detail: detailInSession(
          'passkeyRegistrationOptions',
          'Begin to add a passkey',
          `${freshNote} A passkey that was added in that way signs in at once, and confirms changes after 24 hours.`,
        ),
      },
    )
    .post(
      '/registration',
      async ({ signedIn, body, client }) => {
        const passkey = await passkeys.register(signedIn, body.credential, body.name ?? null, client)
        return created({ passkey: passkeyRecord(passkey) })
      },
      {
        body: t.Object({
          credential: attestationField,
          name: optionalField(t.String(), {
            description: `The name under which the owner sees it; what is longer than ${NAME_CHARACTERS} characters is cut`,
          }),
        }),
        response: {
          201: passkeyAnswer(201),
          ...errorResponses('invalid_passkey', 'passkey_limit', 'too_many_requests'),
        },
        detail: detailInSession(
          'addPasskey',
          'Add a passkey',
          'With the result of the browser for the options that the same session received. The owner is told.',
        ),
      },
    )
    .post(
      '/step-up/options',
      async ({ signedIn, client }) => success({ options: await passkeys.stepUpOptions(signedIn, client) }),
      {
        response: {
          200: optionsAnswer('PublicKeyCredentialRequestOptionsJSON'),
          ...errorResponses('too_many_requests'),
        },
        detail: detailInSession(
          'passkeyStepUpOptions',
          'Begin to confirm a change by passkey',
          'Send the result of the browser as `credential` in the call that asks for password and code, instead of both.',
        ),
      },
    )
    .get(
      '',
      async ({ signedIn }) => {
        const { passkeys: list, signal } = await passkeys.list(signedIn)
        return success({
          passkeys: list.map(passkeyRecord),
          signal: { rp_id: signal.rpId, user_id: signal.userId, credential_ids: signal.credentialIds },
        })
      },
      {
        response: {
          200: passkeysAnswer,
          ...errorResponses(),
        },
        detail: detailInSession('listPasskeys', 'List your passkeys', 'The oldest first.'),
      },
    )
    .patch(
      '/:id',
      async ({ signedIn, params, body }) =>
        success({ passkey: passkeyRecord(await passkeys.rename(signedIn, params.id, body.name)) }),
      {
        params: idParams,
        body: t.Object({ name: nameField }),
        response: { 200: passkeyAnswer(200), ...errorResponses('passkey_not_found', 'too_many_requests') },
        detail: detailInSession('renamePasskey', 'Rename a passkey', 'The name is for its owner only.'),
      },
    )
    .delete('/:id', remove, { ...removal(), detail: removalDetail })
    .post('/:id/remove', remove, { ...removal(), detail: byPost(removalDetail) })
}

function createLoginRoutes(httpBase: HttpBase, passkeys: PasskeyService) {
  return new Elysia({ name: 'passkeys', prefix: '/api/v1/auth/passkeys' })
    .use(httpBase)
    .post('/login/options', async ({ client }) => success({ options: await passkeys.loginOptions(client) }), {
      response: {
        200: optionsAnswer('PublicKeyCredentialRequestOptionsJSON'),
        ...errorResponses('too_many_requests'),
      },
      detail: detail(
        'passkeyLogInOptions',
        'Begin to sign in with a passkey',
        'The same for everybody: the person chooses the account in the browser.',
      ),
    })
    .post(
      '/login',
      async ({ body, client }) =>
        success(signedInRecord(await passkeys.logIn(body.credential, deviceOf(body), client))),
      {
        body: t.Object({ credential: assertionField, ...deviceFields }),
        response: {
          200: signedInAnswer,
          ...errorResponses(
            'unknown_passkey',
            'invalid_passkey',
            'account_locked',
            'account_incomplete',
            'too_many_requests',
          ),
        },
        detail: detail(
          'logInWithPasskey',
          'Sign in with a passkey',
          'Counts as both factors, so that no second step follows. `unknown_passkey` names the credential, for the Signal API.',
        ),
      },
    )
}

/** Serves browsers and phones. They are not under /api, and 404 if they are not configured. */
export function createWellKnownRoutes(files: WellKnownFiles) {
  const json = (path: string, content: object | null) => (routes: Elysia) =>
    content === null
      ? routes
      : routes.get(path, () => Response.json(content, { headers: CACHEABLE }), { detail: { hide: true } })
  const routes = new Elysia({ name: 'passkeys-well-known', prefix: '/.well-known' })
    .use(json('/webauthn', files.webauthn))
    .use(json('/passkey-endpoints', files.passkeyEndpoints))
    .use(json('/apple-app-site-association', files.appleAppSiteAssociation))
    .use(json('/assetlinks.json', files.assetLinks))
  const { changePasswordUrl } = files
  if (changePasswordUrl === null) return routes
  return routes.get('/change-password', ({ redirect }) => redirect(changePasswordUrl, 303), {
    detail: { hide: true },
  })
}

const CACHEABLE = { 'cache-control': 'public, max-age=300' }
