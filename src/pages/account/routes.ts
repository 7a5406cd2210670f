/** `/account` and the pages below it, for somebody whose browser is signed in. */
import { Elysia } from 'elysia'
import { askedFields } from '../../domain/accounts/core/profile.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { pageRoute } from '../../platform/http/route-traits.ts'
import { AppError } from '../../texts/errors.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Typed, Visit } from '../visits/visit.ts'
import type { AccountOffered } from './elements.ts'
import { recoveryCodesScreen } from './screens/two-factor.ts'
import type { AccountPages, OwnVisit } from './service.ts'
import { type AccountPage, accountPages } from './table.ts'

interface Needs {
  visits: Visits
  account: AccountPages
  offered: AccountOffered
  /** Tells whether the page or the form of a path is left out. */
  lacks?: (path: string) => boolean
}

/** The fields that come back after a mistake. */
const keeps = ['contact', 'passkey', 'provider', ...askedFields]

const isOwn = (visit: Visit): visit is OwnVisit => visit.session !== null

export function createAccountRoutes(httpBase: HttpBase, needs: Needs) {
  const { visits, account, offered, lacks = () => false } = needs
  const signIn = visits.goToSignIn

  const showing = ({ path, show }: AccountPage) =>
    visits.show((visit) => {
      if (!isOwn(visit)) return signIn(visit, path)
      if (visit.isOfEarlierSignIn) return account.refuseEarlier(visit)
      return show!(visit)
    })

  async function take({ path, back = path, work, options }: AccountPage, visit: Visit, typed: Typed) {
    if (!isOwn(visit)) return signIn(visit, back)
    if (visit.isOfEarlierSignIn) return account.refuseEarlier(visit)
    if (options) return Response.json(await options(visit, typed))
    try {
      const done = await work!(visit, typed)
      return done instanceof Response ? done : recoveryCodesScreen(visit, done.recoveryCodes, offered)
    } catch (error) {
      // The session is over, or this form came twice at once: a browser that has the new cookie is led straight back.
      if (error instanceof AppError && error.errorCode === 'invalid_token') return signIn(visit, back)
      throw error
    }
  }

  const taking = (page: AccountPage) => {
    const { path, back = path, work, turns = false } = page
    const form = work ? { back, keeps, finishes: !turns } : { back }
    return visits.take(form, (visit, typed): Promise<Response | Screen> => take(page, visit, typed))
  }

  const routes = new Elysia({ name: 'account-pages' }).use(httpBase)
  for (const page of accountPages(needs).filter(({ path }) => !lacks(path))) {
    if (page.show) routes.get(page.path, showing(page), pageRoute)
    if (page.work || page.options) routes.post(page.path, taking(page), pageRoute)
  }
  if (offered.providers.length > 0 && !lacks('/account/providers')) {
    routes.get(
      '/account/providers/linked',
      ({ request, client, query }) =>
        visits.show(
          (visit) =>
            isOwn(visit) ? account.returnFromProvider(visit, query) : signIn(visit, '/account/providers'),
          '/account/providers',
        )({ request, client }),
      pageRoute,
    )
  }
  return routes
}
