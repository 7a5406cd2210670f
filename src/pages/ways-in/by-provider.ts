/** The way through another sign-in provider, and back. */

import type { SocialService } from '../../domain/sign-in/social/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError } from '../../texts/errors.ts'
import { createLeaveToProvider } from '../visits/provider.ts'
import type { Visits } from '../visits/service.ts'
import type { Typed, Visit } from '../visits/visit.ts'
import { type Arriving, entryOf, stays } from './arrival.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  social: SocialService
}

export function createByProvider(
  { visits, social, config: { server } }: Needs,
  { leadTo, startAgain, finish, noteTerms }: Arriving,
) {
  const leaveToProvider = createLeaveToProvider({ visits, social, baseUrl: server.baseUrl })

  const leaveFor = (visit: Visit, provider: string): Promise<Response> =>
    leaveToProvider(visit, {
      ...{ provider, back: '/sign-in/provider', flow: visit.flow },
      kept: { kind: 'provider', provider },
    })

  /** Begins a sign-in through a provider; the browser comes back to `/sign-in/provider`. */
  function beginProvider(visit: Visit, typed: Typed): Promise<Response> {
    noteTerms(visit, typed)
    return leaveFor(visit, typed.provider ?? '')
  }

  /** Somebody new accepts the terms after the provider said who it is, and proves it there once more. */
  function acceptTermsForProvider(visit: Visit): Promise<Response> | Response {
    noteTerms(visit, { terms: 'yes' })
    const provider = visit.ticket?.provider
    return provider === undefined ? startAgain(visit, '/sign-up') : leaveFor(visit, provider)
  }

  async function finishProvider(
    visit: Visit,
    { code, error }: { code?: string; error?: string },
  ): Promise<Response> {
    if (code === undefined) {
      const wrong = error === 'access_denied' ? 'provider_denied' : 'provider_failed'
      return leadTo(visit, '/sign-in', { problem: { code: wrong, provider: visit.ticket?.provider } })
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
  }

  return { beginProvider, acceptTermsForProvider, finishProvider }
}
