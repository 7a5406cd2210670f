/** `/account` and the pages below it, for somebody whose browser is signed in. */
import { Elysia } from 'elysia'
import { askedFields } from '../../domain/accounts/core/profile.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { pageRoute } from '../../platform/http/route-traits.ts'
import { AppError } from '../../texts/errors.ts'
import { languageOf } from '../visits/flow.ts'
import type { Typed, Visit, Visits } from '../visits/service.ts'
import * as screens from './screens.ts'
import type { AccountPages, Done, OwnVisit } from './service.ts'
import { createShownPages } from './shown-pages.ts'

interface Needs {
  visits: Visits
  account: AccountPages
  offered: screens.AccountOffered
  /** Tells whether the page or the form of a path is left out. */
  lacks?: (path: string) => boolean
}

type Form = [path: string, back: string, work: (visit: OwnVisit, typed: Typed) => Promise<Done>]

export function createAccountRoutes(
  httpBase: HttpBase,
  { visits, account, offered, lacks = () => false }: Needs,
) {
  const isMounted = ([path]: readonly [string, ...unknown[]]) => !lacks(path)
  const shown = createShownPages(account.read, offered)

  /** A page of ours that a form names, to come back to. */
  const pageOf = ({ page: named = '' }: Typed) => (Object.hasOwn(shown, named) ? named : '/account')

  const formsOfContact = (kind: 'email' | 'phone'): Form[] => {
    const path = `/account/${kind}`
    return [
      [path, path, (visit, typed) => account.changeContact(visit, typed, kind)],
      [`${path}/confirm`, `${path}/confirm`, (visit, typed) => account.confirmContact(visit, typed, kind)],
      [`${path}/again`, `${path}/confirm`, async (visit) => visits.go(visit, path)],
      [`${path}/remove`, path, (visit, typed) => account.removeContact(visit, typed, kind)],
    ]
  }

  const forms: Form[] = [
    ['/account/code', '/account', (visit, typed) => account.sendCode(visit, pageOf(typed))],
    [
      '/account/field',
      '/account',
      async (visit, { field = '' }) => {
        const [kind, page = ''] = field.split(' ', 2)
        return visits.go(visit, pageOf({ page }), { ...visit.flow, letters: kind === 'letters' })
      },
    ],
    [
      '/account/sign-in-again',
      '/account',
      async (visit, typed) =>
        visits.go(visit, '/sign-in', {
          to: pageOf(typed),
          signInAfter: visits.now(),
          typed: { identifier: visit.session.account.email ?? visit.session.account.phone ?? '' },
        }),
    ],
    ['/account/profile', '/account/profile', account.changeProfile],
    ['/account/language', '/account/language', account.changeLanguage],
    ['/account/terms', '/account', account.acceptTerms],
    ['/account/password', '/account/password', account.changePassword],
    ...formsOfContact('email'),
    ...formsOfContact('phone'),
    ['/account/two-factor/on', '/account/two-factor/on', account.enableTwoFactor],
    ['/account/two-factor/confirm', '/account/two-factor/confirm', account.confirmTwoFactor],
    [
      '/account/two-factor/again',
      '/account/two-factor/confirm',
      async (visit) => visits.go(visit, '/account/two-factor/on'),
    ],
    ['/account/two-factor/app', '/account/two-factor/app', account.beginApp],
    ['/account/two-factor/app/confirm', '/account/two-factor/app/confirm', account.confirmApp],
    ['/account/two-factor/off', '/account/two-factor/off', account.disableTwoFactor],
    ['/account/two-factor/codes', '/account/two-factor/codes', account.newRecoveryCodes],
    [
      '/account/passkeys/choose',
      '/account/passkeys',
      async (visit) => visits.go(visit, '/account/passkeys/edit'),
    ],
    ['/account/passkeys/add', '/account/passkeys/add', account.addPasskey],
    ['/account/passkeys/rename', '/account/passkeys/edit', account.renamePasskey],
    ['/account/passkeys/remove', '/account/passkeys/edit', account.removePasskey],
    ['/account/providers/link', '/account/providers', account.beginLink],
    ['/account/providers/confirm', '/account/providers/confirm', account.linkIdentity],
    [
      '/account/providers/choose',
      '/account/providers',
      async (visit) => visits.go(visit, '/account/providers/remove'),
    ],
    ['/account/providers/remove', '/account/providers/remove', account.unlinkIdentity],
    ['/account/sessions/end', '/account/sessions', account.endSession],
    ['/account/sessions/forget', '/account/sessions', account.forgetDevice],
    ['/account/sessions/end-all', '/account/sessions', account.endAllSessions],
    ['/account/export', '/account/export', account.exportAccount],
    ['/account/delete', '/account/delete', account.eraseAccount],
  ]

  /** These forms lead to another page, or send a code again. */
  const turns = new Set([
    '/account/code',
    '/account/email/again',
    '/account/phone/again',
    '/account/two-factor/again',
    '/account/field',
    '/account/sign-in-again',
    '/account/passkeys/choose',
    '/account/providers/choose',
  ])

  /** Scripts ask here for the options of a passkey. */
  const options: [path: string, back: string, ask: (visit: OwnVisit, typed: Typed) => Promise<object>][] = [
    ['/account/step-up', '/account', account.stepUpOptions],
    ['/account/passkeys/options', '/account/passkeys/add', account.newPasskeyOptions],
  ]

  /** A page of before the sign-in is shown anew: what was typed and done there belongs to somebody else, or may. */
  function forgetEarlier(visit: OwnVisit): void {
    visit.flow = { ...languageOf(visit.flow), problem: { code: 'earlier_sign_in' } }
    visit.ticket = null
  }

  const isOwn = (visit: Visit): visit is OwnVisit => visit.session !== null
  const signIn = visits.goToSignIn

  const routes = new Elysia({ name: 'account-pages' }).use(httpBase)
  for (const [path, draw] of Object.entries(shown).filter(isMounted)) {
    routes.get(
      path,
      visits.show((visit) => {
        if (!isOwn(visit)) return signIn(visit, path)
        if (visit.isOfEarlierSignIn) forgetEarlier(visit)
        return draw(visit)
      }),
      pageRoute,
    )
  }
  for (const [path, back, work] of forms.filter(isMounted)) {
    const keeps = ['contact', 'passkey', 'provider', ...askedFields]
    routes.post(
      path,
      visits.take({ back, keeps, finishes: !turns.has(path) }, async (visit, typed) => {
        if (!isOwn(visit)) return signIn(visit, back)
        if (visit.isOfEarlierSignIn) return account.refuseEarlier(visit)
        try {
          const done = await work(visit, typed)
          return done instanceof Response
            ? done
            : screens.recoveryCodesScreen(visit, done.recoveryCodes, offered)
        } catch (error) {
          // The session is over, or this form came twice at once: a browser that has the new cookie is led straight back.
          if (error instanceof AppError && error.errorCode === 'invalid_token') return signIn(visit, back)
          throw error
        }
      }),
      pageRoute,
    )
  }
  for (const [path, back, ask] of options.filter(isMounted)) {
    routes.post(
      path,
      visits.take({ back }, async (visit, typed) => {
        if (!isOwn(visit)) return signIn(visit, back)
        if (visit.isOfEarlierSignIn) return account.refuseEarlier(visit)
        return Response.json(await ask(visit, typed))
      }),
      pageRoute,
    )
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
