/** Signing in and out on the page of administration, by cookie. The page is the only client of these. */

import { Elysia, t } from 'elysia'
import { identifierField, passwordField } from '../../domain/accounts/core/account-schema.ts'
import { otpField } from '../../domain/sign-in/core/sign-in-schema.ts'
import { answer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { assertionField } from '../../platform/http/passkey-schemas.ts'
import { nullable, optionalField } from '../../platform/http/schemas.ts'
import { type AdminBase, administratorOf, scopesOf } from '../access/access.ts'
import { administratorRoleField, detail, scopeField } from '../access/operation-schema.ts'
import type { PageCookies } from '../access/page-cookie.ts'
import { LIFETIME_SECONDS, PROVED_MS } from './policy.ts'
import { type AdministratorSessions, DEVICE_MS } from './service.ts'

const PENDING_MS = 10 * 60_000
const LIFETIME_MS = LIFETIME_SECONDS * 1000

const time = (description: string) => t.String({ description, format: 'date-time' })

const begunAnswer = answer(
  'PageSignInBegun',
  {
    methods: t.Array(t.Union([t.Literal('passkey'), t.Literal('totp')]), {
      description:
        'The second factors that can finish it. Empty: `session/app` sets one up, where the account has none',
      examples: [['totp']],
    }),
  },
  'The password is right. The cookie names the sign-in for ten minutes.',
)

const csrfTokenField = t.String({
  description: 'Every write of this session carries it as `X-CSRF-Token`',
  examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
})

const openedAnswer = answer(
  'PageSignedIn',
  {
    csrf_token: csrfTokenField,
    recovery_codes: t.Optional(
      t.Array(t.String({ examples: ['7KQ2-M0XV-9RTA-4ZJC'] }), {
        description: 'Only where an app was set up with it: they are shown once',
      }),
    ),
  },
  'Signed in: the cookie names the session.',
)

const sessionAnswer = answer(
  'AdministratorSession',
  {
    csrf_token: csrfTokenField,
    administrator: t.Object({
      uuid: t.String({ examples: ['0f8f1e52-3c7a-4b1d-9a60-5e2f7c8d9b01'] }),
      email: nullable(t.String({ examples: ['ada@example.com'] })),
      phone: nullable(t.String({ examples: ['+33612345678'] })),
      role: administratorRoleField,
    }),
    scopes: t.Array(scopeField, {
      description: 'What the role reaches; support staff have some of them only in part',
    }),
    proved_until: time('Until then destructive actions ask for nothing more'),
    ends_at: time('At the latest; half an hour without a request ends it too'),
    passkeys_url: nullable(t.String(), {
      description: 'The page of their own passkeys, where browsers make some',
      examples: ['https://admin.example.com/account/passkeys'],
    }),
  },
  'Who is signed in on the page.',
)

const appAnswer = answer(
  'PageAuthenticatorApp',
  {
    secret: t.String({
      description: 'Base32, for typing in',
      examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
    }),
    otpauth_uri: t.String({ examples: ['otpauth://totp/Example:ada@example.com?secret=JBSWY3DPEHPK3PXP'] }),
    qr_svg: t.String({ description: '`otpauth_uri` as a QR code', examples: ['<svg …></svg>'] }),
  },
  'What the app has to scan. Its first code goes to `session/verify`.',
)

const optionsAnswer = answer(
  'PagePasskeyOptions',
  {
    options: t.Object(
      { challenge: t.String({ examples: ['AAABk1m2c3R5'] }) },
      { additionalProperties: true },
    ),
  },
  'For `navigator.credentials.get`.',
)

const doneAnswer = (name: string, description: string) => answer(name, {}, description)

const proofFields = {
  otp: optionalField(otpField),
  credential: t.Optional(
    t.Union([assertionField, t.Null()], {
      description: 'Instead of `otp`: the signature of a passkey over the options of `session/passkey`',
    }),
  ),
}

const factorErrors = [
  'invalid_token',
  'account_locked',
  'two_factor_required',
  'invalid_code',
  'invalid_passkey',
  'unknown_passkey',
  'passkey_too_new',
  'too_many_attempts',
  'too_many_requests',
] as const

export function createAdministratorSessionRoutes(
  base: AdminBase,
  pages: AdministratorSessions,
  cookies: PageCookies,
  passkeysUrl: string | null,
) {
  const sessionRoutes = new Elysia({ name: 'administrator-sessions', prefix: '/admin/v1' })
    .use(base)
    .post(
      '/session',
      async ({ body, headers, client, set }) => {
        const device = cookies.device.read(headers.cookie)
        const { cookie, methods } = await pages.begin(body, { ...client, device })
        set.headers['set-cookie'] = cookies.session.write(cookie, PENDING_MS).slice(0, 1)
        return success({ methods })
      },
      {
        body: t.Object({ identifier: identifierField, password: passwordField }),
        response: {
          200: begunAnswer,
          ...errorResponses('invalid_credentials', 'account_locked', 'too_many_requests', 'server_busy'),
        },
        detail: detail(
          'beginAdministratorSession',
          'Begin a sign-in with the password',
          'The answer is the same for a wrong password and for an account that is no administrator.',
        ),
      },
    )
    .post(
      '/session/app',
      async ({ headers }) => {
        const { secret, uri, picture } = await pages.requestApp(cookies.session.read(headers.cookie))
        return success({ secret, otpauth_uri: uri, qr_svg: picture })
      },
      {
        response: {
          200: appAnswer,
          ...errorResponses('invalid_token', 'account_locked', 'two_factor_required'),
        },
        detail: detail(
          'requestPageApp',
          'Set up an authenticator app',
          'For an administrator who has no second factor; the cookie of `POST session` names the sign-in. With `two_factor_required` the account has another one, which the page does not take: an app or a passkey is added in the account itself.',
        ),
      },
    )
    .post(
      '/session/passkey',
      async ({ headers, client }) =>
        success({ options: await pages.passkeyOptions(cookies.session.read(headers.cookie), client) }),
      {
        response: { 200: optionsAnswer, ...errorResponses('invalid_token', 'account_locked') },
        detail: detail(
          'requestPagePasskey',
          'Ask for the options of a passkey',
          'For the second factor of a sign-in under way, or of a session that proves it again; the cookie names which.',
        ),
      },
    )
    .post(
      '/session/verify',
      async ({ body, headers, client, set }) => {
        const device = cookies.device.read(headers.cookie)
        const named = cookies.session.read(headers.cookie)
        const opened = await pages.verify(named, body, { ...client, device })
        set.headers['set-cookie'] = [
          ...cookies.session.write(opened.cookie, LIFETIME_MS),
          ...cookies.device.write(opened.device, DEVICE_MS),
        ]
        const { csrfToken, recoveryCodes } = opened
        return success({ csrf_token: csrfToken, ...(recoveryCodes && { recovery_codes: recoveryCodes }) })
      },
      {
        body: t.Object(proofFields),
        response: { 200: openedAnswer, ...errorResponses(...factorErrors, 'invalid_credentials') },
        detail: detail(
          'verifyAdministratorSession',
          'Finish a sign-in with the second factor',
          'The cookie of `POST session` names the sign-in. A code that was sent, or a recovery code, is no second factor here.',
        ),
      },
    )
  return sessionRoutes
    .get(
      '/session',
      async ({ caller, headers }) => {
        const administrator = administratorOf(caller)
        const { account, role, authenticatedAt, endsAt, cookie } = await pages.require(
          cookies.session.read(headers.cookie),
        )
        const { uuid, email, phone } = account
        return success({
          csrf_token: pages.csrfTokenOf(cookie),
          administrator: { uuid, email, phone, role },
          scopes: [...scopesOf(administrator)],
          proved_until: new Date(authenticatedAt.getTime() + PROVED_MS).toISOString(),
          ends_at: endsAt.toISOString(),
          passkeys_url: passkeysUrl,
        })
      },
      {
        response: { 200: sessionAnswer, ...errorResponses('invalid_token') },
        detail: detail('showAdministratorSession', 'Read the session', 'For a page that was loaded again.'),
      },
    )
    .post(
      '/session/reauthenticate',
      async ({ headers, body, client, set }) => {
        const named = cookies.session.read(headers.cookie)
        const { cookie, csrfToken } = await pages.reauthenticate(named, body, client)
        set.headers['set-cookie'] = cookies.session.write(cookie, LIFETIME_MS)
        return success({ csrf_token: csrfToken })
      },
      {
        body: t.Object({ password: passwordField, ...proofFields }),
        response: {
          200: answer(
            'AdministratorSessionProved',
            { csrf_token: csrfTokenField },
            'Destructive actions are open for five minutes. The cookie and the token are new.',
          ),
          ...errorResponses(...factorErrors, 'server_busy'),
        },
        detail: detail(
          'reauthenticateAdministratorSession',
          'Prove password and second factor again',
          'For a destructive action that answered `reauthentication_required`.',
        ),
      },
    )
    .delete(
      '/session',
      async ({ caller, set }) => {
        await pages.end(administratorOf(caller))
        set.headers['set-cookie'] = cookies.session.remove()
        return success({})
      },
      {
        response: {
          200: doneAnswer('AdministratorSessionEnded', 'The session is over.'),
          ...errorResponses('invalid_token'),
        },
        detail: detail('endAdministratorSession', 'Sign out', 'The cookie is removed.'),
      },
    )
}
