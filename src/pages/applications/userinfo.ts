/** What the access token of an application opens: who signed in. And the end of its session, by one of its tokens. */
import { readBearerToken } from '../../domain/sessions/core/authentication.ts'
import { isForOpenId, isOwn } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import { AppError } from '../../texts/errors.ts'
import { hasScope } from './claims.ts'
import type { ApplicationCaller, TokenForm } from './clients.ts'
import { createEntrance } from './entrance.ts'
import { kindOf } from './grants.ts'
import type { ApplicationNeeds, ApplicationService } from './service.ts'
import type { ApplicationSession } from './store.ts'
import { missing, withBearerName } from './token-errors.ts'

interface Needs extends ApplicationNeeds {
  applications: Pick<ApplicationService, 'identify' | 'noteRefusal' | 'refusedAt' | 'requireReadable'>
}

/** The access token of a session that was ended names it for so long. */
const LATE_SECONDS = 3600

export type UserinfoService = ReturnType<typeof createUserinfo>

export function createUserinfo(needs: Needs) {
  const { accessTokens, applicationTokens, refreshTokens, applications, clock, config, stores } = needs
  const store = stores.applications
  const entrance = createEntrance(needs)

  /** The session of an access token, whatever became of it. */
  async function readToken(
    token: string,
  ): Promise<{ named: ApplicationSession; issuedAt: Date; uuid?: string }> {
    const opaque = applicationTokens.read(token)
    if (opaque?.isOver) throw new AppError('token_expired')
    if (opaque) {
      const { familyHash, issuedAt } = opaque
      return { named: { familyHash, kind: 'application' }, issuedAt }
    }
    const { sessionId, accountUuid: uuid, issuedAt } = await accessTokens.verify(token)
    return { named: { sessionId, kind: 'direct' }, issuedAt, uuid }
  }

  /** `seen` gets the application, once it is known. */
  async function describe(
    authorization: string | null,
    seen: { application?: string | null },
  ): Promise<Record<string, unknown>> {
    const token = readBearerToken(authorization ?? undefined)
    if (token === null) throw new AppError('invalid_token', { cause: 'no_bearer_token' })
    const { named, issuedAt, uuid } = await readToken(token)
    const now = clock.now()
    const found = await store.findSession(named, now)
    if (found === null || (uuid !== undefined && found.uuid !== uuid))
      throw new AppError('invalid_token', { cause: 'session_over' })
    seen.application = found.clientId
    if (found.tokensNotBefore !== null && issuedAt < found.tokensNotBefore)
      throw new AppError('invalid_token', { cause: 'tokens_ended' })
    const application = applicationOf(found, named)
    if (!isOwn(application) && !entrance.admits(application, found)) {
      await stores.sessions.end(found.sessionId, found.uuid, now, { cause: 'application' })
      throw new AppError('invalid_token', { cause: 'may_not_enter' })
    }
    return { ...entrance.claimsOf(application, found, found.scope), sub: found.uuid }
  }

  /** Throws for a login's own token, and for that of an application that did not ask for `openid`. */
  function applicationOf(
    { clientId, scope }: { clientId: string | null; scope: string | null },
    { kind }: ApplicationSession,
  ): ApplicationConfig {
    const application = config.pages.applications.find(({ id }) => id === clientId)
    if (clientId !== null && (!application || kindOf(application) !== kind))
      throw new AppError('invalid_token', { cause: 'application_removed' })
    if (!application || (isOwn(application) && !(isForOpenId(application) && hasScope(scope, 'openid'))))
      throw new AppError('insufficient_scope', {
        oauthDescription: 'this token was given without the scope openid',
      })
    return application
  }

  /** The sessions that a token may name, one of each kind; none for any other text. */
  async function sessionsOf(token: string): Promise<ApplicationSession[]> {
    const opaque = applicationTokens.read(token) ?? refreshTokens.read(token)
    if (opaque !== null) {
      const { familyHash } = opaque
      return [
        { familyHash, kind: 'application' },
        { familyHash, kind: 'direct' },
      ]
    }
    try {
      const { sessionId } = await accessTokens.verify(token, LATE_SECONDS)
      return [{ sessionId, kind: 'direct' }]
    } catch (error) {
      if (error instanceof AppError) return []
      throw error
    }
  }

  return {
    async userinfo(authorization: string | null): Promise<Record<string, unknown>> {
      const seen: { application?: string | null } = {}
      try {
        return await describe(authorization, seen)
      } catch (error) {
        const refusal = withBearerName(error)
        if (seen.application) applications.noteRefusal(seen.application, refusal)
        throw refusal
      }
    },
    /** Any other text is as good as a token that was revoked before (RFC 7009, 2.2). */
    async revoke(form: TokenForm, caller: ApplicationCaller): Promise<void> {
      try {
        const { application } = await applications.identify(form, caller)
        applications.requireReadable(form)
        if (!form.token) throw missing('token')
        const named = (await sessionsOf(form.token)).find(({ kind }) => kind === kindOf(application))
        if (named) await store.revoke(named, application.id, clock.now())
      } catch (error) {
        throw applications.refusedAt(form, caller, error)
      }
    },
  }
}
