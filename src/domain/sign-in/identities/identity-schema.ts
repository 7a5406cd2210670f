/** The name of a provider, and the fields that prove an identity there. */
import { t } from 'elysia'
import { type Given, optionalField } from '../../../platform/http/schemas.ts'

export const providerParams = t.Object({
  provider: t.String({ description: 'Name of the provider, e.g. google' }),
})

/** RFC 7636, 4.1. */
export const codeVerifierField = t.String({
  pattern: '^[A-Za-z0-9._~-]{43,128}$',
  description: 'The value from which code_challenge was made',
})

export const idTokenField = t.String({
  maxLength: 8192,
  description: 'As the provider gave it to the app',
})

export const nonceField = t.String({
  minLength: 1,
  maxLength: 256,
  description: 'As the app gave it to the provider',
})

/** Either `code` and `code_verifier` of a browser flow, or `id_token` and `nonce` of a native one. */
export const identityProofFields = {
  code: optionalField(t.String({ maxLength: 256, description: 'From the redirect of a browser flow' })),
  code_verifier: optionalField(codeVerifierField),
  id_token: optionalField(idTokenField),
  nonce: optionalField(nonceField),
}

const identityProof = t.Object(identityProofFields)
export type IdentityProof = Given<typeof identityProof>
