/** The steps of the ways in. Each calls the service of the JSON route that does the same, and says where the browser goes. */

import type { LoginService } from '../../domain/sign-in/login/service.ts'
import type { LoginByCodeService } from '../../domain/sign-in/login-by-code/service.ts'
import type { PasskeyService } from '../../domain/sign-in/passkeys/service.ts'
import type { PasswordsService } from '../../domain/sign-in/passwords/service.ts'
import { AppError } from '../../texts/errors.ts'
import { readAssertion } from '../visits/credential.ts'
import type { Typed, Visit } from '../visits/visit.ts'
import { createArrival, entryOf, stays, typedIdentifier } from './arrival.ts'
import { createByProvider } from './by-provider.ts'
import { createSigningUp } from './signing-up.ts'

type Needs = Parameters<typeof createArrival>[0] &
  Parameters<typeof createSigningUp>[0] &
  Parameters<typeof createByProvider>[0] & {
    login: LoginService
    loginByCode: LoginByCodeService
    passkeys: PasskeyService
    passwords: PasswordsService
  }

export type WaysIn = ReturnType<typeof createWaysIn>

export function createWaysIn(needs: Needs) {
  const { visits, login, loginByCode, passkeys, passwords } = needs
  const { accounts } = needs.config
  const arrival = createArrival(needs)
  const { leadTo, startAgain, refuseEarlier, goOn, comeBack, arrive, finish, noteTerms, sentAgain } = arrival

  /** Where accounts may be without a password, a code signs in or opens one. */
  const createsByCode = ({ flow }: Visit): boolean =>
    accounts.password === 'optional' &&
    (accounts.registration === 'open' ||
      (accounts.registration === 'invitation' && flow.invitation !== undefined))

  const creation = (visit: Visit) => (createsByCode(visit) ? { create: true, ...entryOf(visit) } : {})

  async function signIn(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
    const { password = '' } = typed
    visit.flow = { ...visit.flow, typed: { ...visit.flow.typed, stay: typed.stay ?? '' } }
    const outcome = await login.logIn({ identifier, password }, visit.device(stays(visit)), visit.caller)
    return finish(visit, outcome, identifier)
  }

  async function requestCode(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
    await loginByCode.requestCode({ identifier, ...creation(visit) }, visit.caller)
    return leadTo(visit, '/code', { typed: { ...visit.flow.typed, identifier } })
  }

  async function enterCode(visit: Visit, typed: Typed): Promise<Response> {
    const { ticket } = visit
    const device = visit.device(stays(visit))
    const { otp = '' } = typed
    const isSecondFactor = ticket?.kind === 'second_factor'
    if (!isSecondFactor && visit.flow.methods) throw new AppError('login_expired')
    noteTerms(visit, typed)
    const proof = isSecondFactor ? { loginToken: ticket.loginToken } : creation(visit)
    const trust = { trustDevice: typed.trust === 'yes' }
    const identifier = isSecondFactor ? (ticket.identifier ?? '') : typedIdentifier(visit, typed)
    const body = { identifier, otp, ...proof, ...trust }
    const outcome = await loginByCode.verify(body, device, visit.caller)
    return finish(visit, outcome, identifier, 'create' in proof)
  }

  async function sendCodeAgain(visit: Visit, typed: Typed): Promise<Response> {
    const { ticket } = visit
    const isSecondFactor = ticket?.kind === 'second_factor'
    const identifier = isSecondFactor ? ticket.identifier : typedIdentifier(visit, typed)
    const proof = isSecondFactor ? { loginToken: ticket.loginToken } : creation(visit)
    await loginByCode.requestCode({ identifier, ...proof }, visit.caller)
    return visits.go(visit, '/code', { ...visit.flow, notice: 'sent_again' })
  }

  /** The options of a passkey, for the script of the page. */
  const passkeyOptions = (visit: Visit) => passkeys.loginOptions(visit.caller)

  async function usePasskey(visit: Visit, typed: Typed): Promise<Response> {
    const credential = readAssertion(typed.credential)
    return arrive(visit, await passkeys.logIn(credential, visit.device(stays(visit)), visit.caller))
  }

  /** The same step, with a field for letters or for digits. */
  const changeCodeField = (visit: Visit, { letters }: Typed, path: string): Response =>
    visits.go(visit, path, { ...visit.flow, letters: letters === 'yes' })

  async function recover(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
    await passwords.forgot({ identifier }, visit.caller)
    return leadTo(visit, '/choose-password', { typed: { ...visit.flow.typed, identifier } })
  }

  async function recoverAgain(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
    await passwords.forgot({ identifier }, visit.caller)
    return sentAgain(visit, '/choose-password', identifier)
  }

  /** With the new password the person signs in at once, by the same rules as anybody. */
  async function choosePassword(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
    const { otp = '', password = '' } = typed
    await passwords.reset({ identifier, otp: otp.trim(), password, confirmation: password }, visit.caller)
    try {
      const outcome = await login.logIn({ identifier, password }, visit.device(stays(visit)), visit.caller)
      return await finish(visit, outcome, identifier)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return leadTo(visit, '/sign-in', { notice: 'password_saved' })
    }
  }

  return {
    ...{ leadTo, startAgain, refuseEarlier, goOn, comeBack },
    ...{ isAskedForTerms: arrival.isAskedForTerms, acceptTerms: arrival.acceptTerms },
    ...createSigningUp(needs, arrival),
    ...createByProvider(needs, arrival),
    ...{ signIn, requestCode, enterCode, sendCodeAgain, changeCodeField, passkeyOptions, usePasskey },
    ...{ recover, recoverAgain, choosePassword },
  }
}
