/** The screen for each path of an account, drawn from what was read for it. */
import { otherWay, withContact } from '../frame/elements.ts'
import { html } from '../frame/html.ts'
import type { Screen, Visit } from '../visits/service.ts'
import { linkScreen, providersScreen, unlinkScreen } from './provider-screens.ts'
import * as screens from './screens.ts'
import type { AccountPages, OwnVisit } from './service.ts'

type Draw = (visit: OwnVisit) => Promise<Screen> | Screen

export function createShownPages(
  read: AccountPages['read'],
  offered: screens.AccountOffered,
): Record<string, Draw> {
  const proof =
    (texts: (pages: Visit['texts']['pages']) => Parameters<typeof screens.proofScreen>[2]): Draw =>
    async (visit) =>
      screens.proofScreen(visit, await read.security(visit), texts(visit.texts.pages))

  /** Back to the form that sent the code, with what was typed. */
  const again = (visit: OwnVisit, action: string, label: string) =>
    html`<p class="next">${visit.texts.pages.no_code} ${otherWay(label, visit.to(action))}</p>`

  const confirmContact = (visit: OwnVisit, kind: 'email' | 'phone') => {
    const { pages } = visit.texts
    const lead = withContact(pages.code_sent_confirm, visit.flow.typed?.contact ?? '')
    return screens.confirmCodeScreen(visit, {
      title: pages[kind],
      lead,
      action: `/account/${kind}/confirm`,
      after: again(visit, `/account/${kind}/again`, pages.correct),
    })
  }

  return {
    '/account': async (visit) => {
      const own = read.account(visit)
      const security = await read.security(visit)
      const { counts } = security
      const [passkeys, identities] = await Promise.all([
        counts.passkeys > 0 && offered.passkeys ? read.passkeys(visit) : { passkeys: [] },
        counts.identities > 0 ? read.identities(visit) : [],
      ])
      return screens.overviewScreen(visit, offered, {
        security,
        account: own.account,
        profile: own.profile,
        passkeys: passkeys.passkeys.map(({ name }) => name),
        identities: identities.map(({ provider }) => provider),
      })
    },
    '/account/profile': (visit) => screens.profileScreen(visit, read.account(visit).profile),
    '/account/language': (visit) => screens.languageScreen(visit, offered),
    '/account/password': async (visit) => screens.passwordScreen(visit, await read.security(visit), offered),
    '/account/email': async (visit) => screens.contactScreen(visit, await read.security(visit), 'email'),
    '/account/phone': async (visit) => screens.contactScreen(visit, await read.security(visit), 'phone'),
    '/account/email/confirm': (visit) => confirmContact(visit, 'email'),
    '/account/phone/confirm': (visit) => confirmContact(visit, 'phone'),
    '/account/two-factor': async (visit) => screens.twoFactorScreen(visit, await read.security(visit)),
    '/account/two-factor/on': proof((pages) => ({
      title: pages.sent_codes,
      lead: pages.sent_codes_lead,
      action: '/account/two-factor/on',
      button: pages.send_code,
    })),
    '/account/two-factor/confirm': (visit) => {
      const { pages } = visit.texts
      if (visit.session.account.twoFactorEnabled) return screens.alreadyOnScreen(visit, pages.two_factor)
      const action = '/account/two-factor/confirm'
      return screens.confirmCodeScreen(visit, {
        title: pages.two_factor,
        lead: pages.confirm_lead,
        action,
        after: again(visit, '/account/two-factor/again', pages.start_over),
      })
    },
    '/account/two-factor/app': proof((pages) => ({
      title: pages.method_totp,
      lead: pages.app_lead,
      action: '/account/two-factor/app',
      button: pages.continue,
    })),
    '/account/two-factor/app/confirm': async (visit) => screens.appScreen(visit, await read.security(visit)),
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
    '/account/providers/confirm': async (visit) => linkScreen(visit, await read.security(visit)),
    '/account/sessions': async (visit) =>
      screens.sessionsScreen(visit, await read.sessions(visit), await read.security(visit), offered),
    '/account/history': async (visit) => {
      const { items, next_cursor } = await read.events(visit, visit.query.get('cursor') ?? undefined)
      return screens.historyScreen(visit, items, next_cursor)
    },
    '/account/export': async (visit) => screens.exportScreen(visit, await read.security(visit)),
    '/account/delete': async (visit) => screens.deleteScreen(visit, await read.security(visit)),
    ...(offered.passkeys && {
      '/account/passkeys': async (visit: OwnVisit) =>
        screens.passkeysScreen(visit, (await read.passkeys(visit)).passkeys),
      '/account/passkeys/add': async (visit: OwnVisit) =>
        screens.addPasskeyScreen(visit, await read.security(visit)),
      '/account/passkeys/edit': async (visit: OwnVisit) =>
        screens.editPasskeyScreen(visit, await read.security(visit)),
    }),
    ...(offered.providers.length > 0 && {
      '/account/providers': async (visit: OwnVisit) =>
        providersScreen(visit, offered, await read.identities(visit)),
      '/account/providers/remove': async (visit: OwnVisit) =>
        unlinkScreen(visit, await read.security(visit), await read.identities(visit)),
    }),
  }
}
