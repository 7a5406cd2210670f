/**
 * The pages of an account, one row for each path: what is shown there, what the form that is sent there does, and where a
 * mistake leads back.
 */
import type { Security } from '../../domain/self-service/me/me-schema.ts'
import { otherWay, withContact } from '../frame/elements.ts'
import { type Html, html } from '../frame/html.ts'
import { toSignIn } from '../visits/flow.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Typed } from '../visits/visit.ts'
import { type AccountOffered, onTheWay } from './elements.ts'
import { overviewScreen } from './screens/overview.ts'
import { addPasskeyScreen, editPasskeyScreen, passkeysScreen } from './screens/passkeys.ts'
import { contactScreen, languageScreen, profileScreen } from './screens/profile.ts'
import {
  confirmCodeScreen,
  deleteScreen,
  exportScreen,
  type Proof,
  passwordScreen,
  proofScreen,
} from './screens/proof.ts'
import { linkScreen, providersScreen, unlinkScreen } from './screens/providers.ts'
import { historyScreen, sessionsScreen } from './screens/sessions.ts'
import { alreadyOnScreen, appScreen, keepScreen, twoFactorScreen } from './screens/two-factor.ts'
import type { AccountPages, Done, OwnVisit } from './service.ts'

export interface AccountPage {
  path: string
  show?: (visit: OwnVisit) => Promise<Screen> | Screen | Response
  /** The form there proves who sits there, and nothing else. These are its words. */
  proof?: (pages: OwnVisit['texts']['pages'], security: Security) => Omit<Proof, 'action'>
  work?: (visit: OwnVisit, typed: Typed) => Promise<Done>
  /** A mistake leads back there. Default: the path itself. */
  back?: string
  /** The form leads to another page or sends a code again: it is not the purpose of a page. */
  turns?: true
  /** Scripts ask here for the options of a passkey. */
  options?: (visit: OwnVisit, typed: Typed) => Promise<object>
}

interface Needs {
  visits: Visits
  account: AccountPages
  offered: AccountOffered
}

export function accountPages(needs: Needs): AccountPage[] {
  const pages = [
    ...general(needs),
    ...contact(needs, 'email'),
    ...contact(needs, 'phone'),
    ...twoFactor(needs),
    ...passkeys(needs),
    ...providers(needs),
    ...sessions(needs),
    ...data(needs),
  ]
  return pages.map(({ proof, ...page }) => ({
    ...page,
    ...(proof && { show: proofPage(needs, page.path, proof) }),
  }))
}

const proofPage =
  ({ account }: Needs, action: string, proof: NonNullable<AccountPage['proof']>) =>
  async (visit: OwnVisit) => {
    const security = await account.read.security(visit)
    return proofScreen(visit, security, { ...proof(visit.texts.pages, security), action })
  }

/** A step that leads to another page. */
const turn = (path: string, back: string, work: NonNullable<AccountPage['work']>): AccountPage => ({
  ...{ path, back, work },
  turns: true,
})

function general({ visits, account, offered }: Needs): AccountPage[] {
  const { read } = account
  /** A page of ours that a form names, to come back to. */
  const pageOf = ({ page = '' }: Typed) => (/^\/account(\/[a-z-]+)*$/.test(page) ? page : '/account')
  return [
    { path: '/account', show: (visit) => overview(visit, account, offered) },
    turn('/account/code', '/account', (visit, typed) => account.sendCode(visit, pageOf(typed))),
    turn('/account/field', '/account', async (visit, { field = '' }) => {
      const [kind, page = ''] = field.split(' ', 2)
      return visits.go(visit, pageOf({ page }), { ...visit.flow, letters: kind === 'letters' })
    }),
    turn('/account/sign-in-again', '/account', async (visit, typed) =>
      visits.go(visit, '/sign-in', {
        ...toSignIn(visit.flow, pageOf(typed)),
        signInAfter: visits.now(),
        typed: { identifier: visit.session.account.email ?? visit.session.account.phone ?? '' },
      }),
    ),
    { path: '/account/step-up', back: '/account', options: account.stepUpOptions },
    { path: '/account/terms', back: '/account', work: account.acceptTerms },
    {
      path: '/account/profile',
      show: (visit) => profileScreen(visit, read.account(visit).profile),
      work: account.changeProfile,
    },
    {
      path: '/account/language',
      show: (visit) => languageScreen(visit, offered),
      work: account.changeLanguage,
    },
    {
      path: '/account/password',
      show: async (visit) => passwordScreen(visit, await read.security(visit), offered),
      work: account.changePassword,
    },
  ]
}

async function namesOfPasskeys(
  visit: OwnVisit,
  { counts }: Security,
  read: AccountPages['read'],
  offered: AccountOffered,
): Promise<string[]> {
  if (counts.passkeys === 0 || !offered.passkeys) return []
  return (await read.passkeys(visit)).passkeys.map(({ name }) => name)
}

async function overview(visit: OwnVisit, { read }: AccountPages, offered: AccountOffered): Promise<Screen> {
  const own = read.account(visit)
  const security = await read.security(visit)
  const [names, identities] = await Promise.all([
    namesOfPasskeys(visit, security, read, offered),
    security.counts.identities > 0 ? read.identities(visit) : [],
  ])
  return overviewScreen(visit, offered, {
    security,
    account: own.account,
    profile: own.profile,
    passkeys: names,
    identities: identities.map(({ provider }) => provider),
  })
}

/** For a code that did not come. `correct` leads to where the contact is changed. */
function again(visit: OwnVisit, { resendAfter }: AccountOffered, action: string, correct?: Html) {
  const { pages } = visit.texts
  const wait = html` data-wait="${resendAfter}"`
  return html`<p class="next">${pages.no_code} ${otherWay(pages.send_again, visit.to(action), 'link', wait)}${correct && html` · ${correct}`}</p>`
}

function contact({ visits, account, offered }: Needs, kind: 'email' | 'phone'): AccountPage[] {
  const { read } = account
  const path = `/account/${kind}`
  const confirm = `${path}/confirm`
  return [
    {
      path,
      async show(visit) {
        const [security, mayRemove] = await Promise.all([read.security(visit), read.mayRemove(visit, kind)])
        return contactScreen(visit, security, { kind, mayRemove })
      },
      work: (visit, typed) => account.changeContact(visit, typed, kind),
    },
    {
      path: confirm,
      show(visit) {
        const { pages } = visit.texts
        const sentTo = visit.flow.typed?.contact
        return confirmCodeScreen(visit, {
          title: pages[kind],
          lead: sentTo ? withContact(pages.code_sent_confirm, sentTo) : pages.confirm_lead,
          action: confirm,
          // With what was typed.
          after: again(visit, offered, `${path}/again`, otherWay(pages.correct, visit.to(`${path}/correct`))),
        })
      },
      work: (visit, typed) => account.confirmContact(visit, typed, kind),
    },
    turn(`${path}/again`, confirm, (visit) => account.sendContactAgain(visit, kind)),
    turn(`${path}/correct`, confirm, async (visit) => visits.go(visit, path)),
    { path: `${path}/remove`, back: path, work: (visit, typed) => account.removeContact(visit, typed, kind) },
  ]
}

function twoFactor({ account, offered }: Needs): AccountPage[] {
  const { read } = account
  const confirm = '/account/two-factor/confirm'
  async function factors(visit: OwnVisit, security: Security): Promise<Screen> {
    const on = security.account.twoFactorEnabled
    const names = on ? await namesOfPasskeys(visit, security, read, offered) : []
    return twoFactorScreen(visit, security, offered, names)
  }
  return [
    {
      path: '/account/two-factor',
      show: async (visit) => factors(visit, await read.security(visit)),
    },
    {
      path: '/account/two-factor/on',
      proof: (pages) => ({ title: pages.sent_codes, lead: pages.sent_codes_lead, button: pages.send_code }),
      work: account.enableTwoFactor,
    },
    {
      path: confirm,
      show(visit) {
        const { pages } = visit.texts
        if (visit.session.account.twoFactorEnabled)
          return alreadyOnScreen(visit, pages.two_factor, pages.two_factor_on)
        const { sentTo } = visit.flow
        const change = onTheWay(visit, sentTo?.includes('@') ? '/account/email' : '/account/phone')
        return confirmCodeScreen(visit, {
          title: pages.two_factor,
          lead: sentTo ? withContact(pages.code_sent_confirm, sentTo) : pages.confirm_lead,
          action: confirm,
          after: again(
            visit,
            offered,
            '/account/two-factor/again',
            sentTo ? html`<a href="${change}">${pages.correct}</a>` : undefined,
          ),
        })
      },
      work: account.confirmTwoFactor,
    },
    turn('/account/two-factor/again', confirm, account.sendEnablingAgain),
    {
      path: '/account/two-factor/app',
      proof: (pages) => ({ title: pages.method_totp, lead: pages.app_lead, button: pages.continue }),
      work: account.beginApp,
    },
    {
      path: '/account/two-factor/app/confirm',
      show: async (visit) => appScreen(visit, await read.security(visit)),
      work: account.confirmApp,
    },
    {
      path: '/account/two-factor/off',
      proof: (pages, { account: { passwordDigest } }) => ({
        title: pages.turn_off_two_factor,
        lead: passwordDigest === null ? pages.turn_off_lead_without_password : pages.turn_off_lead,
        ...{ button: pages.turn_off, danger: true },
      }),
      work: account.disableTwoFactor,
    },
    {
      path: '/account/two-factor/keep',
      async show(visit) {
        const security = await read.security(visit)
        return keepScreen(visit, security) ?? factors(visit, security)
      },
      work: account.keepTwoFactor,
    },
    turn('/account/two-factor/removal/again', '/account/two-factor', account.tellOfRemovalAgain),
    {
      path: '/account/two-factor/codes',
      proof: (pages) => ({
        ...{ title: pages.recovery_codes, lead: pages.new_codes_lead, button: pages.new_codes },
      }),
      work: account.newRecoveryCodes,
    },
  ]
}

/** A page about one of a list. Where none was chosen, it leads to the list. */
const aboutOne =
  (visits: Visits, name: 'passkey' | 'provider', list: string, one: NonNullable<AccountPage['show']>) =>
  (visit: OwnVisit) =>
    visit.flow.typed?.[name] ? one(visit) : visits.go(visit, list)

/** Where passkeys are not offered, their forms stay, and answer what the service says. */
function passkeys({ visits, account, offered }: Needs): AccountPage[] {
  const { read } = account
  const shown = (show: NonNullable<AccountPage['show']>) => offered.passkeys && { show }
  const [list, add, edit] = ['/account/passkeys', '/account/passkeys/add', '/account/passkeys/edit']
  const one = async (visit: OwnVisit) => editPasskeyScreen(visit, await read.security(visit))
  return [
    {
      path: list,
      ...shown(async (visit) => passkeysScreen(visit, offered, (await read.passkeys(visit)).passkeys)),
    },
    {
      path: add,
      ...shown(async (visit) => addPasskeyScreen(visit, await read.security(visit))),
      work: account.addPasskey,
    },
    { path: '/account/passkeys/options', back: add, options: account.newPasskeyOptions },
    { path: edit, ...shown(aboutOne(visits, 'passkey', list, one)) },
    turn('/account/passkeys/choose', list, async (visit) => visits.go(visit, edit)),
    { path: '/account/passkeys/rename', back: edit, work: account.renamePasskey },
    { path: '/account/passkeys/remove', back: edit, work: account.removePasskey },
  ]
}

function providers({ visits, account, offered }: Needs): AccountPage[] {
  const { read } = account
  const shown = (show: NonNullable<AccountPage['show']>) => offered.providers.length > 0 && { show }
  const [list, confirm, remove] = [
    '/account/providers',
    '/account/providers/confirm',
    '/account/providers/remove',
  ]
  const one = async (visit: OwnVisit) =>
    unlinkScreen(visit, await read.security(visit), await read.identities(visit))
  return [
    {
      path: list,
      ...shown(async (visit) => providersScreen(visit, offered, await read.identities(visit))),
    },
    { path: '/account/providers/link', back: list, work: account.beginLink },
    {
      path: confirm,
      show: async (visit) => linkScreen(visit, await read.security(visit)),
      work: account.linkIdentity,
    },
    turn('/account/providers/choose', list, async (visit) => visits.go(visit, remove)),
    {
      path: remove,
      ...shown(aboutOne(visits, 'provider', list, one)),
      work: account.unlinkIdentity,
    },
  ]
}

function sessions({ account, offered }: Needs): AccountPage[] {
  const { read } = account
  const list = '/account/sessions'
  return [
    {
      path: list,
      show: async (visit) =>
        sessionsScreen(visit, await read.sessions(visit), await read.security(visit), offered),
    },
    { path: '/account/sessions/end', back: list, work: account.endSession },
    { path: '/account/sessions/forget', back: list, work: account.forgetDevice },
    { path: '/account/sessions/end-all', back: list, work: account.endAllSessions },
    {
      path: '/account/history',
      async show(visit) {
        const { items, next_cursor } = await read.events(visit, visit.query.get('cursor') ?? undefined)
        return historyScreen(visit, items, next_cursor)
      },
    },
  ]
}

const data = ({ account }: Needs): AccountPage[] => [
  {
    path: '/account/export',
    show: async (visit) => exportScreen(visit, await account.read.security(visit)),
    work: account.exportAccount,
  },
  {
    path: '/account/delete',
    show: async (visit) => deleteScreen(visit, await account.read.security(visit)),
    work: account.eraseAccount,
  },
]
