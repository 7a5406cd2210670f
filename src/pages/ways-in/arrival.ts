/** The end of each way in: the second factor where one is due, the terms, and on to where the way leads. */

import { lacksTerms } from '../../domain/accounts/admission/service.ts'
import type { MeService } from '../../domain/self-service/me/service.ts'
import type { BrowserSessions } from '../../domain/sessions/browser-sessions/service.ts'
import type { OpenedSession } from '../../domain/sessions/core/session-opener.ts'
import type { SignInOutcome, TwoFactorDue } from '../../domain/sign-in/core/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError } from '../../texts/errors.ts'
import { type Flow, onwardsOf } from '../visits/flow.ts'
import type { Visits } from '../visits/service.ts'
import type { Typed, Visit } from '../visits/visit.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  me: MeService
  browserSessions: BrowserSessions
}

/** A login waits that long for its second factor. */
const SECOND_FACTOR_SECONDS = 600

export type Arriving = ReturnType<typeof createArrival>

export function createArrival({ visits, me, browserSessions, config: { accounts } }: Needs) {
  /** The first page of a way, with what was typed on the one before. */
  const leadTo = (visit: Visit, path: string, more: Partial<Flow> = {}): Response => {
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

  /** The same page, which says that a code was sent again. */
  const sentAgain = (visit: Visit, path: string, identifier: string): Response =>
    visits.go(visit, path, {
      ...visit.flow,
      typed: { ...visit.flow.typed, identifier },
      notice: 'sent_again',
    })

  async function askForSecondFactor(visit: Visit, due: TwoFactorDue, identifier: string): Promise<Response> {
    const { loginToken, methods, sentTo } = due
    const ticket = await visits.tickets.keep(
      { kind: 'second_factor', loginToken, identifier },
      SECOND_FACTOR_SECONDS,
    )
    return leadTo(visit, '/code', { ticket, methods, ...(sentTo !== null && { sentTo }) })
  }

  /** Somebody who had an account before they followed the link of an invitation is asked to join. */
  const goOn = (visit: Visit): Response =>
    visit.flow.invitation === undefined
      ? visits.leave(visit, visit.flow.to ?? visits.home)
      : leadTo(visit, '/sign-up')

  /**
   * For whoever is signed in already. A page of ours that led here for a sign-in comes before the application: this browser
   * may have sent its form twice.
   */
  const comeBack = (visit: Visit): Response => {
    const { handOver, to } = visit.flow
    return handOver && to?.startsWith('/')
      ? visits.go(visit, to, onwardsOf(visit.flow))
      : visits.leave(visit, to ?? visits.home)
  }

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
    return leadTo(visit, '/sign-in/terms')
  }

  const finish = (visit: Visit, outcome: SignInOutcome, identifier: string, maybeNew = false) =>
    'signedIn' in outcome
      ? arrive(visit, outcome.signedIn, maybeNew)
      : askForSecondFactor(visit, outcome.due, identifier)

  const noteTerms = (visit: Visit, typed: Typed): void => {
    if (typed.terms === 'yes') visit.flow = { ...visit.flow, terms: accounts.terms }
  }

  /** Leads back to the first page with what was typed; proofs are kept no longer. */
  const startAgain = (visit: Visit, path: string): Response =>
    leadTo(visit, path, { problem: { code: 'start_again' } })

  /** Somebody else may have been asked: the page asks who is signed in now. */
  const refuseEarlier = (visit: Visit, path: string): Response =>
    leadTo(visit, path, { problem: { code: 'earlier_sign_in' } })

  /** Asks once after a new version, on the way from a sign-in to where it leads. */
  const isAskedForTerms = ({ session }: Visit): boolean =>
    session !== null && lacksTerms(session.account, accounts.terms)

  async function acceptTerms(visit: Visit): Promise<Response> {
    const { session } = visit
    if (session === null) return leadTo(visit, '/sign-in')
    if (visit.isOfEarlierSignIn) return refuseEarlier(visit, '/sign-in/terms')
    await me.change(session, { terms: accounts.terms })
    return goOn(visit)
  }

  return {
    ...{ leadTo, startAgain, refuseEarlier, sentAgain, goOn, comeBack },
    ...{ arrive, finish, noteTerms, isAskedForTerms, acceptTerms },
  }
}

export const typedIdentifier = (visit: Visit, typed: Typed) =>
  typed.identifier ?? visit.flow.typed?.identifier ?? ''

export const stays = (visit: Visit) => visit.flow.typed?.stay === 'yes'

/** Returns the fields of this way that give the right to open an account. */
export const entryOf = ({ flow: { invitation, terms } }: Visit) => ({
  ...(invitation !== undefined && { invitation }),
  ...(terms !== undefined && { terms }),
})
