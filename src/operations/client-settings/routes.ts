/**
 * The settings of this server that clients ask for before anybody has signed in, to draw their forms. It is made from
 * the configuration alone: nothing in it depends on a caller.
 */
import { Elysia, t } from 'elysia'
import { MAXIMUM_CODE_POINTS } from '../../domain/foundation/hashing/password.ts'
import { CODE_DIGITS } from '../../domain/messages/codes/digits.ts'
import type { Config } from '../../platform/config/types.ts'
import { answer, success } from '../../platform/http/answers.ts'
import { documented } from '../../platform/http/documented.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { integer, nullable } from '../../platform/http/schemas.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { builtInTags } from '../../texts/languages.ts'

/** The same for everybody, and without any use of cookies: a page of any origin may read them. */
const publicHeaders = { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }

const seconds = (description: string, example: number) =>
  integer({ description: `${description}, in seconds`, examples: [example] })

const settingsAnswer = answer(
  'ClientSettings',
  {
    languages: t.Array(t.String(), {
      description: 'The languages of answers and messages (BCP 47)',
      examples: [builtInTags],
    }),
    default_language: t.String({
      description: 'For clients whose `Accept-Language` names none of them',
      examples: ['fr'],
    }),
    default_country: t.String({
      description: 'Telephone numbers without a country code are read as numbers of this country (ISO 3166)',
      examples: ['FR'],
    }),
    registration: t.Object({
      email: t.Boolean({ description: 'E-mail addresses can be registered: codes can be sent there' }),
      phone: t.Boolean({ description: 'Telephone numbers can be registered: codes can be sent there' }),
      phone_countries: nullable(t.Array(t.String()), {
        description: 'Countries whose numbers receive SMS; null: every country',
        examples: [['FR', 'BE']],
      }),
      mode: t.Optional(
        t.String({
          enum: ['invitation', 'closed'],
          description: 'Who may open an account; absent: everybody',
        }),
      ),
      domains: t.Optional(
        t.Array(t.String(), {
          description: 'E-mail domains that may open an account; absent: all',
          examples: [['example.com', '*.example.com']],
        }),
      ),
      terms: t.Optional(
        t.String({
          description: 'The version of the terms that has to be accepted; absent: none',
          examples: ['2026-11'],
        }),
      ),
    }),
    password: t.Object(
      {
        required: t.Optional(
          t.Boolean({ description: 'False: people may register without one; absent: they may not' }),
        ),
        minimum_length: integer({ examples: [8] }),
        maximum_length: integer({ examples: [256] }),
      },
      {
        description:
          'Counted in Unicode code points after NFKC. No composition rules; common passwords, the identifier and the name of the service are refused as `weak_password`',
      },
    ),
    codes: t.Object({
      sign_in: t.Boolean({ description: 'A sent code alone signs in an account without two factors' }),
      length: integer({ description: 'Digits of a code', examples: [6] }),
      expires_in: seconds('How long a code is valid', 600),
      attempts: integer({ description: 'Wrong attempts after which a code is dead', examples: [5] }),
      resend_after: seconds(
        'How long a form should wait before it offers another code: codes are sent at this rate, and a few more at once',
        60,
      ),
    }),
    two_factor: t.Object({
      email: t.Boolean({ description: 'Codes by e-mail are accepted as a second factor' }),
    }),
    passkeys: t.Object({
      enabled: t.Boolean(),
      rp_id: nullable(t.String(), {
        description: 'The relying party; null: passkeys are off',
        examples: ['example.com'],
      }),
    }),
    providers: t.Array(t.String(), {
      description: 'Names of the sign-in providers; `GET social` has their addresses',
      examples: [['google']],
    }),
    tokens: t.Object({
      access_expires_in: seconds('Lifetime of an access token', 900),
      refresh_expires_in: seconds('How long a session lives without use', 2_592_000),
      session_expires_in: seconds('How long a session lives at most', 7_776_000),
      login_token_expires_in: seconds('How long the `login_token` of a 202 is valid', 600),
    }),
  },
  'What this server offers.',
)

interface ClientSettingsNeeds {
  config: Config
  catalog: Catalog
  /** The names of the providers, in the order of the configuration. */
  providers: readonly string[]
  loginTokenSeconds: number
  /** Every message lands in the mailbox with --dev. */
  intoMailbox: boolean
}

export type ClientSettings = ReturnType<typeof clientSettings>

export function clientSettings(needs: ClientSettingsNeeds) {
  const { config, catalog, providers, loginTokenSeconds, intoMailbox } = needs
  const { accounts, codes, limits, passkeys, password, smtp, sms, tokens, twoFactor } = config
  const countries = sms.allowedCountries.length > 0 ? sms.allowedCountries : [accounts.defaultCountry]
  return {
    languages: [...catalog.tags],
    default_language: catalog.language,
    default_country: accounts.defaultCountry,
    registration: {
      email: intoMailbox || smtp !== null,
      phone: intoMailbox || sms.gateways.length > 0,
      phone_countries: countries.includes('*') ? null : countries,
      ...(accounts.registration !== 'open' && { mode: accounts.registration }),
      ...(accounts.registrationDomains.length > 0 && { domains: accounts.registrationDomains }),
      ...(accounts.terms !== '' && { terms: accounts.terms }),
    },
    password: {
      ...(accounts.password === 'optional' && { required: false }),
      minimum_length: password.minimumLength,
      maximum_length: MAXIMUM_CODE_POINTS,
    },
    codes: {
      sign_in: codes.login,
      length: CODE_DIGITS,
      expires_in: codes.lifetimeSeconds,
      attempts: codes.attempts,
      resend_after: limits.enabled ? limits.codesIntervalSeconds : 0,
    },
    two_factor: { email: twoFactor.allowEmail },
    passkeys: { enabled: passkeys.rpId !== null, rp_id: passkeys.rpId },
    providers: [...providers],
    tokens: {
      access_expires_in: tokens.accessLifetimeSeconds,
      refresh_expires_in: tokens.refreshLifetimeSeconds,
      session_expires_in: tokens.refreshAbsoluteLifetimeSeconds,
      login_token_expires_in: loginTokenSeconds,
    },
  }
}

export function createClientSettingsRoutes(settings: ClientSettings) {
  const shown = success(settings)
  return new Elysia({ name: 'client-settings' }).get(
    '/api/v1/auth/settings',
    ({ set }) => {
      Object.assign(set.headers, publicHeaders)
      return shown
    },
    {
      response: { 200: settingsAnswer, ...errorResponses() },
      detail: documented('Operation')(
        'getSettings',
        'What this server offers',
        'Rules for passwords, languages, ways to register and sign in, lengths and lifetimes. The same for everybody; a copy may be kept for five minutes.',
      ),
    },
  )
}
