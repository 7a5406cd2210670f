/**
 * The changes that people make to their own account on the pages. Each step calls the service of the JSON route that
 * does the same.
 */

import { askedFields } from '../../domain/accounts/core/profile.ts'
import type { ProvedIdentity } from '../../domain/credentials/providers/provider.ts'
import { maskDestination } from '../../domain/foundation/identifiers/identifier.ts'
import type { ContactsService } from '../../domain/self-service/contacts/service.ts'
import type { Exports } from '../../domain/self-service/me/exports.ts'
import type { MeService } from '../../domain/self-service/me/service.ts'
import type { TwoFactorRemovals } from '../../domain/self-service/two-factor-removals/service.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import type { SessionService } from '../../domain/sessions/core/service.ts'
import type { SentCode } from '../../domain/sign-in/core/code-destinations.ts'
import type { OwnerProof } from '../../domain/sign-in/core/sign-in-schema.ts'
import type { IdentityService } from '../../domain/sign-in/identities/service.ts'
import type { LoginByCodeService } from '../../domain/sign-in/login-by-code/service.ts'
import type { PasskeyService } from '../../domain/sign-in/passkeys/service.ts'
import type { PasswordsService } from '../../domain/sign-in/passwords/service.ts'
import type { SocialService } from '../../domain/sign-in/social/service.ts'
import type { TwoFactorService } from '../../domain/sign-in/two-factor/service.ts'
import type { Config } from '../../platform/config/types.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { writeList } from '../../texts/dates.ts'
import { AppError } from '../../texts/errors.ts'
import { readAssertion, readAttestation } from '../visits/credential.ts'
import { type Flow, languageOf, onwardsOf } from '../visits/flow.ts'
import { createLeaveToProvider } from '../visits/provider.ts'
import type { Visits } from '../visits/service.ts'
import type { PageTicket } from '../visits/tickets.ts'
import type { Typed, Visit } from '../visits/visit.ts'

interface Needs {
  visits: Visits
  catalog: Catalog
  config: Config
  me: MeService
  exports: Exports
  contacts: ContactsService
  passwords: PasswordsService
  twoFactor: TwoFactorService
  twoFactorRemovals: TwoFactorRemovals
  passkeys: PasskeyService
  identities: IdentityService
  social: SocialService
  sessions: SessionService
  loginByCode: LoginByCodeService
}

export type AccountPages = ReturnType<typeof createAccountPages>

/** A visit of somebody who is signed in. */
export interface OwnVisit extends Visit {
  session: BrowserSession
}

/** The answer to a form: recovery codes and the new app are shown once, since nothing keeps them. */
export type Done = Response | { recoveryCodes: string[] }

/** The identity at a provider that waits for the owner's word. */
export const identityIn = (ticket: PageTicket | null): ProvedIdentity | null =>
  ticket?.kind === 'linked' ? (JSON.parse(ticket.identity ?? 'null') as ProvedIdentity) : null

const PROVIDER_SECONDS = 600
const APP_SECONDS = 900
/** For so long a code is sent again without another proof of the owner. */
const AGAIN_SECONDS = 900

type Kind = 'email' | 'phone'

/** The fields that prove who sits there, besides the session. */
function proofOf({ session }: OwnVisit, typed: Typed): OwnerProof {
  return {
    ...(typed.password && { password: typed.password }),
    ...(typed.otp && { otp: typed.otp }),
    ...(typed.credential && { credential: readAssertion(typed.credential) }),
    refresh_token: session.cookie,
  }
}

export function createAccountPages(needs: Needs) {
  const { visits, catalog, config, me, exports, contacts, passwords, passkeys } = needs
  const { identities, sessions, loginByCode } = needs
  const back = createBack(visits)
  const confirm = createConfirming(contacts)

  return {
    back,
    ...createFactorForms(needs, back),
    ...createProviderForms(needs, back),
    /**
     * A page or form of somebody who signed in here before does nothing: what was typed and done there may be another
     * person's, and a code that its page would ask for may never have been sent. The account's page says who is signed in now.
     */
    refuseEarlier: (visit: OwnVisit): Response =>
      visits.go(visit, '/account', { ...languageOf(visit.flow), problem: { code: 'earlier_sign_in' } }),
    async sendCode(visit: OwnVisit, path: string): Promise<Response> {
      const to = sentToOf(await loginByCode.requestStepUpCode(visit.session, visit.caller))
      const notice = to.sentTo === undefined ? 'code_on_its_way' : 'code_sent_confirm'
      return visits.go(visit, path, { ...visit.flow, ...to, notice })
    },
    async changeProfile(visit: OwnVisit, typed: Typed): Promise<Response> {
      const profile = Object.fromEntries(askedFields.map((field) => [field, typed[field]]))
      await me.change(visit.session, { profile })
      return back(visit, '/account/profile', 'saved')
    },
    async changeLanguage(visit: OwnVisit, typed: Typed): Promise<Response> {
      const { language = '' } = typed
      if (!catalog.has(language)) {
        throw new AppError('validation_failed', { fields: [{ field: 'language', code: 'invalid_value' }] })
      }
      await me.change(visit.session, { language })
      return visits.go(visit, '/account', { ...onwardsOf(visit.flow), language, notice: 'saved' })
    },
    async acceptTerms(visit: OwnVisit): Promise<Response> {
      await me.change(visit.session, { terms: config.accounts.terms })
      return back(visit, '/account', 'saved')
    },
    async changePassword(visit: OwnVisit, typed: Typed): Promise<Response> {
      const { new_password: password = '', ...rest } = typed
      const { password: current_password, ...proof } = proofOf(visit, rest)
      await passwords.change(
        visit.session,
        { password, confirmation: password, current_password, ...proof },
        visit.caller,
      )
      return back(visit, '/account', 'password_changed')
    },
    async changeContact(visit: OwnVisit, typed: Typed, kind: Kind): Promise<Response> {
      const { contact = '' } = typed
      await contacts.change(visit.session, kind, { contact, ...proofOf(visit, typed) }, visit.caller)
      const ticket = await keepProof(visits, visit, kind, { contact })
      const flow = { ...onwardsOf(visit.flow), typed: { contact }, ticket }
      return visits.go(visit, `/account/${kind}/confirm`, flow)
    },
    /** The owner proved who they are for this contact. Later than that, the form asks again. */
    async sendContactAgain(visit: OwnVisit, kind: Kind): Promise<Response> {
      const { ticket, flow } = visit
      if (ticket?.kind !== kind) return visits.go(visit, `/account/${kind}`)
      await contacts.changeAgain(visit.session, kind, ticket.contact ?? '', visit.caller)
      return visits.go(visit, `/account/${kind}/confirm`, { ...flow, notice: 'code_on_its_way' })
    },
    async confirmContact(visit: OwnVisit, typed: Typed, kind: Kind): Promise<Response> {
      await confirm(visit, kind, typed.otp ?? '')
      return back(visit, '/account', 'saved')
    },
    async removeContact(visit: OwnVisit, typed: Typed, kind: Kind): Promise<Response> {
      await contacts.remove(visit.session, kind, proofOf(visit, typed), visit.caller)
      return back(visit, '/account', 'removed')
    },
    async endSession(visit: OwnVisit, typed: Typed): Promise<Response> {
      await sessions.end(visit.session, typed.session ?? '')
      return back(visit, '/account/sessions', 'session_ended')
    },
    async forgetDevice(visit: OwnVisit, typed: Typed): Promise<Response> {
      const { device } = typed
      await (device === undefined
        ? sessions.forgetDevice(visit.session, typed.session ?? '')
        : sessions.forgetTrustedDevice(visit.session, device))
      return back(visit, '/account/sessions', 'device_forgotten')
    },
    async endAllSessions(visit: OwnVisit): Promise<Response> {
      await sessions.logOutAll(visit.session)
      await visits.signOut(visit)
      return visits.go(visit, '/signed-out', {})
    },
    /** A file, which nothing keeps. */
    async exportAccount(visit: OwnVisit, typed: Typed): Promise<Response> {
      const document = await exports.ofOwner(visit.session, proofOf(visit, typed), visit.caller)
      return new Response(JSON.stringify({ status: 200, ...document }, null, 2), {
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'content-disposition': 'attachment; filename="account.json"',
        },
      })
    },
    async eraseAccount(visit: OwnVisit, typed: Typed): Promise<Response> {
      await me.erase(visit.session, proofOf(visit, typed), visit.caller)
      await visits.signOut(visit)
      return visits.go(visit, '/signed-out', { notice: 'account_erased' })
    },
    /** The data that the screens show. */
    read: {
      security: (visit: OwnVisit) => me.describeSecurity(visit.session),
      account: (visit: OwnVisit) => me.describe(visit.session),
      mayRemove: (visit: OwnVisit, kind: Kind) => contacts.mayRemove(visit.session, kind),
      sessions: (visit: OwnVisit) => sessions.list(visit.session),
      passkeys: (visit: OwnVisit) => passkeys.list(visit.session),
      identities: (visit: OwnVisit) => identities.list(visit.session),
      events: (visit: OwnVisit, cursor: string | undefined) =>
        me.listEvents(visit.session, { limit: '50', ...(cursor !== undefined && { cursor }) }),
    },
  }
}

/**
 * Confirms a contact. The form may come again by the browser's Back, and twice at once by two clicks (to this
 * process): what it asks for is done then, and its code used up.
 */
function createConfirming(contacts: ContactsService) {
  const underWay = new Map<string, Promise<void>>()

  async function confirm({ session, caller }: OwnVisit, kind: Kind, contact: string, otp: string) {
    if (await contacts.hasConfirmed(session, kind, contact)) return
    await contacts.confirm(session, kind, { otp }, caller)
  }

  return (visit: OwnVisit, kind: Kind, otp: string): Promise<void> => {
    const { contact = '' } = visit.flow.typed ?? {}
    const form = [visit.session.sessionId, kind, contact, otp].join(' ')
    const begin = () => confirm(visit, kind, contact, otp).finally(() => underWay.delete(form))
    return underWay.getOrInsertComputed(form, begin)
  }
}

/** The page of a code says where it went. */
const sentToOf = (code: SentCode | null): Pick<Flow, 'sentTo'> =>
  code?.destination ? { sentTo: maskDestination(code.destination) } : {}

/** That the owner proved who they are for this. */
const keepProof = (visits: Visits, visit: OwnVisit, kind: string, what: Record<string, string> = {}) =>
  visits.tickets.keep({ kind, session: visit.session.sessionId, ...what }, AGAIN_SECONDS)

/** Back to a page, with a sentence that says what was done. */
const createBack =
  (visits: Visits) =>
  (visit: OwnVisit, path: string, notice?: string, typed?: Typed): Response =>
    visits.go(visit, path, {
      ...onwardsOf(visit.flow),
      ...(notice !== undefined && { notice }),
      ...(typed && { typed }),
    })

/** The forms of two factors and of passkeys. */
function createFactorForms(
  { visits, twoFactor, twoFactorRemovals, passkeys }: Needs,
  back: ReturnType<typeof createBack>,
) {
  async function enableTwoFactor(visit: OwnVisit, typed: Typed): Promise<Response> {
    const sent = await twoFactor.requestEnabling(visit.session, proofOf(visit, typed), visit.caller)
    const ticket = await keepProof(visits, visit, 'two_factor')
    const flow = { ...onwardsOf(visit.flow), ...sentToOf(sent), ticket }
    return visits.go(visit, '/account/two-factor/confirm', flow)
  }

  async function sendEnablingAgain(visit: OwnVisit): Promise<Response> {
    if (visit.ticket?.kind !== 'two_factor') return visits.go(visit, '/account/two-factor/on')
    await twoFactor.requestEnablingAgain(visit.session, visit.caller)
    return visits.go(visit, '/account/two-factor/confirm', { ...visit.flow, notice: 'code_on_its_way' })
  }

  async function confirmTwoFactor(visit: OwnVisit, typed: Typed): Promise<Done> {
    const { otp = '' } = typed
    return { recoveryCodes: await twoFactor.confirmEnabling(visit.session, otp, visit.caller) }
  }

  /** The secret of the app is kept for the page that shows it, sealed, until it is confirmed or a quarter of an hour has passed. */
  async function beginApp(visit: OwnVisit, typed: Typed): Promise<Response> {
    const { secret, uri, picture } = await twoFactor.requestApp(
      visit.session,
      proofOf(visit, typed),
      visit.caller,
    )
    const { sessionId } = visit.session
    const what = { kind: 'app', session: sessionId, secret, uri, picture }
    const ticket = await visits.tickets.keep(what, APP_SECONDS)
    return visits.go(visit, '/account/two-factor/app/confirm', { ...onwardsOf(visit.flow), ticket })
  }

  async function confirmApp(visit: OwnVisit, typed: Typed): Promise<Done> {
    if (visit.ticket?.kind === 'done') return visits.go(visit, '/account/two-factor/app/confirm')
    const { otp = '' } = typed
    const recoveryCodes = await twoFactor.confirmApp(visit.session, otp, visit.caller)
    await visits.tickets.spend(visit)
    return { recoveryCodes }
  }

  async function disableTwoFactor(visit: OwnVisit, typed: Typed): Promise<Response> {
    await twoFactor.disable(visit.session, proofOf(visit, typed), visit.caller)
    return back(visit, '/account/two-factor', 'two_factor_off')
  }

  async function keepTwoFactor(visit: OwnVisit, typed: Typed): Promise<Response> {
    await twoFactor.keep(visit.session, proofOf(visit, typed), visit.caller)
    return back(visit, '/account/two-factor', 'two_factor_on')
  }

  async function tellOfRemovalAgain(visit: OwnVisit): Promise<Response> {
    const told = await twoFactorRemovals.tellAgain(visit.session.account)
    // It ended meanwhile: the page shows what is on now, which the account of this session was read too early to say.
    if (told === null) return back(visit, '/account/two-factor')
    return visits.go(visit, '/account/two-factor', {
      ...onwardsOf(visit.flow),
      notice: 'removal_sent_again',
      sentTo: writeList(told.sentTo, visit.client.language),
      sendAgainAt: Math.floor(visits.now() / 1000) + told.waitSeconds,
    })
  }

  async function newRecoveryCodes(visit: OwnVisit, typed: Typed): Promise<Done> {
    const proof = proofOf(visit, typed)
    return { recoveryCodes: await twoFactor.replaceRecoveryCodes(visit.session, proof, visit.caller) }
  }

  const stepUpOptions = (visit: OwnVisit) => passkeys.stepUpOptions(visit.session, visit.caller)

  const newPasskeyOptions = (visit: OwnVisit, typed: Typed) =>
    passkeys.registrationOptions(visit.session, proofOf(visit, typed), visit.caller)

  async function addPasskey(visit: OwnVisit, typed: Typed): Promise<Response> {
    const credential = readAttestation(typed.credential)
    await passkeys.register(visit.session, credential, null, visit.caller)
    return back(visit, '/account/passkeys', 'saved')
  }

  async function renamePasskey(visit: OwnVisit, typed: Typed): Promise<Response> {
    await passkeys.rename(visit.session, typed.passkey ?? '', typed.name ?? '')
    return back(visit, '/account/passkeys', 'saved')
  }

  async function removePasskey(visit: OwnVisit, typed: Typed): Promise<Response> {
    await passkeys.remove(visit.session, typed.passkey ?? '', proofOf(visit, typed), visit.caller)
    return back(visit, '/account/passkeys', 'removed')
  }

  return {
    ...{
      enableTwoFactor,
      sendEnablingAgain,
      confirmTwoFactor,
      beginApp,
      confirmApp,
      disableTwoFactor,
      keepTwoFactor,
      tellOfRemovalAgain,
      newRecoveryCodes,
    },
    ...{ stepUpOptions, newPasskeyOptions, addPasskey, renamePasskey, removePasskey },
  }
}

/** The forms that link and unlink other providers. */
function createProviderForms(
  { visits, social, identities, config }: Needs,
  back: ReturnType<typeof createBack>,
) {
  const leaveToProvider = createLeaveToProvider({ visits, social, baseUrl: config.server.baseUrl })

  const startAgain = (visit: OwnVisit, path: string): Response =>
    visits.go(visit, path, { ...onwardsOf(visit.flow), problem: { code: 'start_again' } })

  /** The proof of the owner is checked when the browser comes back, so it is kept until then. */
  function beginLink(visit: OwnVisit, typed: Typed): Promise<Response> {
    const { provider = '' } = typed
    const kept = { kind: 'link', session: visit.session.sessionId, provider }
    const way = { provider, back: '/account/providers/linked', flow: onwardsOf(visit.flow) }
    return leaveToProvider(visit, { ...way, kept })
  }

  /** The identity is proved; what the account asks for is asked now. */
  async function linkIdentity(visit: OwnVisit, typed: Typed): Promise<Response> {
    const identity = identityIn(visit.ticket)
    const { provider = '' } = identity ?? visit.ticket ?? {}
    const isLinked = () => back(visit, '/account/providers', 'provider_linked', { provider })
    if (visit.ticket?.kind === 'done') return isLinked()
    if (identity === null) return startAgain(visit, '/account/providers')
    await identities.linkProved(visit.session, identity, proofOf(visit, typed), visit.caller)
    await visits.tickets.spend(visit)
    return isLinked()
  }

  async function returnFromProvider(
    visit: OwnVisit,
    { code, error }: { code?: string; error?: string },
  ): Promise<Response> {
    const { ticket } = visit
    if (ticket?.kind !== 'link') return startAgain(visit, '/account/providers')
    const { provider = '', verifier = '' } = ticket
    if (code === undefined) {
      const wrong = error === 'access_denied' ? 'provider_denied' : 'provider_failed'
      const problem = { code: wrong, provider } as const
      return visits.go(visit, '/account/providers', { ...onwardsOf(visit.flow), problem })
    }
    const identity = await identities.takeCode(provider, code, verifier)
    const what = {
      kind: 'linked',
      session: visit.session.sessionId,
      provider,
      identity: JSON.stringify(identity),
    }
    const next = await visits.tickets.keep(what, PROVIDER_SECONDS)
    return visits.go(visit, '/account/providers/confirm', { ...onwardsOf(visit.flow), ticket: next })
  }

  async function unlinkIdentity(visit: OwnVisit, typed: Typed): Promise<Response> {
    await identities.unlink(visit.session, typed.provider ?? '', proofOf(visit, typed), visit.caller)
    return back(visit, '/account/providers', 'removed')
  }

  return { beginLink, linkIdentity, returnFromProvider, unlinkIdentity }
}
