/** The pages by which people come in: sign-in, registration, confirmation, codes, recovery; and the way out. */
import { Elysia } from 'elysia'
import type { MessageSender } from '../../domain/messages/senders/sender.ts'
import type { Clock } from '../../platform/clock.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { pageRoute } from '../../platform/http/route-traits.ts'
import type { Flow } from '../visits/flow.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Typed, Visit } from '../visits/visit.ts'
import { codeScreen } from './screens/code.ts'
import type { Drawing, Offered } from './screens/parts.ts'
import { choosePasswordScreen, recoverScreen } from './screens/recover.ts'
import { leaveScreen, signedOutScreen, signInScreen } from './screens/sign-in.ts'
import { confirmScreen, signUpScreen, termsScreen } from './screens/sign-up.ts'
import type { WaysIn } from './service.ts'

interface Needs {
  visits: Visits
  waysIn: WaysIn
  offered: Offered
  clock: Clock
  sender: Pick<MessageSender, 'isLate'>
  /** People who are signed in already go there. */
  home: string
  /** The page that leads on to an application. */
  handOverScreen(visit: Visit, handOver: NonNullable<Flow['handOver']>): Screen
}

const drawn = {
  '/sign-in': signInScreen,
  '/sign-up': signUpScreen,
  '/confirm': confirmScreen,
  '/code': codeScreen,
  '/recover': recoverScreen,
  '/choose-password': choosePasswordScreen,
}

/** Path, the page to which a mistake leads back, what is done. */
type Form = [path: string, back: string, work: (visit: Visit, typed: Typed) => Promise<Response> | Response]

export function createWaysInRoutes(
  httpBase: HttpBase,
  { visits, waysIn, offered, clock, sender, home, handOverScreen }: Needs,
) {
  const drawing = (visit: Visit): Drawing => ({
    offered,
    now: clock.now(),
    isLate: (channel) => sender.isLate?.(channel) ?? false,
    to: (path, flow) => visit.to(path, flow),
  })

  /** These forms act on the account that is signed in. */
  const ownForms: Form[] = [
    ['/sign-up/join', '/sign-up', waysIn.join],
    ['/sign-in/terms', '/sign-in/terms', waysIn.acceptTerms],
  ]
  /** People come in by these forms. They do nothing with the account that is signed in. */
  const forms: Form[] = [
    ['/sign-in', '/sign-in', waysIn.signIn],
    ['/sign-in/code', '/sign-in', waysIn.requestCode],
    ['/sign-in/passkey', '/sign-in', waysIn.usePasskey],
    ['/sign-in/provider', '/sign-in', waysIn.beginProvider],
    ['/sign-up', '/sign-up', waysIn.register],
    ['/sign-up/provider', '/sign-up', waysIn.beginProvider],
    ['/sign-up/terms', '/sign-up/terms', waysIn.acceptTermsForProvider],
    ['/confirm', '/confirm', waysIn.confirm],
    ['/code', '/code', waysIn.enterCode],
    ['/recover', '/recover', waysIn.recover],
    ['/choose-password', '/choose-password', waysIn.choosePassword],
  ]
  const leading = (path: string, back: string, to: string, more?: Partial<Flow>): Form => [
    path,
    back,
    (visit) => waysIn.leadTo(visit, to, more),
  ]
  const changingField = (page: string): Form => [
    `${page}/field`,
    page,
    (visit, typed) => waysIn.changeCodeField(visit, typed, page),
  ]
  /** These change the way, or send a code again: none of them is the purpose of its page. */
  const detours: Form[] = [
    leading('/sign-in/forgot', '/sign-in', '/recover'),
    leading('/sign-in/confirm', '/sign-in', '/confirm'),
    leading('/sign-in/register', '/sign-in', '/sign-up'),
    leading('/sign-up/sign-in', '/sign-up', '/sign-in'),
    leading('/confirm/change', '/confirm', '/sign-up'),
    leading('/code/sign-in', '/code', '/sign-in'),
    leading('/recover/code', '/recover', '/choose-password', { letters: true }),
    leading('/recover/sign-in', '/recover', '/sign-in'),
    leading('/choose-password/change', '/choose-password', '/recover'),
    leading('/choose-password/sign-in', '/choose-password', '/sign-in'),
    ['/confirm/again', '/confirm', waysIn.confirmAgain],
    ['/code/again', '/code', waysIn.sendCodeAgain],
    ['/choose-password/again', '/choose-password', waysIn.recoverAgain],
    changingField('/code'),
    changingField('/choose-password'),
  ]

  const routes = new Elysia({ name: 'ways-in' }).use(httpBase)
  for (const [path, screen] of Object.entries(drawn)) {
    routes.get(
      path,
      ({ request, client, query }) =>
        visits.show(async (visit) =>
          path === '/sign-up' && typeof query.invitation === 'string'
            ? waysIn.holdInvitation(visit, query.invitation)
            : path === '/sign-in' && visit.session && !visit.flow.problem && !visit.flow.signInAfter
              ? waysIn.comeBack(visit)
              : path === '/code' && visit.flow.methods && visit.ticket === null
                ? waysIn.startAgain(visit, '/sign-in')
                : screen(visit, {
                    ...drawing(visit),
                    ...(path === '/sign-up' && { given: await waysIn.givenTo(visit) }),
                  }),
        )({ request, client }),
      pageRoute,
    )
  }
  const take = (all: Form[], options: { finishes: boolean; forAnybody: boolean }) => {
    for (const [path, back, work] of all)
      routes.post(
        path,
        visits.take({ back, keeps: ['identifier', 'stay', 'trust'], ...options }, work),
        pageRoute,
      )
  }
  take(ownForms, { finishes: true, forAnybody: false })
  take(forms, { finishes: true, forAnybody: true })
  take(detours, { finishes: false, forAnybody: true })
  return routes
    .post(
      '/sign-in/passkey/options',
      visits.take({ back: '/sign-in', forAnybody: true }, async (visit) =>
        Response.json(await waysIn.passkeyOptions(visit)),
      ),
      pageRoute,
    )
    .get(
      '/sign-in/provider',
      ({ request, client, query }) =>
        visits.show((visit) => waysIn.finishProvider(visit, query), '/sign-in')({ request, client }),
      pageRoute,
    )
    .get(
      '/sign-in/terms',
      visits.show((visit) =>
        waysIn.isAskedForTerms(visit)
          ? termsScreen(visit, drawing(visit), { isNew: false })
          : waysIn.goOn(visit),
      ),
      pageRoute,
    )
    .get(
      '/sign-up/terms',
      visits.show((visit) => termsScreen(visit, drawing(visit), { isNew: true })),
      pageRoute,
    )
    .get(
      '/leave',
      visits.show((visit) => {
        const { handOver } = visit.flow
        if (handOver) return handOverScreen(visit, handOver)
        if (visit.flow.ticket && visit.ticket === null) return waysIn.startAgain(visit, '/sign-in')
        const to = visit.ticket?.to ?? visit.flow.to
        return to === undefined || to.startsWith('/')
          ? visits.leave(visit, to ?? home)
          : leaveScreen(visit, to)
      }),
      pageRoute,
    )
    .get(
      '/signed-out',
      visits.show((visit) => signedOutScreen(visit, drawing(visit))),
      pageRoute,
    )
    .post(
      '/sign-out',
      visits.take({ back: '/account', forAnybody: true }, async (visit) => {
        if (visit.isOfEarlierSignIn) return waysIn.refuseEarlier(visit, '/account')
        await visits.signOut(visit)
        const { to } = visit.flow
        return to === undefined ? visits.go(visit, '/signed-out', {}) : visits.leave(visit, to)
      }),
      pageRoute,
    )
}
