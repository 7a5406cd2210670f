/**
 * THE table of error codes: what a client may rely on. A service throws `new AppError(code)` and nobody else names a
 * status. The sentences stand in texts/. Imports nothing.
 */
export const errorStatus = {
  malformed_json: 400,
  invalid_request: 400,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_credentials: 401,
  invalid_token: 401,
  token_expired: 401,
  login_expired: 401,
  invalid_client: 401,
  unknown_passkey: 401,
  account_unconfirmed: 403,
  account_locked: 403,
  account_incomplete: 403,
  test_identity: 403,
  two_factor_required: 403,
  reauthentication_required: 403,
  passkey_too_new: 403,
  insufficient_scope: 403,
  registration_closed: 403,
  invalid_invitation: 403,
  domain_not_allowed: 403,
  registration_refused: 403,
  route_not_found: 404,
  session_not_found: 404,
  device_not_found: 404,
  account_not_found: 404,
  message_not_found: 404,
  token_not_found: 404,
  administrator_not_found: 404,
  identity_not_found: 404,
  provider_not_found: 404,
  passkey_not_found: 404,
  contact_not_found: 404,
  invitation_not_found: 404,
  prefix_not_found: 404,
  webhook_not_found: 404,
  application_not_found: 404,
  method_not_allowed: 405,
  identifier_taken: 409,
  identity_taken: 409,
  username_taken: 409,
  account_exists: 409,
  last_sign_in_method: 409,
  no_other_factor: 409,
  passkey_limit: 409,
  identity_limit: 409,
  group_limit: 409,
  two_factor_already_enabled: 409,
  two_factor_not_enabled: 409,
  no_verified_contact: 409,
  password_not_set: 409,
  password_already_set: 409,
  use_another_method: 409,
  not_resendable: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  claims_too_large: 422,
  invalid_code: 422,
  invalid_passkey: 422,
  invalid_sign_in_state: 422,
  country_not_allowed: 422,
  channel_not_available: 422,
  invalid_redirect_uri: 422,
  idempotency_key_reused: 422,
  terms_required: 422,
  too_many_attempts: 429,
  too_many_requests: 429,
  internal_error: 500,
  provider_unavailable: 503,
  server_busy: 503,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

/** The errors of one field of a body (`errors[].code` of `validation_failed`). */
export const fieldErrorCodes = [
  'required',
  'invalid_type',
  'invalid_value',
  'too_long',
  'invalid_email',
  'invalid_phone',
  'invalid_characters',
  'identifier_required',
  'password_mismatch',
  'weak_password',
  'wrong_password',
  'not_allowed',
  'reserved',
  'unknown_role',
  'unknown_field',
] as const

export type FieldErrorCode = (typeof fieldErrorCodes)[number]

/** The reason why a `weak_password` is weak picks the sentence, and is not part of the answer's shape. */
export const weakPasswordReasons = ['too_short', 'common', 'is_identifier', 'is_service_name'] as const

export type WeakPasswordReason = (typeof weakPasswordReasons)[number]

/** The methods that can prove a second factor, in the order in which answers list them. */
export const twoFactorMethods = ['passkey', 'totp', 'email', 'sms', 'recovery_code'] as const

export type TwoFactorMethod = (typeof twoFactorMethods)[number]

/** Those that an owner sets up; the others are sent, or come with two-factor sign-in. */
export type SetUpFactor = Exclude<TwoFactorMethod, 'email' | 'sms' | 'recovery_code'>

export interface FieldError {
  field: string
  code: FieldErrorCode
  /** Only, and always, with `weak_password`. */
  reason?: WeakPasswordReason
  /** Always with the reason `too_short`: how many characters a password needs. With `maximum`: the least number. */
  minimum?: number
  /** Only with `invalid_value` of a number that has bounds: the greatest one. */
  maximum?: number
  /** Only with `unknown_role`, and with `unknown_field` where anything is known: the nearest name. */
  nearest?: string
}

/** The fields that `PublicKeyCredential.signalUnknownCredential` needs. */
export interface UnknownPasskey {
  rp_id: string
  credential_id: string
}

/** A whole page, with its Content-Security-Policy. */
export interface PageContent {
  html: string
  policy: string
  language: string
}

/** Texts by the tags of their languages, and the one for everybody else. */
export interface OwnMessage {
  byLanguage: Record<string, string>
  otherwise?: string | undefined
}

export interface ErrorDetails {
  fields?: FieldError[]
  /** Whole seconds; rounded up by the thrower, so that waiting that long is enough. */
  retryAfterSeconds?: number
  /** Only, and always, with `two_factor_required` and `use_another_method`: what can serve as `otp`. */
  twoFactor?: { methods: TwoFactorMethod[] }
  /** Only, and always, with `terms_required`: the version that has to be accepted. */
  terms?: string
  /** Only, and always, with `unknown_passkey`: what the browser should forget. */
  passkey?: UnknownPasskey
  /** Only with `unsupported_media_type`, where it is not JSON: the type that is wanted. */
  wantedType?: string
  /** OAuth's name of the error, at the endpoint where applications ask for tokens. */
  oauthError?: string | undefined
  /** Only with `registration_refused`: what the team's own program says to the person. */
  message?: OwnMessage | undefined
  /** The sentence of the texts that says it, where that of the code says it to somebody else. */
  sentence?: 'factor_stays' | 'way_in_stays'
  /** OAuth's description for developers, in English; absent: the sentence of the code. */
  oauthDescription?: string | undefined
  /** Only with `invalid_client`: how the application tried to authenticate itself, for `WWW-Authenticate`. */
  scheme?: 'Basic'
  /** Only with `unavailable`, where a probe asks: why, in words that anybody may read. */
  reason?: string
  /** The page that a person sees in place of the error body; only where a browser opens the address itself. */
  page?: PageContent
  /** The log alone says why, in one word. Never holds what a person typed. */
  cause?: unknown
}

/** `errorCode`, not `code`: Elysia adopts `code` and `status` of what is thrown. */
export class AppError extends Error {
  readonly errorCode: ErrorCode
  readonly details: Omit<ErrorDetails, 'cause'>

  constructor(errorCode: ErrorCode, { cause, ...details }: ErrorDetails = {}) {
    super(errorCode, { cause })
    this.errorCode = errorCode
    this.details = details
  }
}
