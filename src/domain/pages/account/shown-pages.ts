/** The screen for each path of an account, drawn from what was read for it. */
import { withContact } from '../frame/elements.ts'
import type { Screen, Visit } from '../visits/service.ts'
import type { OwnDrawing } from './elements.ts'
import * as screens from './screens.ts'
import type { AccountPages, OwnVisit } from './service.ts'

type Draw = (visit: OwnVisit, drawing: OwnDrawing) => Promise<Screen> | Screen

export function createShownPages(
  read: AccountPages['read'],
  offered: screens.AccountOffered,
): Record<string, Draw> {
  const proof =
    (texts: (pages: Visit['texts']['pages']) => Parameters<typeof screens.proofScreen>[3]): Draw =>
    async (visit, draw) =>
      screens.proofScreen(visit, draw, await read.security(visit), texts(visit.texts.pages))

  const confirmContact = (visit: OwnVisit, draw: OwnDrawing, kind: 'email' | 'phone') => {
    const { pages } = visit.texts
    const lead = withContact(pages.code_sent_confirm, visit.flow.typed?.contact ?? '')
    return screens.confirmCodeScreen(visit, draw, {
      title: pages[kind],
      lead,
      action: `/account/${kind}/confirm`,
    })
  }

  return {
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
}
