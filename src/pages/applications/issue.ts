/** The tokens of a session that was opened or refreshed just now. */
import type { Account } from '../../domain/accounts/core/account.ts'
import type { Refreshed } from '../../domain/sessions/core/refreshing.ts'
import type { AccessTokenService } from '../../domain/sessions/tokens/access-token.ts'
import type { ApplicationTokens } from '../../domain/sessions/tokens/application-token.ts'
import { atHash, type IdentityTokens } from '../../domain/sessions/tokens/identity-token.ts'
import { isOwn } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import { hasScope } from './claims.ts'
import type { Entrance } from './entrance.ts'

export interface Issue {
  accessToken: string
  /** An application of somebody else gets one for `offline_access`. */
  refreshToken?: string
  /** What was granted. */
  scope?: string
  /** With `openid`. */
  idToken?: string
}

export interface IssueNeeds {
  accessTokens: Pick<AccessTokenService, 'sign'>
  applicationTokens: Pick<ApplicationTokens, 'write'>
  identityTokens: Pick<IdentityTokens, 'signIdToken'>
  entrance: Pick<Entrance, 'claimsOf'>
}

type OpenSession = Pick<Refreshed, 'subject' | 'family' | 'refreshToken'>

export function createIssue({ accessTokens, applicationTokens, identityTokens, entrance }: IssueNeeds) {
  const signIdToken = (
    application: ApplicationConfig,
    { sessionId, authTime, amr, scope }: OpenSession['subject'],
    { account, accessToken, nonce }: { account: Account; accessToken: string; nonce: string | null },
  ): Promise<string> =>
    identityTokens.signIdToken({
      ...entrance.claimsOf(application, account, scope),
      sub: account.uuid,
      aud: application.id,
      sid: sessionId,
      auth_time: Math.floor(authTime.getTime() / 1000),
      amr,
      at_hash: atHash(accessToken),
      ...(nonce !== null && { nonce }),
    })

  /** `account`: null where nothing is said about it. */
  return async (
    application: ApplicationConfig,
    { subject, family, refreshToken }: OpenSession,
    account: Account | null,
    nonce: string | null,
  ): Promise<Issue> => {
    const own = isOwn(application)
    const { scope } = subject
    const accessToken = own ? await accessTokens.sign(subject) : applicationTokens.write(family)
    return {
      accessToken,
      ...((own || hasScope(scope, 'offline_access')) && { refreshToken }),
      ...(scope && { scope }),
      ...(account &&
        hasScope(scope, 'openid') && {
          idToken: await signIdToken(application, subject, { account, accessToken, nonce }),
        }),
    }
  }
}
