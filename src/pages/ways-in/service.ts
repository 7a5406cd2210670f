/** The steps of the ways in. Each calls the service of the JSON route that does the same, and says where the browser goes. */

import { lacksTerms, termsRequired } from '../../domain/accounts/admission/service.ts'
import type { Memberships } from '../../domain/self-service/invitations/service.ts'
import type { MeService } from '../../domain/self-service/me/service.ts'
import type { BrowserSessions } from '../../domain/sessions/browser-sessions/service.ts'
import type { OpenedSession } from '../../domain/sessions/core/session-opener.ts'
import type { SignInOutcome, TwoFactorDue } from '../../domain/sign-in/core/service.ts'
import type { LoginService } from '../../domain/sign-in/login/service.ts'
import type { LoginByCodeService } from '../../domain/sign-in/login-by-code/service.ts'
import type { PasskeyService } from '../../domain/sign-in/passkeys/service.ts'
import type { PasswordsService } from '../../domain/sign-in/passwords/service.ts'
import type { RegistrationService } from '../../domain/sign-in/registration/service.ts'
import type { WaitingPassword } from '../../domain/sign-in/registration/waiting-password.ts'
import type { SocialService } from '../../domain/sign-in/social/service.ts'
import type { Config } from '../../platform/config/types.ts'
import { AppError } from '../../texts/errors.ts'
import { readAssertion } from '../visits/credential.ts'
import type { Flow } from '../visits/flow.ts'
import { createLeaveToProvider } from '../visits/provider.ts'
import type { Typed, Visit, Visits } from '../visits/service.ts'

interface Needs {
  visits: Visits
  registration: RegistrationService
  login: LoginService
  loginByCode: LoginByCodeService
  passkeys: PasskeyService
  passwords: PasswordsService
  social: SocialService
  memberships: Memberships
  me: MeService
  browserSessions: BrowserSessions
  config: Config
}

export type WaysIn = ReturnType<typeof createWaysIn>

/** A registration waits that long for its confirmation in the browser that made it. */
const REGISTRATION_SECONDS = 86_400
/** A login waits as long for its second factor. */
const SECOND_FACTOR_SECONDS = 600

export function createWaysIn(needs: Needs) {
  const { visits, registration, login, loginByCode, passkeys, passwords, social, memberships } = needs
  const { me, browserSessions } = needs
  const { accounts, server } = needs.config
  const leaveToProvider = createLeaveToProvider({ visits, social, baseUrl: server.baseUrl })

  const identifierOf = (visit: Visit, typed: Typed) => typed.identifier ?? visit.flow.typed?.identifier ?? ''

  /** The first page of a way, with what was typed on the one before. */
  const turn = (visit: Visit, path: string, more: Partial<Flow> = {}): Response => {
    const {
      problem: _,
      notice: __,
      ticket: ___,
      methods: ____,
      sentTo: _____,
      letters: ______,
      ...kept
    } = visit.flow
    return visits.go(visit, path, { ...kept, ...more })
  }

  async function askForSecondFactor(visit: Visit, due: TwoFactorDue, identifier: string): Promise<Response> {
    const { loginToken, methods, sentTo } = due
    const ticket = await visits.tickets.keep(
      { kind: 'second_factor', loginToken, identifier },
      SECOND_FACTOR_SECONDS,
    )
    return turn(visit, '/code', { ticket, methods, ...(sentTo !== null && { sentTo }) })
  }

  /** Somebody who had an account before they followed the link of an invitation is asked to join. */
  const goOn = (visit: Visit): Response =>
    visit.flow.invitation === undefined
      ? visits.leave(visit, visit.flow.to ?? visits.home)
      : turn(visit, '/sign-up')

  /** An account that was there before keeps the terms that were accepted on the way to it. */
  async function keepTerms(visit: Visit, cookie: string): Promise<void> {
    const session = await browserSessions.find(cookie, visit.caller.address)
    if (session === null || session.account.termsVersion === accounts.terms) return
    try {
      await me.change(session, { terms: accounts.terms })
    } catch (error) {
      // The sign-in is not lost for it: the page asks.
      if (!(error instanceof AppError)) throw error
    }
  }

  /** The end of every sign-in. `maybeNew`: the account may have been opened just now, by the invitation. */
  async function arrive(visit: Visit, signedIn: OpenedSession, maybeNew = false): Promise<Response> {
    await visits.signIn(visit, signedIn)
    if (maybeNew) delete visit.flow.invitation
    if (accounts.terms === '') return goOn(visit)
    if (visit.flow.terms === accounts.terms) await keepTerms(visit, signedIn.refreshToken)
    return turn(visit, '/sign-in/terms')
  }

  const finish = (visit: Visit, outcome: SignInOutcome, identifier: string, maybeNew = false) =>
    'signedIn' in outcome
      ? arrive(visit, outcome.signedIn, maybeNew)
      : askForSecondFactor(visit, outcome.due, identifier)

  const noteTerms = (visit: Visit, typed: Typed): void => {
    if (typed.terms === 'yes') visit.flow = { ...visit.flow, terms: accounts.terms }
  }

  /** Returns the fields of this way that give the right to open an account. */
  const entryOf = ({ flow: { invitation, terms } }: Visit) => ({
    ...(invitation !== undefined && { invitation }),
    ...(terms !== undefined && { terms }),
  })

  /** Where accounts may be without a password, a code signs in or opens one. */
  const createsByCode = ({ flow }: Visit): boolean =>
    accounts.password === 'optional' &&
    (accounts.registration === 'open' ||
      (accounts.registration === 'invitation' && flow.invitation !== undefined))

  const creation = (visit: Visit) => (createsByCode(visit) ? { create: true, ...entryOf(visit) } : {})

  const sentAgain = (visit: Visit, path: string, identifier: string): Response =>
    visits.go(visit, path, {
      ...visit.flow,
      typed: { ...visit.flow.typed, identifier },
      notice: 'sent_again',
    })

  const stays = (visit: Visit) => visit.flow.typed?.stay === 'yes'

  const leaveFor = (visit: Visit, provider: string): Promise<Response> =>
    leaveToProvider(visit, {
      ...{ provider, back: '/sign-in/provider', flow: visit.flow },
      kept: { kind: 'provider', provider },
    })

  /** Leads back to the first page with what was typed; proofs are kept no longer. */
  const startAgain = (visit: Visit, path: string): Response =>
    turn(visit, path, { problem: { code: 'start_again' } })

  /** Somebody else may have been asked: the page asks who is signed in now. */
  const refuseEarlier = (visit: Visit, path: string): Response =>
    turn(visit, path, { problem: { code: 'earlier_sign_in' } })

  return {
    turn,
    startAgain,
    refuseEarlier,
    async signIn(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      const { password = '' } = typed
      visit.flow = { ...visit.flow, typed: { ...visit.flow.typed, stay: typed.stay ?? '' } }
      const outcome = await login.logIn({ identifier, password }, visit.device(stays(visit)), visit.caller)
      return finish(visit, outcome, identifier)
    },
    async requestCode(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      await loginByCode.requestCode({ identifier, ...creation(visit) }, visit.caller)
      return turn(visit, '/code', { typed: { ...visit.flow.typed, identifier } })
    },
    async enterCode(visit: Visit, typed: Typed): Promise<Response> {
      const { ticket } = visit
      const device = visit.device(stays(visit))
      const { otp = '' } = typed
      const isSecondFactor = ticket?.kind === 'second_factor'
      if (!isSecondFactor && visit.flow.methods) throw new AppError('login_expired')
      noteTerms(visit, typed)
      const proof = isSecondFactor ? { loginToken: ticket.loginToken } : creation(visit)
      const trust = { trustDevice: typed.trust === 'yes' }
      const identifier = isSecondFactor ? (ticket.identifier ?? '') : identifierOf(visit, typed)
      const body = { identifier, otp, ...proof, ...trust }
      const outcome = await loginByCode.verify(body, device, visit.caller)
      return finish(visit, outcome, identifier, 'create' in proof)
    },
    async sendCodeAgain(visit: Visit, typed: Typed): Promise<Response> {
      const { ticket } = visit
      const isSecondFactor = ticket?.kind === 'second_factor'
      const identifier = isSecondFactor ? ticket.identifier : identifierOf(visit, typed)
      const proof = isSecondFactor ? { loginToken: ticket.loginToken } : creation(visit)
      await loginByCode.requestCode({ identifier, ...proof }, visit.caller)
      return visits.go(visit, '/code', { ...visit.flow, notice: 'sent_again' })
    },
    /** The options of a passkey, for the script of the page. */
    passkeyOptions: (visit: Visit) => passkeys.loginOptions(visit.caller),
    async usePasskey(visit: Visit, typed: Typed): Promise<Response> {
      const credential = readAssertion(typed.credential)
      return arrive(visit, await passkeys.logIn(credential, visit.device(stays(visit)), visit.caller))
    },
    async register(visit: Visit, typed: Typed): Promise<Response> {
      const { identifier = '', password = '' } = typed
      delete visit.flow.terms
      noteTerms(visit, typed)
      if (accounts.terms !== '' && typed.terms !== 'yes') throw termsRequired(accounts.terms)
      const contact = identifier.includes('@') ? { email: identifier } : { phone: identifier }
      const mayBeWithout = accounts.password === 'optional' && password === ''
      const chosen = mayBeWithout ? {} : { password, confirmation: password }
      const body = { ...contact, ...chosen, ...entryOf(visit) }
      const { waiting } = await registration.register(body, visit.caller)
      const ticket = await visits.keepRegistration(
        visit,
        { kind: 'registration', identifier, ...writeWaiting(waiting) },
        REGISTRATION_SECONDS,
      )
      return turn(visit, '/confirm', { ticket, typed: { identifier } })
    },
    /** The link of an invitation leads to an address that does not show its code, and spends nothing. */
    holdInvitation: (visit: Visit, invitation: string): Response =>
      turn(visit, '/sign-up', { invitation: invitation.slice(0, 100) }),
    async join(visit: Visit): Promise<Response> {
      const { session, flow } = visit
      if (session === null) return turn(visit, '/sign-in')
      if (visit.isOfEarlierSignIn) return refuseEarlier(visit, '/sign-up')
      await memberships.accept(session, flow.invitation ?? '', visit.caller)
      return visits.leave(visit, flow.to ?? visits.home)
    },
    async confirm(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      const { ticket } = visit
      const waiting =
        ticket?.kind === 'registration' && ticket.identifier === identifier ? readWaiting(ticket) : undefined
      const { otp = '', password = '' } = typed
      noteTerms(visit, typed)
      const body = {
        identifier,
        otp,
        signsIn: true,
        ...entryOf(visit),
        ...(password !== '' && { password }),
      }
      const { signedIn } = await registration.confirm(body, visit.device(stays(visit)), visit.caller, waiting)
      return signedIn ? arrive(visit, signedIn, true) : turn(visit, '/sign-in', { notice: 'confirmed' })
    },
    async confirmAgain(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      await registration.resend({ identifier }, visit.caller)
      return sentAgain(visit, '/confirm', identifier)
    },
    /** The same step, with a field for letters or for digits. */
    changeCodeField: (visit: Visit, { letters }: Typed, path: string): Response =>
      visits.go(visit, path, { ...visit.flow, letters: letters === 'yes' }),
    async recover(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      await passwords.forgot({ identifier }, visit.caller)
      return turn(visit, '/choose-password', { typed: { ...visit.flow.typed, identifier } })
    },
    async recoverAgain(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      await passwords.forgot({ identifier }, visit.caller)
      return sentAgain(visit, '/choose-password', identifier)
    },
    /** With the new password the person signs in at once, by the same rules as anybody. */
    async choosePassword(visit: Visit, typed: Typed): Promise<Response> {
      const identifier = identifierOf(visit, typed)
      const { otp = '', password = '' } = typed
      await passwords.reset({ identifier, otp: otp.trim(), password, confirmation: password }, visit.caller)
      try {
        const outcome = await login.logIn({ identifier, password }, visit.device(stays(visit)), visit.caller)
        return await finish(visit, outcome, identifier)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return turn(visit, '/sign-in', { notice: 'password_saved' })
      }
    },
    /** Begins a sign-in through a provider; the browser comes back to `/sign-in/provider`. */
    beginProvider(visit: Visit, typed: Typed): Promise<Response> {
      noteTerms(visit, typed)
      return leaveFor(visit, typed.provider ?? '')
    },
    /** Asks once after a new version, on the way from a sign-in to where it leads. */
    isAskedForTerms: ({ session }: Visit): boolean =>
      session !== null && lacksTerms(session.account, accounts.terms),
    goOn,
    async acceptTerms(visit: Visit): Promise<Response> {
      const { session } = visit
      if (session === null) return turn(visit, '/sign-in')
      if (visit.isOfEarlierSignIn) return refuseEarlier(visit, '/sign-in/terms')
      await me.change(session, { terms: accounts.terms })
      return goOn(visit)
    },
    /** Somebody new accepts the terms after the provider said who it is, and proves it there once more. */
    acceptTermsForProvider(visit: Visit): Promise<Response> | Response {
      noteTerms(visit, { terms: 'yes' })
      const provider = visit.ticket?.provider
      return provider === undefined ? startAgain(visit, '/sign-up') : leaveFor(visit, provider)
    },
    async finishProvider(
      visit: Visit,
      { code, error }: { code?: string; error?: string },
    ): Promise<Response> {
      if (code === undefined) {
        const wrong = error === 'access_denied' ? 'provider_denied' : 'provider_failed'
        return turn(visit, '/sign-in', { problem: { code: wrong } })
      }
      if (visit.ticket?.kind !== 'provider') throw new AppError('invalid_sign_in_state')
      const body = { code, code_verifier: visit.ticket.verifier ?? '', ...entryOf(visit) }
      try {
        const outcome = await social.exchange(body, visit.device(stays(visit)), visit.caller)
        return await finish(visit, outcome, 'due' in outcome ? outcome.due.identifier : '', true)
      } catch (error) {
        if (!(error instanceof AppError) || error.errorCode !== 'terms_required') throw error
        return visits.go(visit, '/sign-up/terms')
      }
    },
  }
}

const encode = (bytes: Uint8Array | null) => (bytes === null ? '' : Buffer.from(bytes).toString('base64url'))
const decode = (text: string | undefined) => (text ? Buffer.from(text, 'base64url') : null)

const writeWaiting = ({ digest, emailTag, phoneTag }: WaitingPassword) => ({
  digest: digest ?? '',
  email_tag: encode(emailTag),
  phone_tag: encode(phoneTag),
})

const readWaiting = ({ digest = '', email_tag, phone_tag }: Record<string, string>): WaitingPassword => ({
  digest: digest || null,
  emailTag: decode(email_tag),
  phoneTag: decode(phone_tag),
})
