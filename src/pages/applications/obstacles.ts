/** Says whether a person may be handed over to an application now, and if not, why, and what to do about it. */
import { hasVerified } from '../../domain/accounts/core/account.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import { isForOpenId } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError } from '../../texts/errors.ts'
import { languageOf } from '../visits/flow.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Visit } from '../visits/visit.ts'
import type { AuthorizationRequest, HandOver } from './request.ts'
import { notOpenScreen, twoFactorWantedScreen } from './screens.ts'
import type { ApplicationService } from './service.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  applications: ApplicationService
}

/** A visit of somebody who is signed in. */
type SignedIn = Visit & { session: BrowserSession }

/** Why nobody is handed over yet, in the words of `prompt=none`, and the page that says so. */
export interface Obstacle {
  error: 'access_denied' | 'interaction_required'
  description: string
  answer(): Response | Screen
}

export function createObstacles({ visits, applications, config }: Needs) {
  const support = config.texts.support || config.pages.help

  /** Tells whether the person who is signed in may be handed over without another page of sign-in. */
  async function isSignedIn(
    visit: Visit,
    { loginHint, maxAgeSeconds, idTokenHint, handOver }: Partial<AuthorizationRequest>,
  ): Promise<boolean> {
    const { session, flow } = visit
    if (session === null) return false
    const at = session.authenticatedAt.getTime()
    if (flow.signInAfter !== undefined && at < flow.signInAfter) return false
    if (maxAgeSeconds !== undefined && at < visits.now() - maxAgeSeconds * 1000) return false
    const hint = idTokenHint === undefined ? null : await applications.readHint(idTokenHint)
    // One for another application counts as none.
    if (hint && hint.aud === handOver?.application && hint.sub !== session.account.uuid) return false
    if (loginHint === undefined) return true
    const hinted = parseIdentifier(loginHint, config.accounts.defaultCountry)
    // Any other text, such as a name, only fills the field.
    return hinted === null || hasVerified(session.account, hinted)
  }

  /** Another sign-in on the same way. */
  const signInAgain = (visit: Visit, handOver: HandOver) => ({
    ...languageOf(visit.flow),
    handOver,
    signInAfter: visits.now(),
  })

  const toAnother = (visit: Visit, handOver: HandOver) => visit.to('/sign-in', signInAgain(visit, handOver))

  function mayNotEnter(visit: Visit, handOver: HandOver, application: ApplicationConfig): Obstacle {
    const error = 'access_denied'
    const description = 'this account may not enter'
    const back = applications.refusalAddress(application, handOver, error, description)
    return {
      error,
      description,
      answer: () => ({
        ...notOpenScreen(visit, application.name, { another: toAnother(visit, handOver), back, support }),
        refusal: new AppError('insufficient_scope', { cause: 'may_not_enter' }),
      }),
    }
  }

  function needsTwoFactor(visit: SignedIn, handOver: HandOver, { name }: ApplicationConfig): Obstacle {
    return {
      error: 'interaction_required',
      description: 'a person has to prove a second factor',
      answer: () =>
        visit.session.account.twoFactorEnabled
          ? visits.go(visit, '/sign-in', { ...signInAgain(visit, handOver), distrusts: true })
          : twoFactorWantedScreen(visit, name, {
              setUp: visit.to('/account/two-factor', { ...languageOf(visit.flow), handOver }),
              another: toAnother(visit, handOver),
              onwards: visit.to('/oauth2/continue', { handOver }),
              passkeys: config.passkeys.rpId !== null,
            }),
    }
  }

  /** It returns null if whoever is signed in may be handed over to this application. */
  function findObstacle(visit: Visit, handOver: HandOver, application: ApplicationConfig): Obstacle | null {
    const signedIn = visit as SignedIn
    const { account, claims } = signedIn.session
    // An entry without `own` is refused when the code is made.
    if (isForOpenId(application) && !applications.admits(application, account))
      return mayNotEnter(visit, handOver, application)
    if (!application.twoFactor || claims.amr.includes('mfa')) return null
    return needsTwoFactor(signedIn, handOver, application)
  }

  return { isSignedIn, findObstacle, toAnother }
}
