/**
 * The sessions of the page of administration. Signing in is the one of everybody with a policy (policy.ts); between its two
 * steps, and afterwards, a cookie names the caller, and each step gives a new one. The session is one of the account's own,
 * so that whatever ends those ends it too.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { AddressSource, Source } from '../../domain/foundation/limits/callers.ts'
import { type BrowserSession, sessionClaims } from '../../domain/sessions/browser-sessions/service.ts'
import type { Device } from '../../domain/sessions/core/session.ts'
import type { OpenedSession } from '../../domain/sessions/core/session-opener.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import type { Reauthentication } from '../../domain/sign-in/core/reauthentication.ts'
import type { LoginService } from '../../domain/sign-in/login/service.ts'
import {
  requireCode,
  type SecondProof,
  type SecondStep,
} from '../../domain/sign-in/login-by-code/second-step.ts'
import type { PasskeyService } from '../../domain/sign-in/passkeys/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError, type SetUpFactor } from '../../texts/errors.ts'
import type { AdministratorCaller, Role } from '../access/access.ts'
import type { AdministratorSessionStore } from './store.ts'

/** Somebody who is signed in on the page. */
export interface AdministratorSession extends BrowserSession {
  role: Role
  /** The end that no use moves. */
  endsAt: Date
}

interface SigningInClient extends AddressSource {
  /** The name that the browser had at a sign-in before. */
  device: string | undefined
}

type Cookie = string | undefined

interface Needs extends Pick<Ground, 'clock' | 'secret'> {
  refreshTokens: RefreshTokens
  /** Those of administration: they are made with its policy. */
  signIn: {
    login: LoginService
    secondStep: SecondStep
    passkeys: Pick<PasskeyService, 'stepUpOptions'>
    reauthentication: Reauthentication
  }
  stores: { administratorSessions: AdministratorSessionStore; sessions: SessionStore }
}

export const IDLE_MS = 30 * 60_000
/** A device is known for so long. */
export const DEVICE_MS = 90 * 86_400_000
const DEVICE = /^[0-9a-f]{32}$/

/** A stolen backup does not hold the cookie. Apart from what a client of the public interface names. */
const deviceOf = (name: string | undefined): Device => ({
  type: 'Navigateur',
  name: 'Administration',
  os: null,
  fingerprint:
    name === undefined
      ? null
      : createHash('sha256').update('poterne administration ').update(name).digest('hex'),
})

export type AdministratorSessions = ReturnType<typeof createAdministratorSessions>

export function createAdministratorSessions(needs: Needs) {
  const { refreshTokens, secret, clock, stores } = needs
  const { login, secondStep, passkeys, reauthentication } = needs.signIn
  const store = stores.administratorSessions

  /** The 43 characters of the cookie are the 64 of a token that no other place takes. */
  const hashOf = (cookie: string) =>
    refreshTokens.read(Buffer.from(cookie, 'base64url').toString('hex'))?.familyHash ?? null
  const cookieOf = (refreshToken: string) => Buffer.from(refreshToken, 'hex').toString('base64url')

  async function find(cookie: Cookie): Promise<AdministratorSession | null> {
    const hash = cookie === undefined ? null : hashOf(cookie)
    if (cookie === undefined || hash === null) return null
    const now = clock.now()
    const found = await store.find(hash, new Date(now.getTime() - IDLE_MS), now)
    if (found === null) return null
    const { sessionId, role, startedAt, amr, provedAt, endsAt, deviceFingerprint, signInIp, ...account } =
      found
    const session: AdministratorSession = {
      ...{ account, sessionId, role, endsAt, deviceFingerprint, signInIp, cookie },
      stays: false,
      // Password and second factor were last proved then.
      authenticatedAt: provedAt,
      claims: sessionClaims({ account, sessionId, startedAt, amr }, now),
      async renew(proved = false) {
        const next = refreshTokens.create()
        const former = hashOf(session.cookie) as Uint8Array
        if (!(await store.renew(sessionId, former, next.familyHash, proved ? clock.now() : null)))
          throw new AppError('invalid_token', { cause: 'cookie_renewed' })
        session.cookie = cookieOf(refreshTokens.write(next))
      },
    }
    return session
  }

  async function require(cookie: Cookie): Promise<AdministratorSession> {
    const session = await find(cookie)
    if (session === null) throw new AppError('invalid_token', { cause: 'session_over' })
    return session
  }

  const csrfTokenOf = (cookie: string): string =>
    secret.tag('administration csrf', createHash('sha256').update(cookie).digest()).toString('base64url')

  return {
    /**
     * `methods` empty: an app has to be set up first. An account that is no administrator is answered like a wrong
     * password.
     */
    async begin(
      typed: { identifier: string; password: string },
      { device, ...client }: SigningInClient,
    ): Promise<{ cookie: string; methods: SetUpFactor[] }> {
      const outcome = await login.logIn(typed, deviceOf(knownDevice(device)), client)
      if (!('due' in outcome)) throw new AppError('invalid_credentials')
      return { cookie: outcome.due.loginToken, methods: outcome.due.methods as SetUpFactor[] }
    },
    /** An app to set up, in place of one that was asked for before. */
    requestApp: (cookie: Cookie) => underWay(cookie, (token) => secondStep.requestApp(token)),
    /** The second factor may be a passkey: of the sign-in that the cookie names, or of the session. */
    async passkeyOptions(cookie: Cookie, client: Source) {
      const session = await find(cookie)
      if (session !== null) return passkeys.stepUpOptions(session, client)
      return underWay(cookie, (token) => secondStep.passkeyOptions(token, client))
    },
    /** A sign-in that is too long ago is refused. `device`: names the browser from now on. */
    async verify(cookie: Cookie, proof: SecondProof, { device: named, ...client }: SigningInClient) {
      const device = knownDevice(named) ?? randomBytes(16).toString('hex')
      const opened = await underWay(cookie, (token) =>
        secondStep.verify(token, proof, deviceOf(device), client),
      )
      return { ...opened, ...namedBy(opened.signedIn), device }
    },
    /** It returns null where the cookie names no living session of an administrator. */
    find,
    require,
    /** Returns the token that writes of this session carry. */
    csrfTokenOf,
    /**
     * Password and second factor again. A wrong password is reported on its field. The session gets a new cookie, so that
     * a copy of the one before does not reach what is open now.
     */
    async reauthenticate(cookie: Cookie, proof: SecondProof & { password: string }, client: Source) {
      const session = await require(cookie)
      if (!proof.credential) requireCode(proof.otp)
      await reauthentication.require(session, proof, client)
      return { cookie: session.cookie, csrfToken: csrfTokenOf(session.cookie) }
    },
    async end({ id, sessionId }: AdministratorCaller): Promise<void> {
      await stores.sessions.end(sessionId, id, clock.now())
    },
  }

  function namedBy({ refreshToken }: OpenedSession) {
    const cookie = cookieOf(refreshToken)
    return { cookie, csrfToken: csrfTokenOf(cookie) }
  }
}

const knownDevice = (name: string | undefined) => (name !== undefined && DEVICE.test(name) ? name : undefined)

/** `work` gets the token of the sign-in that the cookie names. */
async function underWay<Result>(cookie: Cookie, work: (token: string) => Promise<Result>): Promise<Result> {
  try {
    return await work(cookie ?? '')
  } catch (error) {
    if (!(error instanceof AppError) || error.errorCode !== 'login_expired') throw error
    throw new AppError('invalid_token', { cause: 'no_sign_in' })
  }
}
