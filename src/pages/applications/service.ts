/**
 * The hand-over to the team's own applications: OAuth 2.1's code flow with PKCE. An application gets a session as a
 * login opens it, below the session of the browser.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Account } from '../../domain/accounts/core/account.ts'
import { type AccountRecord, accountRecord } from '../../domain/accounts/core/account-schema.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import type { SessionService } from '../../domain/sessions/core/service.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { AccessTokenService } from '../../domain/sessions/tokens/access-token.ts'
import type { AccountClaims } from '../../domain/sessions/tokens/account-claims.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import { AppError } from '../../texts/errors.ts'
import { type AuthorizationRequest, findUnlisted } from './request.ts'
import type { ApplicationStore } from './store.ts'
import { missing, secretNotTaken, unreadable, withOAuthName } from './token-errors.ts'

/** The fields of a form at `/oauth2/token`. */
export type TokenForm = Readonly<Record<string, string | undefined>>

export interface IssuedTokens {
  accessToken: string
  refreshToken: string
  account?: AccountRecord
}

interface TokenClient {
  address: string
  addressBucket: string
  /** The header by which an application authenticates itself. */
  authorization: string | null
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  accessTokens: AccessTokenService
  accountClaims: AccountClaims
  refreshTokens: RefreshTokens
  sessions: SessionService
  limits: LimitService
  stores: { applications: ApplicationStore; sessions: Pick<SessionStore, 'end'> }
}

const CODE_SECONDS = 60
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

const sha256 = (text: string) => createHash('sha256').update(text)

export type ApplicationService = ReturnType<typeof createApplicationService>

export function createApplicationService(needs: Needs) {
  const { accessTokens, accountClaims, refreshTokens, sessions, limits, clock, config } = needs
  const store = needs.stores.applications
  const { applications } = config.pages
  const { refreshLifetimeSeconds, refreshAbsoluteLifetimeSeconds } = config.tokens

  function applicationOf({ client_id }: TokenForm, { authorization }: TokenClient): ApplicationConfig {
    if (/^basic /i.test(authorization ?? '')) throw secretNotTaken()
    if (!client_id) throw missing('client_id', 'invalid_client')
    const found = applications.find(({ id }) => id === client_id)
    if (!found) throw new AppError('invalid_client', { cause: 'application_unknown' })
    return found
  }

  /** A right that was taken from the account since its code was made ends the session that was opened. */
  async function claimsOf(account: Account, sessionId: string, now: Date) {
    try {
      return accountClaims.of(account)
    } catch (error) {
      await needs.stores.sessions.end(sessionId, account.uuid, now, { cause: 'application' })
      throw error
    }
  }

  async function redeem(form: TokenForm, client: TokenClient): Promise<IssuedTokens> {
    const application = applicationOf(form, client)
    const { code, redirect_uri: redirectUri, code_verifier: verifier } = form
    if (!code) throw missing('code')
    if (!redirectUri) throw missing('redirect_uri')
    if (!verifier) throw missing('code_verifier')
    if (!VERIFIER.test(verifier)) {
      const oauthDescription =
        'code_verifier must have 43 to 128 characters of A-Z, a-z, 0-9, ".", "_", "~" and "-"'
      throw new AppError('invalid_request', { cause: 'verifier_malformed', oauthDescription })
    }
    if (findUnlisted({ application: application.id, redirectUri }, applications)) {
      throw new AppError('invalid_grant', { cause: 'redirect_uri_differs' })
    }
    const now = clock.now()
    const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
    const redemption = {
      codeHash: sha256(code).digest(),
      application: application.id,
      redirectUri,
      challenge: sha256(verifier).digest('base64url'),
    }
    const refreshToken = refreshTokens.create()
    const session = {
      id: randomUUID(),
      name: application.name,
      address: client.address,
      familyHash: refreshToken.familyHash,
      expiresAt: after(Math.min(refreshLifetimeSeconds, refreshAbsoluteLifetimeSeconds)),
      endsAt: after(refreshAbsoluteLifetimeSeconds),
      endsWithBrowser: redirectUri.startsWith('https:'),
    }
    const account = await store.redeem(redemption, session, now)
    if (account === null) {
      await store.endReused(redemption, now)
      throw new AppError('invalid_grant', { cause: await store.causeOf(redemption, now) })
    }
    const accessToken = await accessTokens.sign({
      accountUuid: account.uuid,
      sessionId: session.id,
      roleId: account.roleId,
      authTime: account.authenticatedAt,
      amr: account.amr.split(' '),
      clientId: application.id,
      claims: await claimsOf(account, session.id, now),
    })
    return {
      accessToken,
      refreshToken: refreshTokens.write(refreshToken),
      account: accountRecord(account, config.accounts.passwordDigest),
    }
  }

  /** Works like `POST refresh`, for the session's own application. */
  async function refresh(form: TokenForm, client: TokenClient): Promise<IssuedTokens> {
    const application = applicationOf(form, client)
    if (!form.refresh_token) throw missing('refresh_token')
    const presented = refreshTokens.read(form.refresh_token)
    if (presented === null) throw new AppError('invalid_grant', { cause: 'not_ours' })
    if ((await store.clientOf(presented.familyHash)) !== application.id) {
      throw new AppError('invalid_grant', { cause: 'token_of_another_application' })
    }
    const { accessToken, refreshToken } = await sessions.refresh(form.refresh_token, {
      address: client.address,
      fingerprint: null,
    })
    return { accessToken, refreshToken }
  }

  return {
    list: applications,
    /** An address of the application with a code that works once, for a minute. */
    async handOver(
      session: BrowserSession,
      { application, redirectUri, challenge, state }: AuthorizationRequest,
    ): Promise<string> {
      await limits.charge(limits.counters.authorizations(session.sessionId))
      accountClaims.require(session.account)
      const code = randomBytes(32).toString('base64url')
      await store.issue({
        codeHash: sha256(code).digest(),
        sessionId: session.sessionId,
        application,
        redirectUri,
        challenge,
        expiresAt: new Date(clock.now().getTime() + CODE_SECONDS * 1000),
      })
      return withParameters(redirectUri, {
        code,
        ...(state !== undefined && { state }),
        iss: config.server.baseUrl,
      })
    },
    /** Throws errors that carry OAuth's name. */
    async token(form: TokenForm, client: TokenClient): Promise<IssuedTokens> {
      try {
        await limits.charge(limits.counters.tokenCalls(client.addressBucket))
        const [unstorable] = findUnstorable(form)
        if (unstorable) throw unreadable(unstorable.field)
        switch (form.grant_type) {
          case 'authorization_code':
            return await redeem(form, client)
          case 'refresh_token':
            return await refresh(form, client)
          case '':
          case undefined:
            throw missing('grant_type')
          default:
            throw new AppError('unsupported_grant_type')
        }
      } catch (error) {
        throw withOAuthName(error)
      }
    },
  }
}
