/** Changing the e-mail address or phone number: requested with the password, verified by a code. */
import { Elysia, t } from 'elysia'
import { success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { byPost, documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses, ownerProofErrors } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { accountAnswer } from '../../accounts/core/account-schema.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import {
  type OwnerCall,
  otpField,
  ownerProofBody,
  ownerProofFields,
  sentCode,
  sentCodeAnswer,
} from '../../sign-in/core/sign-in-schema.ts'
import type { ContactsService } from './service.ts'

const detail = documentedInSession('Contacts')

const newEmail = t.String({ maxLength: 512, description: 'The new address', examples: ['ada@example.com'] })
const newPhone = t.String({
  maxLength: 512,
  description: 'The new number; a national one is read in accounts.default_country',
  examples: ['+33612345678'],
})

const changeResponses = () => ({
  201: sentCodeAnswer,
  ...errorResponses(
    ...ownerProofErrors,
    'country_not_allowed',
    'channel_not_available',
    'identifier_taken',
    'domain_not_allowed',
  ),
})

const confirmSchema = () => ({
  body: t.Object({ otp: otpField }),
  response: {
    200: accountAnswer,
    ...errorResponses('invalid_code', 'too_many_attempts', 'too_many_requests', 'domain_not_allowed'),
  },
})

const removal = () => ({
  body: ownerProofBody,
  response: {
    200: accountAnswer,
    ...errorResponses(...ownerProofErrors, 'contact_not_found', 'last_sign_in_method'),
  },
})

const REMOVAL =
  'Refused for the last verified one. It is told, as are the other verified contacts. `password` where the account has one.'
const removeEmail = detail('removeEmail', 'Remove the own e-mail address', REMOVAL)
const removePhone = detail('removePhone', 'Remove the own telephone number', REMOVAL)

const CHANGE =
  'A code is sent to the new one; a later request replaces it. An unverified contact of the account is verified in the same way. If it belongs to somebody else, the answer is the same, no code is sent and its owner is told (409 `identifier_taken` with `accounts.reveal_existing` alone).'
const CONFIRMATION =
  'The contacts verified before are told. Two-factor sign-in stays on, and its codes go to the new one.'

export function createContactRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  contacts: ContactsService,
) {
  const remove =
    (kind: 'email' | 'phone') =>
    async ({ signedIn, body, client }: OwnerCall) =>
      success({ account: await contacts.remove(signedIn, kind, body, client) })

  return new Elysia({ name: 'contacts', prefix: '/api/v1/auth' })
    .use(httpBase)
    .use(bearer)
    .post(
      '/email/change',
      async ({ signedIn, body: { email, ...proof }, client }) => {
        const sent = await contacts.change(signedIn, 'email', { contact: email, ...proof }, client)
        return sentCode(client.texts.sentences.email_change_sent, sent)
      },
      {
        body: t.Object({ email: newEmail, ...ownerProofFields }),
        response: changeResponses(),
        detail: detail('changeEmail', 'Request a new e-mail address', CHANGE),
      },
    )
    .post(
      '/email/confirm',
      async ({ signedIn, body, client }) =>
        success({ account: await contacts.confirm(signedIn, 'email', body, client) }),
      { ...confirmSchema(), detail: detail('confirmEmail', 'Verify the new e-mail address', CONFIRMATION) },
    )
    .post(
      '/phone/change',
      async ({ signedIn, body: { phone, ...proof }, client }) => {
        const sent = await contacts.change(signedIn, 'phone', { contact: phone, ...proof }, client)
        return sentCode(client.texts.sentences.phone_change_sent, sent)
      },
      {
        body: t.Object({ phone: newPhone, ...ownerProofFields }),
        response: changeResponses(),
        detail: detail('changePhone', 'Request a new phone number', CHANGE),
      },
    )
    .post(
      '/phone/confirm',
      async ({ signedIn, body, client }) =>
        success({ account: await contacts.confirm(signedIn, 'phone', body, client) }),
      { ...confirmSchema(), detail: detail('confirmPhone', 'Verify the new phone number', CONFIRMATION) },
    )
    .delete('/email', remove('email'), { ...removal(), detail: removeEmail })
    .post('/email/remove', remove('email'), { ...removal(), detail: byPost(removeEmail) })
    .delete('/phone', remove('phone'), { ...removal(), detail: removePhone })
    .post('/phone/remove', remove('phone'), { ...removal(), detail: byPost(removePhone) })
}
