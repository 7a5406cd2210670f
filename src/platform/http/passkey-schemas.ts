/** The answers of a browser or an app, as WebAuthn Level 3 writes them in JSON. */
import { t } from 'elysia'
import { component } from './components.ts'

/** 1,023 bytes in base64url. */
const credentialId = () => t.String({ minLength: 1, maxLength: 1364, pattern: '^[A-Za-z0-9_-]+$' })
const encoded = (maxLength: number) => t.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })

const common = {
  id: credentialId(),
  rawId: credentialId(),
  type: t.Literal('public-key'),
  authenticatorAttachment: t.Optional(t.Union([t.String({ maxLength: 32 }), t.Null()])),
  clientExtensionResults: t.Optional(t.Object({}, { additionalProperties: true })),
}

export const attestationField = component(
  'RegistrationResponseJSON',
  t.Object(
    {
      ...common,
      response: t.Object(
        {
          clientDataJSON: encoded(4096),
          attestationObject: encoded(12_288),
          transports: t.Optional(t.Array(t.String({ maxLength: 32 }), { maxItems: 16 })),
        },
        { additionalProperties: true },
      ),
    },
    { additionalProperties: true, description: '`RegistrationResponseJSON` of WebAuthn Level 3' },
  ),
)

export const assertionField = component(
  'AuthenticationResponseJSON',
  t.Object(
    {
      ...common,
      response: t.Object(
        {
          clientDataJSON: encoded(4096),
          authenticatorData: encoded(2048),
          signature: encoded(2048),
          userHandle: t.Optional(t.Union([encoded(128), t.Null()])),
        },
        { additionalProperties: true },
      ),
    },
    { additionalProperties: true, description: '`AuthenticationResponseJSON` of WebAuthn Level 3' },
  ),
)

/** The credential that a browser made of creation options, and of request options, once the body was checked. */
export type Attestation = typeof attestationField.static
export type AssertionBody = typeof assertionField.static
