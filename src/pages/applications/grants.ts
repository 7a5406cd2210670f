/** What an application gives for tokens: a code, or a refresh token. */
import { createHash, randomUUID } from 'node:crypto'
import type { Account } from '../../domain/accounts/core/account.ts'
import { type AccountRecord, accountRecord } from '../../domain/accounts/core/account-schema.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import type { Holder } from '../../domain/sessions/core/refreshing.ts'
import type { SessionService } from '../../domain/sessions/core/service.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { AccountClaims } from '../../domain/sessions/tokens/account-claims.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import { isForOpenId, isOwn, isPublic } from '../../platform/config/applications.ts'
import { isLoopbackHost } from '../../platform/config/formats.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError } from '../../texts/errors.ts'
import type { ApplicationCaller, CallingApplication, TokenForm } from './clients.ts'
import { type Entrance, isNotAdmitted } from './entrance.ts'
import { createIssue, type Issue, type IssueNeeds } from './issue.ts'
import { findUnlisted } from './request.ts'
import type { ApplicationStore } from './store.ts'
import { missing } from './token-errors.ts'

export interface IssuedTokens extends Issue {
  account?: AccountRecord
  /** It is for a code, and not for a refresh token. */
  isFirst: boolean
}

interface Needs extends IssueNeeds, Pick<Ground, 'clock' | 'config'> {
  entrance: Entrance
  accountClaims: AccountClaims
  refreshTokens: RefreshTokens
  sessions: SessionService
  applicationLog: Pick<ApplicationLog, 'entered'>
  stores: { applications: ApplicationStore; sessions: Pick<SessionStore, 'end'> }
}

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export const sha256 = (text: string) => createHash('sha256').update(text)

export const kindOf = (application: ApplicationConfig): Holder['kind'] =>
  isOwn(application) ? 'direct' : 'application'

export function createGrants(needs: Needs) {
  const { accountClaims, refreshTokens, sessions, clock, config, entrance, stores } = needs
  const store = stores.applications
  const { applications } = config.pages
  const issue = createIssue(needs)
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

  return { redeem, refresh }
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

/** Any other program runs on the person's own machine, and goes on when the browser ends. */
const isOnWeb = (redirectUri: string): boolean => {
  const { protocol, hostname } = new URL(redirectUri)
  return protocol === 'https:' || (protocol === 'http:' && !isLoopbackHost(hostname))
}
