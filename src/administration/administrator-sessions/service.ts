/**
 * Signing in on the page of administration: password, then an authenticator app or a passkey. Between the two, and
 * afterwards, a cookie names the caller; each step gives a new one. The session is one of the account's own, so that
 * whatever ends those ends it too.
 */

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Account } from '../../domain/accounts/core/account.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import type { KnownDevices } from '../../domain/accounts/devices/service.ts'
import { decoyUuid } from '../../domain/foundation/decoys/decoys.ts'
import { readIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import { type Caller, inSession, withPassword } from '../../domain/foundation/limits/callers.ts'
import type { TicketStore } from '../../domain/foundation/tickets/store.ts'
import type { CodeService } from '../../domain/messages/codes/service.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import type { PasswordCheck } from '../../domain/sign-in/core/password-check.ts'
import { wrongPassword } from '../../domain/sign-in/core/reauthentication.ts'
import type { WebAuthnOptions } from '../../domain/sign-in/passkeys/registration.ts'
import type { PasskeyStore } from '../../domain/sign-in/passkeys/store.ts'
import { pictureOf } from '../../domain/sign-in/two-factor/service.ts'
import { setCurrentActor } from '../../platform/request-context.ts'
import { AppError } from '../../texts/errors.ts'
import type { AdministratorCaller } from '../access/access.ts'
import type { AdministratorStore } from '../administrators/store.ts'
import { createPageFactors, type PageMethod, type PageProof } from './page-factors.ts'
import { createPendingSignIns, type PendingSignIn } from './pending-sign-in.ts'
import type { AdministratorSession, AdministratorSessionStore } from './store.ts'

interface OpenedAdministratorSession {
  cookie: string
  /** Names the browser from now on. */
  device: string
  csrfToken: string
  /** Only where an app was set up with it: they are shown once. */
  recoveryCodes?: string[]
}

interface Client {
  address: string
  addressBucket: string
}

interface SigningInClient extends Client {
  /** The name that the browser had at a sign-in before. */
  device: string | undefined
}

type Cookie = string | undefined

type Needs = Parameters<typeof createPageFactors>[0] & {
  passwordCheck: PasswordCheck
  devices: KnownDevices
  codes: Pick<CodeService, 'failInSession' | 'clearInSession'>
  refreshTokens: RefreshTokens
} & {
  stores: {
    accounts: AccountStore
    administrators: AdministratorStore
    administratorSessions: AdministratorSessionStore
    passkeys: PasskeyStore
    sessions: SessionStore
    tickets: TicketStore
  }
}

export const IDLE_MS = 30 * 60_000
export const LIFETIME_MS = 8 * 3_600_000
/** The time for which password and second factor count as just proved. */
export const PROVED_MS = 5 * 60_000

/** A device is known for so long. */
export const DEVICE_MS = 90 * 86_400_000
const DEVICE = /^[\w-]{43}$/

const hashOfCookie = (cookie: string): Buffer => createHash('sha256').update(cookie).digest()
/** Apart from what a client of the public interface names. */
const fingerprintOf = (device: string | undefined) =>
  device !== undefined && DEVICE.test(device) ? `administration ${device}` : null

const newCookie = () => randomBytes(32).toString('base64url')

export type AdministratorSessions = ReturnType<typeof createAdministratorSessions>

export function createAdministratorSessions(needs: Needs) {
  const { passwordCheck, devices, codes, authenticators, refreshTokens, limits } = needs
  const { secret, events, clock, config, stores } = needs
  const factors = createPageFactors(needs)
  const pending = createPendingSignIns(needs)

  async function requirePending(cookie: Cookie): Promise<{ account: Account; signIn: PendingSignIn }> {
    const signIn = cookie === undefined ? null : await pending.find(cookie)
    const account = signIn && (await stores.accounts.findByUuid(signIn.accountUuid))
    if (!signIn || !account || !signIn.isFor(account))
      throw new AppError('invalid_token', { cause: 'no_sign_in' })
    if (account.lockedAt !== null) throw new AppError('account_locked')
    return { account, signIn }
  }

  async function callerOf(account: Account, client: SigningInClient): Promise<Caller> {
    const recognized = await devices.recognizeAtLogin(account, {
      ...client,
      fingerprint: fingerprintOf(client.device),
    })
    return recognized.group === 'owner' ? recognized : withPassword(account, client)
  }

  async function find(cookie: Cookie): Promise<AdministratorSession | null> {
    if (cookie === undefined) return null
    const now = clock.now()
    return stores.administratorSessions.find(hashOfCookie(cookie), new Date(now.getTime() - IDLE_MS), now)
  }

  const csrfTokenOf = (cookie: string): string =>
    secret.tag('administration csrf', hashOfCookie(cookie)).toString('base64url')

  /** Opens the session. Refuses if the account is not what was checked any more. */
  async function open(account: Account, amr: string[], { address, device: known }: SigningInClient) {
    const device = known !== undefined && DEVICE.test(known) ? known : newCookie()
    const now = clock.now()
    const cookie = newCookie()
    const endsAt = new Date(now.getTime() + LIFETIME_MS)
    const session = {
      id: randomUUID(),
      device: { type: 'Navigateur', name: 'Administration', os: null, fingerprint: null },
      address,
      tags: devices.tagsOf(account.uuid, { fingerprint: fingerprintOf(device), address }),
      amr,
      // Its refresh token is given to nobody.
      familyHash: refreshTokens.create().familyHash,
      kind: 'direct' as const,
      stays: false,
      expiresAt: endsAt,
      endsAt,
    }
    setCurrentActor({ type: 'administrator', id: account.uuid, name: null })
    const opened = await stores.administratorSessions.open(account, session, hashOfCookie(cookie), now)
    if (opened === null) throw new AppError('invalid_credentials')
    return { account: opened, sessionId: session.id, cookie, device }
  }

  /** The first session of an administrator without a second factor: the app is theirs from then on. */
  async function openWithApp(account: Account, app: Uint8Array, otp: string, client: SigningInClient) {
    const opened = await open(account, ['pwd'], client)
    const session = { deviceFingerprint: fingerprintOf(opened.device), signInIp: client.address }
    const recoveryCodes = await authenticators.enrol({ ...opened, ...session }, ['pwd'], app, otp)
    if (recoveryCodes === null) {
      await stores.sessions.end(opened.sessionId, account.uuid, clock.now())
      throw new AppError('invalid_code')
    }
    return { cookie: opened.cookie, device: opened.device, recoveryCodes }
  }

  async function verifyNewApp(app: Uint8Array, { otp }: PageProof, caller: Caller): Promise<string> {
    await limits.chargeVisit('verification', caller)
    if (!otp) throw new AppError('validation_failed', { fields: [{ field: 'otp', code: 'required' }] })
    if (!authenticators.matchesApp(app, otp)) throw new AppError('invalid_code')
    return otp
  }

  /** A wrong second factor behind the right password is worth an event. */
  async function recordingFailure<T>(account: Account, check: () => Promise<T>): Promise<T> {
    try {
      return await check()
    } catch (error) {
      if (error instanceof AppError && error.errorCode !== 'validation_failed')
        events.add('administrator.sign_in_failed', account)
      throw error
    }
  }

  /** Of any number of callers with one sign-in, one gets past. */
  async function finish(signIn: PendingSignIn): Promise<void> {
    if (!(await signIn.take())) throw new AppError('invalid_token', { cause: 'no_sign_in' })
  }

  return {
    /**
     * `methods` empty: an app has to be set up first. An account that is no administrator is answered like a wrong
     * password.
     */
    async begin(
      { identifier: typed, password }: { identifier: string; password: string },
      client: SigningInClient,
    ): Promise<{ cookie: string; methods: PageMethod[] }> {
      passwordCheck.requireFreePlace()
      const identifier = readIdentifier(typed, config.accounts.defaultCountry)
      const account = await stores.accounts.findByIdentifier(identifier, 'login')
      const [caller, administrator] = await Promise.all([
        devices.recognizeAtLogin(account, { ...client, fingerprint: fingerprintOf(client.device) }),
        stores.administrators.find(account?.uuid ?? decoyUuid),
      ])
      const { right } = await passwordCheck.check({
        account,
        identifierKey: identifier.key,
        caller,
        password,
        countsAsLogin: true,
      })
      if (!right || !account || administrator === null) {
        events.add(administrator === null ? 'login.failed' : 'administrator.sign_in_failed', account)
        throw new AppError('invalid_credentials')
      }
      if (account.lockedAt !== null) throw new AppError('account_locked')
      const cookie = newCookie()
      await pending.put(cookie, account, null)
      return { cookie, methods: (await factors.find(account)).methods }
    },
    /** An app to set up, in place of one that was asked for before. */
    async requestApp(cookie: Cookie) {
      const { account } = await requirePending(cookie)
      const { methods, mayEnrol } = await factors.find(account)
      if (!mayEnrol) throw new AppError('two_factor_required', { twoFactor: { methods } })
      const app = authenticators.createApp(account.email ?? account.phone ?? account.uuid)
      await pending.put(cookie!, account, app.sealedSecret)
      return { secret: app.secret, uri: app.uri, picture: pictureOf(app.uri) }
    },
    /** The second factor may be a passkey: of the sign-in that the cookie names, or of the session. */
    async passkeyOptions(cookie: Cookie): Promise<WebAuthnOptions> {
      const session = await find(cookie)
      if (session !== null) return factors.passkeyOptions(session, session.sessionId)
      const { account, signIn } = await requirePending(cookie)
      return factors.passkeyOptions(account, signIn.id)
    },
    /** A sign-in that is too long ago is refused. */
    async verify(
      cookie: Cookie,
      proof: PageProof,
      client: SigningInClient,
    ): Promise<OpenedAdministratorSession> {
      const { account, signIn } = await requirePending(cookie)
      const caller = await callerOf(account, client)
      const { mayEnrol } = await factors.find(account)
      const { app } = signIn
      if (app !== null && mayEnrol) {
        const otp = await recordingFailure(account, () => verifyNewApp(app, proof, caller))
        await finish(signIn)
        const opened = await openWithApp(account, app, otp, client)
        return { ...opened, csrfToken: csrfTokenOf(opened.cookie) }
      }
      const amr = await recordingFailure(account, () => factors.take(account, proof, signIn.id, caller))
      await finish(signIn)
      const opened = await open(account, [...new Set(['pwd', ...amr])], client)
      return { cookie: opened.cookie, device: opened.device, csrfToken: csrfTokenOf(opened.cookie) }
    },
    /** It returns null where the cookie names no living session of an administrator. */
    find,
    /** Returns the token that writes of this session carry. */
    csrfTokenOf,
    /**
     * Password and second factor again. A wrong password is reported on its field. The session gets a new cookie, so that
     * a copy of the one before does not reach what is open now.
     */
    async reauthenticate(
      { id, sessionId }: AdministratorCaller,
      cookie: Cookie,
      { password, ...proof }: PageProof & { password: string },
      client: Client,
    ): Promise<{ cookie: string; csrfToken: string }> {
      const account = await stores.accounts.findByUuid(id)
      if (account === null) throw new AppError('invalid_token', { cause: 'session_over' })
      const caller = inSession({ account, sessionId }, client)
      const { right } = await passwordCheck.check({
        account,
        identifierKey: account.uuid,
        caller,
        password,
        countsAsLogin: true,
      })
      if (!right) {
        events.add('administrator.sign_in_failed', account)
        // A thief who guesses inside a stolen session must not go on for as long as it lives.
        if (await codes.failInSession(sessionId)) await stores.sessions.end(sessionId, id, clock.now())
        throw wrongPassword('password')
      }
      await codes.clearInSession(sessionId)
      await recordingFailure(account, () => factors.take(account, proof, sessionId, caller))
      const next = newCookie()
      const [former, present] = [hashOfCookie(cookie ?? ''), hashOfCookie(next)]
      if (!(await stores.administratorSessions.prove(sessionId, former, present, clock.now())))
        throw new AppError('invalid_token', { cause: 'cookie_renewed' })
      return { cookie: next, csrfToken: csrfTokenOf(next) }
    },
    async end({ id, sessionId }: AdministratorCaller): Promise<void> {
      await stores.sessions.end(sessionId, id, clock.now())
    },
  }
}
