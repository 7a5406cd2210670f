/**
 * Says which application calls, and whether it proved its secret (RFC 6749, 2.3.1). An entry without `own` has no secret, and
 * is answered as it always was.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { isForOpenId, isPublic } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import { AppError } from '../../texts/errors.ts'
import { missing, secretNotTaken, wrongSecret } from './token-errors.ts'

/** The fields of a form at `/oauth2/token` and `/oauth2/revoke`. */
export type TokenForm = Readonly<Record<string, string | undefined>>

/** The caller of the routes for tokens. */
export interface ApplicationCaller {
  address: string
  addressBucket: string
  /** The header by which an application authenticates itself. */
  authorization: string | null
}

export interface CallingApplication {
  application: ApplicationConfig
  /** It proved its secret. */
  isProved: boolean
}

interface Credentials {
  id: string
  secret: string
  scheme?: 'Basic'
}

const SECRET = /^[\w.~-]{32,128}$/

export type Clients = ReturnType<typeof createClients>

export function createClients(applications: readonly ApplicationConfig[]) {
  const find = (id: string) => applications.find((one) => one.id === id)
  const someAreForOpenId = applications.some(isForOpenId)

  /** Throws for a secret that is wrong, and for one where there is none. */
  function authenticate(form: TokenForm, authorization: string | null): CallingApplication {
    const sent = readCredentials(form, authorization)
    const application = find(sent.id)
    // Those without `own` have no secret, and nothing reads what they send as one.
    if (sent.scheme && !(application ? isForOpenId(application) : someAreForOpenId)) throw secretNotTaken()
    if (!application) throw unknown(sent)
    if (form.client_id && form.client_id !== sent.id) throw wrongSecret('client_id_differs', sent.scheme)
    return { application, isProved: isForOpenId(application) && isProvedBy(sent, application) }
  }

  return {
    /** True if there is an application for OpenID: then who calls is decided before anything else of the form is read. */
    someAreForOpenId,
    authenticate,
    /** The id that it names, whether or not it is that application. */
    idOf: (form: TokenForm, authorization: string | null): string => readCredentials(form, authorization).id,
  }
}

/** Basic counts where both are sent. */
const readCredentials = (
  { client_id = '', client_secret = '' }: TokenForm,
  authorization: string | null,
): Credentials =>
  /^basic /i.test(authorization ?? '') ? readBasic(authorization!) : { id: client_id, secret: client_secret }

const unknown = ({ id, scheme }: Credentials): AppError =>
  id === '' && !scheme
    ? missing('client_id', 'invalid_client')
    : new AppError('invalid_client', { cause: 'application_unknown', ...(scheme && { scheme }) })

/** An application without a secret proves nothing, and one that it sends all the same is wrong. */
function isProvedBy({ secret, scheme }: Credentials, application: ApplicationConfig): boolean {
  if (isPublic(application)) {
    if (secret !== '') throw wrongSecret('secret_of_public_application', scheme)
    return false
  }
  if (isSecretOf(application, secret)) return true
  throw wrongSecret(secret === '' ? 'secret_missing' : 'secret_wrong', scheme)
}

/** Anything behind it, such as another authentication, makes it wrong (RFC 7617, 2). */
const BASIC = /^basic +([\w+/-]+={0,2}) *$/i

/** Both halves are percent-decoded: some clients write `_` as `%5F`, and neither alphabet has a `%`. */
function readBasic(authorization: string): Credentials {
  const text = Buffer.from(BASIC.exec(authorization)?.[1] ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const [id, secret] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1)].map(decoded)
  return id === null || secret === null
    ? { id: '', secret: '', scheme: 'Basic' }
    : { id: id!, secret: secret!, scheme: 'Basic' }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Each stored digest is compared, so that the time does not tell which one was near. */
function isSecretOf({ secretSha256 }: ApplicationConfig, secret: string): boolean {
  const digest = createHash('sha256').update(secret).digest()
  const equal = secretSha256.map((hex) => timingSafeEqual(digest, Buffer.from(hex, 'hex')))
  return equal.includes(true) && SECRET.test(secret)
}

/** The web applications may ask for their tokens from a browser; under --dev those of this machine too. */
export const originsOf = (applications: readonly ApplicationConfig[], dev: boolean): string[] => [
  ...new Set(
    applications.flatMap(({ redirectUris }) =>
      redirectUris.flatMap((uri) => ((dev ? /^https?:/ : /^https:/).test(uri) ? new URL(uri).origin : [])),
    ),
  ),
]
