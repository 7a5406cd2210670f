/** Registering, confirming the account, and sending the confirmation code again (under two paths). */
import { Elysia, t } from 'elysia'
import { answer, created, messageAnswer } from '../../../platform/http/answers.ts'
import { component } from '../../../platform/http/components.ts'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { Client, HttpBase } from '../../../platform/http/http-base.ts'
import { optionalField } from '../../../platform/http/schemas.ts'
import { entryErrors, entryFields } from '../../accounts/admission/entry-schema.ts'
import {
  accountSchema,
  identifierField,
  newPasswordFields,
  profileBody,
} from '../../accounts/core/account-schema.ts'
import { deviceFields, deviceOf } from '../../sessions/core/session-schema.ts'
import { otpField, signedInAnswer, signedInRecord } from '../core/sign-in-schema.ts'
import type { RegistrationService } from './service.ts'

const detail = documented('Registration')

const registerBody = t.Object(
  {
    email: optionalField(t.String({ maxLength: 512 }), { description: 'E-mail address' }),
    phone: optionalField(t.String({ maxLength: 512 }), {
      description: 'Phone number; a national one is read in accounts.default_country',
    }),
    password: t.Optional(newPasswordFields.password),
    password_confirmation: t.Optional(newPasswordFields.password_confirmation),
    profile: optionalField(profileBody),
    ...entryFields,
  },
  {
    examples: [
      {
        email: 'ada@example.com',
        phone: '+33612345678',
        password: 'une phrase bien longue',
        password_confirmation: 'une phrase bien longue',
      },
    ],
  },
)

const confirmBody = t.Object({
  identifier: identifierField,
  otp: otpField,
  password: optionalField(t.String(), {
    description:
      'The password that the account will have, whatever registrations named; the rules of register apply',
  }),
  sign_in: optionalField(
    t.Boolean({
      description: 'Also open a session, and answer with its tokens; needs `password` in the same call',
    }),
  ),
  profile: optionalField(profileBody),
  ...entryFields,
  ...deviceFields,
})

const { access_token, refresh_token } = signedInAnswer.properties
const confirmedAnswer = answer(
  'AccountConfirmed',
  { message: t.String() },
  'The account is confirmed, and nobody is signed in.',
  201,
)
const confirmedSignedInAnswer = answer(
  'AccountConfirmedSignedIn',
  { message: t.String(), access_token, refresh_token, account: accountSchema },
  'The account is confirmed, and its owner is signed in.',
  201,
)
const confirmationAnswer = component(
  'AccountConfirmation',
  t.Union([confirmedSignedInAnswer, confirmedAnswer], {
    description: 'The account is confirmed; with `sign_in` the tokens and the account, too.',
  }),
)
const resendBody = t.Object({
  identifier: identifierField,
  device_fingerprint: deviceFields.device_fingerprint,
})

export function createRegistrationRoutes(httpBase: HttpBase, registration: RegistrationService) {
  const resendDocs = (path: 'Verification' | 'Confirmation') => ({
    body: resendBody,
    response: {
      201: messageAnswer(201),
      ...errorResponses('too_many_requests', 'country_not_allowed', 'channel_not_available'),
    },
    detail: detail(
      `resend${path}`,
      `Send the confirmation code again${path === 'Confirmation' ? ' (the same, by its other name)' : ''}`,
      'The same answer for every identifier. A code is sent only for an unconfirmed account.',
    ),
  })

  async function resend({ body, client }: { body: typeof resendBody.static; client: Client }) {
    await registration.resend(body, { ...client, fingerprint: body.device_fingerprint || null })
    return created({ message: client.texts.sentences.confirmation_resent })
  }

  return new Elysia({ name: 'registration', prefix: '/api/v1/auth' })
    .use(httpBase)
    .post(
      '/register',
      async ({ body, client }) => {
        const { channel } = await registration.register(
          { ...body, confirmation: body.password_confirmation },
          client,
        )
        const { sentences } = client.texts
        return created({
          message: channel === 'email' ? sentences.code_sent_by_email : sentences.code_sent_by_sms,
        })
      },
      {
        body: registerBody,
        response: {
          201: messageAnswer(201),
          ...errorResponses(
            'too_many_requests',
            'country_not_allowed',
            'channel_not_available',
            'identifier_taken',
            'server_busy',
            'registration_closed',
            'invalid_invitation',
            'domain_not_allowed',
          ),
        },
        detail: detail(
          'register',
          'Create an account',
          'With an e-mail address, a phone number, or both; the code is sent to the e-mail address if there is one.',
        ),
      },
    )
    .post(
      '/verify-account',
      async ({ body, client }) => {
        const wanted = { ...body, signsIn: body.sign_in }
        const { hasPassword, signedIn } = await registration.confirm(wanted, deviceOf(body), client)
        const { sentences } = client.texts
        return created({
          message: hasPassword ? sentences.account_confirmed : sentences.account_confirmed_choose_password,
          ...(signedIn && signedInRecord(signedIn)),
        })
      },
      {
        body: confirmBody,
        response: {
          201: confirmationAnswer,
          ...errorResponses(
            'invalid_code',
            'too_many_attempts',
            'too_many_requests',
            'account_incomplete',
            'server_busy',
            'account_locked',
            ...entryErrors,
          ),
        },
        detail: detail(
          'verifyAccount',
          'Confirm the account with its code',
          'With `password` the account has that one and no other. With `sign_in` too, the answer also holds access_token, refresh_token and account.',
        ),
      },
    )
    .post('/resend-verification', resend, resendDocs('Verification'))
    .post('/resend-confirmation', resend, resendDocs('Confirmation'))
}
