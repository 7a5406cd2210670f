/**
 * The hand-over to applications: OAuth 2.1's code flow. An application gets a session below that of the browser. An own one
 * gets what a login gives; any other gets tokens that say who signed in, and open nothing else.
 */
import { randomBytes } from 'node:crypto'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import type { SessionService } from '../../domain/sessions/core/service.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { AccessTokenService } from '../../domain/sessions/tokens/access-token.ts'
import type { AccountClaims } from '../../domain/sessions/tokens/account-claims.ts'
import type { ApplicationTokens } from '../../domain/sessions/tokens/application-token.ts'
import type { IdentityTokens } from '../../domain/sessions/tokens/identity-token.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import { isOwn, issuerOf } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { describedForOAuth } from '../../platform/http/error-answer.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import { AppError } from '../../texts/errors.ts'
import { type ApplicationCaller, type CallingApplication, createClients, type TokenForm } from './clients.ts'
import { createEntrance } from './entrance.ts'
import { createGrants, type IssuedTokens, sha256 } from './grants.ts'
import type { HandOver } from './request.ts'
import { type ApplicationStore, CODE_SECONDS } from './store.ts'
import { missing, unreadable, withOAuthName } from './token-errors.ts'

export interface ApplicationNeeds extends Pick<Ground, 'clock' | 'config'> {
  accessTokens: AccessTokenService
  accountClaims: AccountClaims
  applicationTokens: ApplicationTokens
  identityTokens: IdentityTokens
  roles: Roles
  refreshTokens: RefreshTokens
  sessions: SessionService
  limits: LimitService
  applicationLog: Pick<ApplicationLog, 'entered' | 'refused'>
  stores: { applications: ApplicationStore; sessions: Pick<SessionStore, 'end'> }
}

export type ApplicationService = ReturnType<typeof createApplicationService>

export function createApplicationService(needs: ApplicationNeeds) {
  const { accountClaims, identityTokens, limits, clock, config } = needs
  const store = needs.stores.applications
  const { applications } = config.pages
  const clients = createClients(applications)
  const entrance = createEntrance(needs)
  const { redeem, refresh } = createGrants({ ...needs, entrance })

  /**
   * A right secret costs nothing, so that nobody else can use up what its application may ask. Refusals and applications
   * without a secret are counted by address.
   */
  async function identify(
    form: TokenForm,
    { authorization, addressBucket }: ApplicationCaller,
  ): Promise<CallingApplication> {
    let client: CallingApplication | null = null
    try {
      client = clients.authenticate(form, authorization)
      return client
    } finally {
      if (!client?.isProved) await limits.charge(limits.counters.tokenCalls(addressBucket))
    }
  }

  function requireReadable(form: TokenForm): void {
    const [unstorable] = findUnstorable(form)
    if (unstorable) throw unreadable(unstorable.field)
  }

  /** Notes a refusal, and gives it OAuth's name. */
  function refusedAt(form: TokenForm, { authorization }: ApplicationCaller, error: unknown): AppError {
    const refusal = withOAuthName(error)
    noteRefusal(clients.idOf(form, authorization), refusal)
    return refusal
  }

  function noteRefusal(application: string, { cause, errorCode, details }: AppError): void {
    const reason = typeof cause === 'string' ? cause : errorCode
    needs.applicationLog.refused({ application, error: details.oauthError ?? errorCode, reason })
  }

  return {
    list: applications,
    noteRefusal,
    refusedAt,
    admits: entrance.admits,
    /** Reads an ID token of ours, whatever its age; null for any other text. */
    readHint: identityTokens.readHint,
    /** Tells whether the session of an application, living or not, is below that of this browser. */
    isBelow: (sessionId: string, { sessionId: browser }: BrowserSession): Promise<boolean> =>
      store.isBelow(sessionId, browser),
    identify,
    requireReadable,
    /** An address of the application with a code that works once, for a minute. */
    async handOver(
      session: BrowserSession,
      { application: id, redirectUri, challenge, state, nonce, scope }: HandOver,
    ): Promise<string> {
      const application = applications.find((one) => one.id === id)!
      await limits.charge(limits.counters.authorizations(session.sessionId, id))
      if (isOwn(application)) accountClaims.require(session.account)
      const code = randomBytes(32).toString('base64url')
      await store.issue({
        codeHash: sha256(code).digest(),
        sessionId: session.sessionId,
        application: id,
        redirectUri,
        challenge,
        nonce: nonce ?? null,
        scope: scope ?? null,
        expiresAt: new Date(clock.now().getTime() + CODE_SECONDS * 1000),
      })
      return withParameters(redirectUri, {
        code,
        ...(state !== undefined && { state }),
        iss: issuerOf(application, config.server.baseUrl),
      })
    },
    /** The address with which an application hears that it gets nobody. */
    refusalAddress: (
      application: ApplicationConfig,
      { redirectUri, state }: Pick<HandOver, 'redirectUri' | 'state'>,
      error: string,
      description: string,
    ): string =>
      withParameters(redirectUri, {
        error,
        error_description: describedForOAuth(description),
        ...(state !== undefined && { state }),
        iss: issuerOf(application, config.server.baseUrl),
      }),
    /** Throws errors that carry OAuth's name. */
    async token(form: TokenForm, caller: ApplicationCaller): Promise<IssuedTokens> {
      try {
        const client = clients.someAreForOpenId ? await identify(form, caller) : null
        if (client === null) await limits.charge(limits.counters.tokenCalls(caller.addressBucket))
        requireReadable(form)
        const identified = () => client ?? clients.authenticate(form, caller.authorization)
        switch (form.grant_type) {
          case 'authorization_code':
            return await redeem(identified(), form, caller)
          case 'refresh_token':
            return await refresh(identified(), form, caller)
          case '':
          case undefined:
            throw missing('grant_type')
          default:
            throw new AppError('unsupported_grant_type', {
              oauthDescription: 'grant_type must be authorization_code or refresh_token',
            })
        }
      } catch (error) {
        throw refusedAt(form, caller, error)
      }
    },
  }
}
