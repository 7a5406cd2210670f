/** The way to a new account: registration, its confirmation, and invitations. */

import { type Admission, termsRequired } from '../../domain/accounts/admission/service.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import type { Memberships } from '../../domain/self-service/invitations/service.ts'
import type { RegistrationService } from '../../domain/sign-in/registration/service.ts'
import type { WaitingPassword } from '../../domain/sign-in/registration/waiting-password.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Visits } from '../visits/service.ts'
import type { Typed, Visit } from '../visits/visit.ts'
import { type Arriving, entryOf, stays, typedIdentifier } from './arrival.ts'

interface Needs extends Pick<Ground, 'config'> {
  admission: Pick<Admission, 'findUsable'>
  roles: Pick<Roles, 'named'>
  visits: Visits
  registration: RegistrationService
  memberships: Memberships
}

/** The gifts of an invitation: the name of a role, which only new accounts get, and groups. */
export interface Invited {
  role: string | null
  groups: readonly string[]
}

/** A registration waits that long for its confirmation in the browser that made it. */
const REGISTRATION_SECONDS = 86_400

export function createSigningUp(
  { visits, registration, memberships, admission, roles, config: { accounts } }: Needs,
  { leadTo, refuseEarlier, sentAgain, arrive, noteTerms }: Arriving,
) {
  async function register(visit: Visit, typed: Typed): Promise<Response> {
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
    return leadTo(visit, '/confirm', { ticket, typed: { identifier } })
  }

  /** The link of an invitation leads to an address that does not show its code, and spends nothing. */
  const holdInvitation = (visit: Visit, invitation: string): Response =>
    leadTo(visit, '/sign-up', { invitation: invitation.slice(0, 100) })

  /** It is null without an invitation that holds. A role without a name would say nothing. */
  async function givenTo({ flow }: Visit): Promise<Invited | null> {
    const invitation = flow.invitation === undefined ? null : await admission.findUsable(flow.invitation)
    if (invitation === null) return null
    const role = roles.named().find(({ id }) => id === invitation.roleId)
    return { role: role?.name ?? null, groups: invitation.groups }
  }

  async function join(visit: Visit): Promise<Response> {
    const { session, flow } = visit
    if (session === null) return leadTo(visit, '/sign-in')
    if (visit.isOfEarlierSignIn) return refuseEarlier(visit, '/sign-up')
    await memberships.accept(session, flow.invitation ?? '', visit.caller)
    return visits.leave(visit, flow.to ?? visits.home)
  }

  async function confirm(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
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
    return signedIn ? arrive(visit, signedIn, true) : leadTo(visit, '/sign-in', { notice: 'confirmed' })
  }

  async function confirmAgain(visit: Visit, typed: Typed): Promise<Response> {
    const identifier = typedIdentifier(visit, typed)
    await registration.resend({ identifier }, visit.caller)
    return sentAgain(visit, '/confirm', identifier)
  }

  return { register, holdInvitation, givenTo, join, confirm, confirmAgain }
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
