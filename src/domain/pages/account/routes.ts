/** `/account` and the pages below it, for somebody whose browser is signed in. */
import { Elysia } from 'elysia'
import type { Clock } from '../../../platform/clock.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { requireMayCall } from '../../sessions/sessions/test-accounts.ts'
import type { Screen, Typed, Visit, Visits } from '../visits/service.ts'
import type { OwnDrawing } from './elements.ts'
import * as screens from './screens.ts'
import type { AccountPages, Done, OwnVisit } from './service.ts'

const hidden = { detail: { hide: true } }

interface Needs {
  visits: Visits
  account: AccountPages
  offered: screens.AccountOffered
  clock: Clock
}

type Draw = (visit: OwnVisit, drawing: OwnDrawing) => Promise<Screen> | Screen
type Work = (visit: OwnVisit, typed: Typed) => Promise<Done>

export function createAccountRoutes(httpBase: HttpBase, { visits, account, offered, clock }: Needs) {
  const { read } = account
  const drawing = (visit: Visit): OwnDrawing => ({
    now: clock.now(),
    to: (path) => visits.address(visit, path),
  })

  const proof =
    (texts: (pages: Visit['texts']['pages']) => Parameters<typeof screens.proofScreen>[3]): Draw =>
    async (visit, draw) =>
      screens.proofScreen(visit, draw, await read.security(visit), texts(visit.texts.pages))

  const shown: Record<string, Draw> = {
    '/account': async (visit, draw) => {
      const own = read.account(visit)
      const security = await read.security(visit)
      return screens.overviewScreen(visit, draw, offered, {
        security,
        account: own.account,
        profile: own.profile,
      })
    },
    '/account/profile': (visit, draw) => screens.profileScreen(visit, draw, read.account(visit).profile),
    '/account/language': (visit, draw) => screens.languageScreen(visit, draw, offered),
    '/account/password': async (visit, draw) =>
      screens.passwordScreen(visit, draw, await read.security(visit), offered),
    '/account/email': async (visit, draw) =>
      screens.contactScreen(visit, draw, await read.security(visit), 'email'),
    '/account/phone': async (visit, draw) =>
      screens.contactScreen(visit, draw, await read.security(visit), 'phone'),
    '/account/email/confirm': (visit, draw) => confirmContact(visit, draw, 'email'),
    '/account/phone/confirm': (visit, draw) => confirmContact(visit, draw, 'phone'),
    '/account/two-factor': async (visit, draw) =>
      screens.twoFactorScreen(visit, draw, await read.security(visit)),
    '/account/two-factor/on': proof((pages) => ({
      title: pages.sent_codes,
      lead: pages.sent_codes_lead,
      action: '/account/two-factor/on',
      button: pages.send_code,
    })),
    '/account/two-factor/confirm': (visit, draw) => {
      const { pages } = visit.texts
      const action = '/account/two-factor/confirm'
      return screens.confirmCodeScreen(visit, draw, {
        title: pages.two_factor,
        lead: pages.confirm_lead,
        action,
      })
    },
    '/account/two-factor/app': proof((pages) => ({
      title: pages.method_totp,
      lead: pages.app_lead,
      action: '/account/two-factor/app',
      button: pages.continue,
    })),
    '/account/two-factor/app/confirm': screens.appScreen,
    '/account/two-factor/off': proof((pages) => ({
      title: pages.turn_off_two_factor,
      lead: pages.turn_off_lead,
      action: '/account/two-factor/off',
      button: pages.turn_off,
      danger: true,
    })),
    '/account/two-factor/codes': proof((pages) => ({
      title: pages.recovery_codes,
      lead: pages.new_codes_lead,
      action: '/account/two-factor/codes',
      button: pages.new_codes,
    })),
    '/account/providers/confirm': proof((pages) => ({
      title: pages.providers,
      lead: pages.link_lead,
      action: '/account/providers/confirm',
      button: pages.link,
    })),
    '/account/sessions': async (visit, draw) =>
      screens.sessionsScreen(visit, draw, await read.sessions(visit)),
    '/account/history': async (visit, draw) => {
      const { items, next_cursor } = await read.events(visit, visit.query.get('cursor') ?? undefined)
      return screens.historyScreen(visit, draw, items, next_cursor)
    },
    '/account/export': (visit, draw) => {
      const { pages } = visit.texts
      const lead = {
        title: pages.export,
        lead: pages.export_lead,
        action: '/account/export',
        button: pages.download,
      }
      return screens.plainScreen(visit, draw, lead)
    },
    '/account/delete': proof((pages) => ({
      title: pages.delete_account,
      lead: pages.delete_lead,
      action: '/account/delete',
      button: pages.delete_account,
      danger: true,
    })),
    ...(offered.passkeys && {
      '/account/passkeys': async (visit: OwnVisit, draw: OwnDrawing) =>
        screens.passkeysScreen(visit, draw, (await read.passkeys(visit)).passkeys),
      '/account/passkeys/add': async (visit: OwnVisit, draw: OwnDrawing) =>
        screens.addPasskeyScreen(visit, draw, await read.security(visit)),
      '/account/passkeys/edit': async (visit: OwnVisit, draw: OwnDrawing) =>
        screens.editPasskeyScreen(visit, draw, await read.security(visit)),
    }),
    ...(offered.providers.length > 0 && {
      '/account/providers': async (visit: OwnVisit, draw: OwnDrawing) =>
        screens.providersScreen(visit, draw, offered, await read.identities(visit)),
      '/account/providers/remove': async (visit: OwnVisit, draw: OwnDrawing) =>
        screens.unlinkScreen(visit, draw, await read.security(visit)),
    }),
  }

  const confirmContact = (visit: OwnVisit, draw: OwnDrawing, kind: 'email' | 'phone') => {
    const { pages } = visit.texts
    const lead = pages.code_sent_confirm.replace('{contact}', visit.flow.typed?.contact ?? '')
    return screens.confirmCodeScreen(visit, draw, {
      title: pages[kind],
      lead,
      action: `/account/${kind}/confirm`,
    })
  }

  /** A page of ours that a form names, to come back to. */
  const pageOf = ({ page: named = '' }: Typed) => (Object.hasOwn(shown, named) ? named : '/account')

  const forms: [path: string, back: string, work: Work][] = [
    ['/account/code', '/account', (visit, typed) => account.sendCode(visit, pageOf(typed))],
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
    ['/account/password', '/account/password', account.changePassword],
    ['/account/email', '/account/email', (visit, typed) => account.changeContact(visit, typed, 'email')],
    ['/account/phone', '/account/phone', (visit, typed) => account.changeContact(visit, typed, 'phone')],
    [
      '/account/email/confirm',
      '/account/email/confirm',
      (visit, typed) => account.confirmContact(visit, typed, 'email'),
    ],
    [
      '/account/phone/confirm',
      '/account/phone/confirm',
      (visit, typed) => account.confirmContact(visit, typed, 'phone'),
    ],
    [
      '/account/email/remove',
      '/account/email',
      (visit, typed) => account.removeContact(visit, typed, 'email'),
    ],
    [
      '/account/phone/remove',
      '/account/phone',
      (visit, typed) => account.removeContact(visit, typed, 'phone'),
    ],
    ['/account/two-factor/on', '/account/two-factor/on', account.enableTwoFactor],
    ['/account/two-factor/confirm', '/account/two-factor/confirm', account.confirmTwoFactor],
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
    '/account/sign-in-again',
    '/account/passkeys/choose',
    '/account/providers/choose',
  ])

  /** Scripts ask here for the options of a passkey. */
  const options: [path: string, back: string, ask: (visit: OwnVisit, typed: Typed) => Promise<object>][] = [
    ['/account/step-up', '/account', account.stepUpOptions],
    ['/account/passkeys/options', '/account/passkeys/add', account.newPasskeyOptions],
  ]

  const isOwn = (visit: Visit): visit is OwnVisit => visit.session !== null
  const signIn = (visit: Visit, path: string) =>
    visits.go(visit, '/sign-in', {
      to: path,
      ...(visit.flow.language !== undefined && { language: visit.flow.language }),
    })

  const routes = new Elysia({ name: 'account-pages' }).use(httpBase)
  for (const [path, draw] of Object.entries(shown)) {
    routes.get(
      path,
      ({ request, client }) =>
        visits.show(request, client, (visit) =>
          isOwn(visit) ? draw(visit, drawing(visit)) : signIn(visit, path),
        ),
      hidden,
    )
  }
  for (const [path, back, work] of forms) {
    routes.post(
      path,
      ({ request, client, body }) =>
        visits.take(
          request,
          client,
          body,
          { back, keeps: ['contact', 'passkey', 'name', 'provider'], finishes: !turns.has(path) },
          async (visit, typed) => {
            if (!isOwn(visit)) return signIn(visit, back)
            requireMayCall(visit.session, `POST ${path}`)
            const done = await work(visit, typed)
            return done instanceof Response
              ? done
              : screens.recoveryCodesScreen(visit, drawing(visit), done.recoveryCodes)
          },
        ),
      hidden,
    )
  }
  for (const [path, back, ask] of options) {
    routes.post(
      path,
      ({ request, client, body }) =>
        visits.take(request, client, body, { back }, async (visit, typed) => {
          if (!isOwn(visit)) return signIn(visit, back)
          requireMayCall(visit.session, `POST ${path}`)
          return Response.json(await ask(visit, typed))
        }),
      hidden,
    )
  }
  if (offered.providers.length > 0) {
    routes.get(
      '/account/providers/linked',
      ({ request, client, query }) =>
        visits.show(request, client, (visit) =>
          isOwn(visit) ? account.returnFromProvider(visit, query) : signIn(visit, '/account/providers'),
        ),
      hidden,
    )
  }
  return routes
}
