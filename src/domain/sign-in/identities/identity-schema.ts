/** The name of a provider, and the fields that prove an identity there. */
import { t } from 'elysia'

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
