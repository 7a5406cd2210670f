/** The hand-over in the description of the interface. Its routes check their own fields, so these schemas only describe. */
import { type TSchema, t } from 'elysia'
import { accountSchema } from '../../domain/accounts/core/account-schema.ts'
import { bearerSecurity } from '../../platform/http/bearer.ts'
import { namedObject } from '../../platform/http/components.ts'
import { documented } from '../../platform/http/documented.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { declare, type RouteTraits } from '../../platform/http/route-traits.ts'
import { CODE_SECONDS } from './store.ts'

const describe = documented('Hand-over')
const text = (description: string) => t.String({ description })

interface Described {
  operation: Parameters<typeof describe>
  traits: RouteTraits
}

/** `query`: the parameters of an address that a browser opens; those of `required` have to be there. */
const page = (
  { operation, traits }: Described,
  query: Record<string, string>,
  required: string[],
  responses: Record<string, { description: string }>,
) => ({
  detail: {
    ...describe(...operation),
    ...declare({ ...traits, answers: 'page', checksOwnFields: true }),
    parameters: Object.entries(query).map(([name, description]) => ({
      ...{ name, in: 'query' as const, description, required: required.includes(name) },
      schema: { type: 'string' as const },
    })),
    responses,
  },
})

const leads = (description: string) => ({
  description,
  headers: { Location: { description: 'The target of the redirect', schema: { type: 'string' } } },
})

const FOR_OPENID = 'For applications that state `own`'

export const authorizeRoute = page(
  {
    operation: [
      'authorizeApplication',
      'Ask who signs in',
      'The browser goes there, and comes back to `redirect_uri`. It is there with `pages.applications`, as are the other ones of this group; with an entry that states `own` also by POST, as a form.',
    ],
    traits: { takes: 'form' },
  },
  {
    response_type: '`code`',
    client_id: 'The `id` of an entry of `pages.applications`',
    redirect_uri: 'Exactly one of its `redirect_uris`',
    code_challenge: 'BASE64URL(SHA256(code_verifier)), RFC 7636; an application with a secret may go without',
    code_challenge_method: '`S256`',
    state: 'Returned unchanged; at most 1,300 bytes as it stands in an address',
    prompt:
      '`none`, `login` or `create`; for applications that state `own` also `consent` and `select_account`',
    login_hint: 'Who is expected: an e-mail address or a phone number',
    ui_locales: 'The languages of the pages, the preferred one first',
    scope: `${FOR_OPENID}: \`openid\`, \`profile\`, \`email\`, \`phone\`, \`groups\`, \`offline_access\``,
    nonce: `${FOR_OPENID}: it comes back in the ID token; at most 200 bytes`,
    max_age: `${FOR_OPENID}: how many seconds ago somebody may have signed in`,
    id_token_hint: `${FOR_OPENID}: an ID token of the person who is expected`,
  },
  ['response_type', 'client_id', 'redirect_uri'],
  {
    303: leads(
      'To a page; or to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `error_description`, `state` and `iss`',
    ),
    400: { description: 'A page: the application or its address is not known.' },
    429: { description: 'A page: this browser asks too often.' },
    default: { description: 'A page that says what is wrong.' },
  },
)

export const signOutRoute = page(
  {
    operation: [
      'signOutOfBrowser',
      'End the sign-in of the browser',
      'The browser goes there. With an entry that states `own` also by POST, as a form.',
    ],
    traits: { takes: 'form' },
  },
  {
    client_id: 'The application to which the browser goes back',
    post_logout_redirect_uri: 'Exactly one of its `sign_out_uris`',
    state: 'Returned unchanged',
    id_token_hint: `${FOR_OPENID}: an ID token of a session below that of the browser; nobody is asked then`,
  },
  [],
  {
    303: leads('To `post_logout_redirect_uri`, or to a page that says that nobody is signed in'),
    431: { description: 'The request line or the headers are too long; without a body.' },
    default: { description: 'A page that asks whether to sign out, or says what is wrong.' },
  },
)

const clientFields = {
  client_id: t.Optional(text('The `id` of the application; in its place Basic, for one with a secret')),
  client_secret: t.Optional(text('For an application with a secret; in its place Basic')),
}

const form = (operation: Described['operation'], fields: Record<string, TSchema>) => ({
  detail: {
    ...describe(...operation),
    ...declare({ takes: 'form', answers: 'oauth', checksOwnFields: true }),
    // Said as JSON, as every body is, and published as the form that it is.
    requestBody: {
      required: true,
      content: { 'application/json': { schema: JSON.parse(JSON.stringify(t.Object(fields))) } },
    },
  },
})

export const issuedTokens = namedObject(
  'ApplicationTokens',
  {
    status: t.Literal(200),
    access_token: text('For an own application that of a login; for any other it opens userinfo alone'),
    refresh_token: t.Optional(
      text('Keep it before you use the other one. Own applications get a new one each time'),
    ),
    token_type: t.Literal('Bearer'),
    expires_in: t.Integer({ description: 'Seconds', examples: [900] }),
    account: t.Optional(accountSchema),
    scope: t.Optional(text('What was granted')),
    id_token: t.Optional(text('With the scope `openid`')),
  },
  'The tokens of the application. `account` comes to own ones, with a code.',
)

export const tokenRoute = {
  ...form(
    [
      'getApplicationTokens',
      'Get tokens for a code or a refresh token',
      `A code works once, for ${CODE_SECONDS} seconds. Errors have the fields of RFC 6749 as well: \`error\` and, in English, \`error_description\`.`,
    ],
    {
      grant_type: t.Union([t.Literal('authorization_code'), t.Literal('refresh_token')], {
        description: 'Which of the two is sent',
      }),
      ...clientFields,
      code: t.Optional(text('With `authorization_code`: what came to `redirect_uri`')),
      redirect_uri: t.Optional(text('With `authorization_code`: the address to which the code came')),
      code_verifier: t.Optional(text('With `authorization_code`: 43 to 128 characters, RFC 7636')),
      refresh_token: t.Optional(text('With `refresh_token`: the newest one')),
    },
  ),
  response: {
    200: issuedTokens,
    ...errorResponses(
      'invalid_request',
      'invalid_grant',
      'unsupported_grant_type',
      'invalid_client',
      'too_many_requests',
    ),
  },
}

export const revokeRoute = {
  ...form(
    [
      'revokeApplicationToken',
      'End the session of an application',
      'By any of its tokens (RFC 7009). There with an entry that states `own`.',
    ],
    { token: text('An access token or a refresh token'), ...clientFields },
  ),
  response: {
    200: namedObject('Revoked', { status: t.Literal(200) }, 'The token opens nothing any more.'),
    ...errorResponses('invalid_request', 'invalid_client', 'too_many_requests'),
  },
}

export const userinfoRoute = {
  detail: {
    ...describe(
      'getUserinfo',
      'Who signed in',
      'The claims that the scopes of the access token give, and those of the entry. There with an entry that states `own`; also by POST.',
    ),
    ...declare({ answers: 'oauth' }),
    security: bearerSecurity,
  },
  response: {
    200: namedObject(
      'Userinfo',
      {
        sub: t.String({ format: 'uuid', description: "The account's uuid" }),
        name: t.Optional(t.String()),
        email: t.Optional(t.String()),
        email_verified: t.Optional(t.Boolean()),
        phone_number: t.Optional(t.String()),
        phone_number_verified: t.Optional(t.Boolean()),
        groups: t.Optional(t.Array(t.String())),
      },
      'The claims of OpenID Connect, by scope; others as the entry says.',
    ),
    ...errorResponses('insufficient_scope'),
  },
}
