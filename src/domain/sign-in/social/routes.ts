/** Sign in through another provider: in a browser, or with the identity token of a native app. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { readCookies, redirect } from '../../../platform/http/redirect.ts'
import { declare } from '../../../platform/http/route-traits.ts'
import { entryErrors, entryFields } from '../../accounts/admission/entry-schema.ts'
import { providerFailureReasons } from '../../credentials/providers/provider.ts'
import { deviceFields, deviceOf, deviceTokenField } from '../../sessions/core/session-schema.ts'
import { outcomeAnswer, signedInAnswer, twoFactorAnswer } from '../core/sign-in-schema.ts'
import { codeVerifierField, idTokenField, nonceField, providerParams } from '../identities/identity-schema.ts'
import { surplusBindings } from './flow.ts'
import type { SocialService } from './service.ts'

const detail = documented('Social login')

const redirectBrowser = (description: string) =>
  t.Void({
    description,
    headers: { Location: { description: 'The target of the redirect', schema: { type: 'string' } } },
  })

const answerFields = {
  state: t.Optional(
    t.String({ maxLength: 256, description: 'The value that the redirect to the provider had' }),
  ),
  code: t.Optional(t.String({ maxLength: 8192, description: "The provider's code" })),
  iss: t.Optional(t.String({ maxLength: 1024, description: 'The issuer, where the provider names itself' })),
  error: t.Optional(t.String({ maxLength: 256, description: 'The reason, where the provider refused' })),
}

const wantedFields = {
  redirect_uri: t.String({
    maxLength: 2048,
    description: 'Exactly one of social.redirect_uris',
  }),
  code_challenge: t.String({
    pattern: '^[A-Za-z0-9_-]{43}$',
    description: 'BASE64URL(SHA256(code_verifier)), RFC 7636',
  }),
  state: t.Optional(t.String({ maxLength: 512, description: 'Returned unchanged' })),
}

/** The answer is that of a login; `two_factor.identifier` names the account, because no identifier was typed. */
const socialTwoFactorAnswer = namedObject(
  'SocialTwoFactorDue',
  {
    ...twoFactorAnswer.properties,
    two_factor: t.Object({
      ...twoFactorAnswer.properties.two_factor.properties,
      identifier: t.String({
        description: 'The `identifier` for `2fa/verify` and `2fa/request-otp`',
        examples: ['0f8f1e52-3c7a-4b1d-9a60-5e2f7c8d9b01'],
      }),
    }),
  },
  'The provider identified the person, and a second factor is due.',
)

const providersAnswer = answer(
  'Providers',
  {
    providers: t.Array(
      t.Object({
        name: t.String({ examples: ['google'] }),
        authorize_url: t.String({
          description: 'The address to which the browser is sent first',
          examples: ['https://auth.example.com/api/v1/auth/social/google/authorize'],
        }),
      }),
    ),
  },
  'The providers to offer, in the order of the configuration.',
)

const signInErrors = [
  'provider_not_found',
  'account_exists',
  'account_locked',
  'account_incomplete',
  'country_not_allowed',
  'too_many_requests',
  ...entryErrors,
] as const

const errorsOfRedirect = providerFailureReasons.map((reason) => `\`${reason}\``).join(', ')

export function createSocialRoutes(
  httpBase: HttpBase,
  social: SocialService,
  { secure }: { secure: boolean },
) {
  return new Elysia({ name: 'social', prefix: '/api/v1/auth/social' })
    .use(httpBase)
    .get('', () => success({ providers: social.list() }), {
      response: {
        200: providersAnswer,
        ...errorResponses(),
      },
      detail: detail('listProviders', 'List the providers'),
    })
    .get(
      '/:provider/authorize',
      async ({ params, query, headers, client }) => {
        const { redirect_uri: redirectUri, code_challenge: codeChallenge, state } = query
        const wanted = { redirectUri, codeChallenge, state }
        const { location, cookie } = await social.authorize(params.provider, wanted, client)
        const changed = [cookie, ...surplusBindings(readCookies(headers.cookie))]
        return redirect(302, location, ...changed.map((each) => ({ ...each, secure })))
      },
      {
        params: providerParams,
        query: t.Object(wantedFields),
        response: {
          302: redirectBrowser('To the provider; a short-lived cookie binds the sign-in to this browser'),
          ...errorResponses(
            'provider_not_found',
            'invalid_redirect_uri',
            'validation_failed',
            'too_many_requests',
            'provider_unavailable',
          ),
        },
        detail: detail(
          'authorizeProvider',
          'Begin a sign-in in a browser',
          'For navigation in a browser; scripts cannot fetch it.',
        ),
      },
    )
    .get(
      '/:provider/callback',
      async ({ params, query, headers, client }) => {
        const { location, cookie } = await social.finish(
          params.provider,
          query,
          readCookies(headers.cookie),
          client,
        )
        return redirect(302, location, { ...cookie, secure })
      },
      {
        params: providerParams,
        query: t.Object(answerFields),
        response: {
          302: redirectBrowser(
            `To redirect_uri with \`code\` and \`state\`, or with \`error\`: ${errorsOfRedirect}`,
          ),
          ...errorResponses(
            'provider_not_found',
            'invalid_sign_in_state',
            'validation_failed',
            'too_many_requests',
          ),
        },
        detail: {
          ...detail('finishProvider', 'The address to which the provider sends the browser back'),
          ...declare({ answers: 'page' }),
        },
      },
    )
    .post(
      '/:provider/callback',
      ({ params, body }) => redirect(303, social.callbackUrl(params.provider, body)),
      {
        params: providerParams,
        body: t.Object(answerFields),
        response: {
          303: redirectBrowser(
            'To the same path with the fields of the form, so that the browser sends its cookie',
          ),
          ...errorResponses('provider_not_found', 'validation_failed'),
        },
        detail: {
          ...detail(
            'finishProviderByForm',
            'The same for a provider that answers with a form',
            'Apple does so. For browsers: the body is a form.',
          ),
          ...declare({ takes: 'form', answers: 'page' }),
        },
      },
    )
    .post(
      '/exchange',
      async ({ body, client }) =>
        outcomeAnswer(await social.exchange(body, deviceOf(body), client), client.texts),
      {
        body: t.Object({
          code: t.String({ maxLength: 256, description: 'From the redirect; 60 s, once' }),
          code_verifier: codeVerifierField,
          ...entryFields,
          ...deviceFields,
          ...deviceTokenField,
        }),
        response: {
          200: signedInAnswer,
          202: socialTwoFactorAnswer,
          ...errorResponses('invalid_code', 'invalid_credentials', 'test_identity', ...signInErrors),
        },
        detail: detail('exchangeSocialCode', 'Sign in with the code of the redirect'),
      },
    )
    .post(
      '/:provider/token',
      async ({ params, body, client }) => {
        const outcome = await social.signIn(params.provider, body, deviceOf(body), client)
        return outcomeAnswer(outcome, client.texts)
      },
      {
        params: providerParams,
        body: t.Object({
          id_token: idTokenField,
          nonce: nonceField,
          ...entryFields,
          ...deviceFields,
          ...deviceTokenField,
        }),
        response: {
          200: signedInAnswer,
          202: socialTwoFactorAnswer,
          ...errorResponses(
            'invalid_token',
            'invalid_credentials',
            'provider_unavailable',
            'test_identity',
            ...signInErrors,
          ),
        },
        detail: detail(
          'signInNatively',
          'Sign in with the identity token of a native app',
          'Each identity token is accepted once.',
        ),
      },
    )
}
