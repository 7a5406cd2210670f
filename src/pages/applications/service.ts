/**
 * The hand-over to applications: OAuth 2.1's code flow. An application gets a session below that of the browser. An own one
 * gets what a login gives; any other gets tokens that say who signed in, and open nothing else.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Account } from '../../domain/accounts/core/account.ts'
import { type AccountRecord, accountRecord } from '../../domain/accounts/core/account-schema.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import type { Holder } from '../../domain/sessions/core/refreshing.ts'
import type { SessionService } from '../../domain/sessions/core/service.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { AccessTokenService } from '../../domain/sessions/tokens/access-token.ts'
import type { AccountClaims } from '../../domain/sessions/tokens/account-claims.ts'
import type { ApplicationTokens } from '../../domain/sessions/tokens/application-token.ts'
import type { IdentityTokens } from '../../domain/sessions/tokens/identity-token.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import { isForOpenId, isOwn, isPublic, issuerOf } from '../../platform/config/applications.ts'
import { isLoopbackHost } from '../../platform/config/formats.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import { AppError } from '../../texts/errors.ts'
import { type CallingApplication, createClients, type TokenForm } from './clients.ts'
import { createEntrance, isNotAdmitted } from './entrance.ts'
import { createIssue, type Issue } from './issue.ts'
import { findUnlisted, type HandOver } from './request.ts'
import { type ApplicationStore, CODE_SECONDS } from './store.ts'
import { missing, unreadable, withOAuthName } from './token-errors.ts'

export interface IssuedTokens extends Issue {
  account?: AccountRecord
  /** It is for a code, and not for a refresh token. */
  isFirst: boolean
}

/** The caller of the routes for tokens. */
export interface ApplicationCaller {
  address: string
  addressBucket: string
  /** The header by which an application authenticates itself. */
  authorization: string | null
}

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

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

const sha256 = (text: string) => createHash('sha256').update(text)

export const kindOf = (application: ApplicationConfig): Holder['kind'] =>
  isOwn(application) ? 'direct' : 'application'

export type ApplicationService = ReturnType<typeof createApplicationService>

export function createApplicationService(needs: ApplicationNeeds) {
  const { accountClaims, identityTokens, refreshTokens, sessions } = needs
  const { limits, clock, config } = needs
  const { stores } = needs
  const store = stores.applications
  const { applications } = config.pages
  const clients = createClients(applications)
  const entrance = createEntrance(needs)
  const issue = createIssue({ ...needs, entrance })
  const { refreshLifetimeSeconds, refreshAbsoluteLifetimeSeconds } = config.tokens

  /** A right that was taken from the account since its code was made ends the session that was opened. */
  async function requireOrEnd(
    application: ApplicationConfig,
    account: Account,
    sessionId: string,
    now: Date,
  ) {
    try {
      entrance.require(application, account)
    } catch (error) {
      await stores.sessions.end(sessionId, account.uuid, now, { cause: 'application' })
      throw error
    }
  }

  /** Empty for a code without a challenge, which an application with a secret may have asked for. */
  function challengeOf(application: ApplicationConfig, { code_verifier: verifier }: TokenForm): string {
    if (!verifier) {
      if (!isForOpenId(application)) throw missing('code_verifier')
      if (isPublic(application)) throw new AppError('invalid_grant', { cause: 'verifier_missing' })
      return ''
    }
    if (VERIFIER.test(verifier)) return sha256(verifier).digest('base64url')
    const oauthDescription =
      'code_verifier must have 43 to 128 characters of A-Z, a-z, 0-9, ".", "_", "~" and "-"'
    throw new AppError('invalid_request', { cause: 'verifier_malformed', oauthDescription })
  }

  async function redeem(
    { application, isProved }: CallingApplication,
    form: TokenForm,
    caller: ApplicationCaller,
  ): Promise<IssuedTokens> {
    const { code, redirect_uri: redirectUri } = form
    if (!code) throw missing('code')
    if (!redirectUri) throw missing('redirect_uri')
    const challenge = challengeOf(application, form)
    if (findUnlisted({ application: application.id, redirectUri }, applications)) {
      throw new AppError('invalid_grant', { cause: 'redirect_uri_differs' })
    }
    const now = clock.now()
    const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
    const redemption = {
      codeHash: sha256(code).digest(),
      application: application.id,
      redirectUri,
      challenge,
      groups: isOwn(application) ? null : application.groups.join(),
    }
    const refreshToken = refreshTokens.create()
    const session = {
      id: randomUUID(),
      kind: kindOf(application),
      name: application.name,
      address: isProved ? null : caller.address,
      familyHash: refreshToken.familyHash,
      expiresAt: after(Math.min(refreshLifetimeSeconds, refreshAbsoluteLifetimeSeconds)),
      endsAt: after(refreshAbsoluteLifetimeSeconds),
      endsWithBrowser: isOnWeb(redirectUri),
    }
    const account = await store.redeem(redemption, session, now)
    if (account === null) {
      await store.endReused(redemption, now)
      throw new AppError('invalid_grant', { cause: await store.causeOf(redemption, now) })
    }
    await requireOrEnd(application, account, session.id, now)
    const subject = {
      accountUuid: account.uuid,
      sessionId: session.id,
      roleId: account.roleId,
      authTime: account.authenticatedAt,
      amr: account.amr.split(' '),
      clientId: application.id,
      scope: account.scope,
      ...(isOwn(application) && { claims: accountClaims.of(account) }),
    }
    const opened = { subject, family: refreshToken.family, refreshToken: refreshTokens.write(refreshToken) }
    const issued = await issue(application, opened, account, account.nonce)
    needs.applicationLog.entered(application.id)
    return {
      ...issued,
      ...(isOwn(application) && { account: accountRecord(account, config.accounts.passwordDigest) }),
      isFirst: true,
    }
  }

  /** Ends the session of an application of somebody else. */
  async function endOf(refreshToken: string): Promise<void> {
    const { familyHash } = refreshTokens.read(refreshToken)!
    const now = clock.now()
    const found = await store.findSession({ familyHash, kind: 'application' }, now)
    if (found) await stores.sessions.end(found.sessionId, found.uuid, now, { cause: 'application' })
  }

  /**
   * Works like `POST refresh`, for the session's own application. That of an account that may not enter any more ends. With a
   * secret the token of another's application stays the same.
   */
  async function refresh(
    { application, isProved }: CallingApplication,
    form: TokenForm,
    caller: ApplicationCaller,
  ): Promise<IssuedTokens> {
    if (!form.refresh_token) throw missing('refresh_token')
    const holder: Holder = {
      kind: kindOf(application),
      applications: [application.id],
      otherwise: 'token_of_another_application',
      rotates: isOwn(application) || !isProved,
      ...(isForOpenId(application) && { admit: (account) => entrance.require(application, account) }),
    }
    const client = { address: isProved ? null : caller.address, fingerprint: null }
    try {
      const refreshed = await sessions.advance(form.refresh_token, client, holder)
      return { ...(await issue(application, refreshed, refreshed.account, null)), isFirst: false }
    } catch (error) {
      if (!isOwn(application) && isNotAdmitted(error)) await endOf(form.refresh_token)
      throw error
    }
  }

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

/** Any other program runs on the person's own machine, and goes on when the browser ends. */
const isOnWeb = (redirectUri: string): boolean => {
  const { protocol, hostname } = new URL(redirectUri)
  return protocol === 'https:' || (protocol === 'http:' && !isLoopbackHost(hostname))
}
