/** One class for everything that fails. */

/** What the client itself says, beside the codes of the service (docs/errors.md). */
export type ClientCode =
  /** No answer came, or one that the service did not write. */
  | 'network'
  /** Nobody is signed in, or the session in which the call began is over. */
  | 'signed_out'
  /** The storage can be read only here: refresh where it can be written. */
  | 'needs_refresh'
  /** The address does not belong to one of `services`. */
  | 'not_a_service'
  /** A sign-in came back without success; `details.error` says why. */
  | 'redirect_failed'
  /** This engine lacks what the call needs. */
  | 'unsupported'
  | 'storage_failed'
  | 'cookie_too_large'

export interface FieldProblem {
  field: string
  code: string
  message: string
}

export type Facts = Partial<Omit<PoterneError, keyof Error>> & { message?: string }

export class PoterneError extends Error {
  override name = 'PoterneError'
  /** The HTTP status, 0 where there was no answer. */
  declare readonly status: number
  /** Stable: decide by it. `message` is a sentence in the person's language: show it. */
  declare readonly code: ClientCode | (string & {})
  declare readonly fields: FieldProblem[]
  declare readonly retryAfterSeconds: number | null
  declare readonly requestId: string | null
  /** What else the answer said, such as `two_factor` or `passkey`. */
  declare readonly details: Record<string, unknown>

  constructor(
    code: ClientCode | (string & {}),
    {
      message = code,
      status = 0,
      fields = [],
      retryAfterSeconds = null,
      requestId = null,
      details = {},
    }: Facts = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.fields = fields
    this.retryAfterSeconds = retryAfterSeconds
    this.requestId = requestId
    this.details = details
  }
}

export const isProblem = (error: unknown, ...codes: string[]): error is PoterneError =>
  error instanceof PoterneError && (codes.length === 0 || codes.includes(error.code))
