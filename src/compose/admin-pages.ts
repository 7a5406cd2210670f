/** The pages of an administrator's own passkeys on the listener of administration: those of everybody, at another place. */

import type { PageCookies } from '../administration/access/page-cookie.ts'
import { LIFETIME_SECONDS } from '../administration/administrator-sessions/policy.ts'
import { DEVICE_MS } from '../administration/administrator-sessions/service.ts'
import { createAccountRoutes } from '../pages/account/routes.ts'
import { createAccountPages } from '../pages/account/service.ts'
import { frameOf } from '../pages/frame/frame.ts'
import { createFrameRoutes } from '../pages/frame/routes.ts'
import type { CookieJar } from '../pages/visits/browser.ts'
import { createDestinations } from '../pages/visits/destinations.ts'
import { createFlowSeal } from '../pages/visits/flow.ts'
import { createVisits } from '../pages/visits/service.ts'
import type { HttpBase } from '../platform/http/http-base.ts'
import { setCurrentActor } from '../platform/request-context.ts'
import type { Services } from './services.ts'

interface Options {
  cookies: PageCookies
  baseUrl: string
  /** Null where it has any name. */
  hosts: (() => string[]) | null
  origins: () => string[]
}

/** The page of administration signs in and out. */
const CONSOLE = '/admin/'
const isMore = (path: string) => !path.startsWith('/account/passkeys') && path !== '/account/step-up'

/** `services`: those of signing in are made with the policy of administration. */
export function adminPageRoutes(httpBase: HttpBase, services: Services, options: Options) {
  const { config, administratorSessions, strictSignIn } = services
  const frame = frameOf(config)
  const visits = createVisits({
    ...services,
    frame,
    seal: createFlowSeal(services),
    destinations: createDestinations({ home: CONSOLE, returnTo: [], isAfterSignOut: () => false }),
    place: {
      base: new URL(options.baseUrl),
      isOwnHost: (host) => options.hosts?.().includes(host.toLowerCase()) ?? true,
      originOf({ headers }) {
        const any = options.hosts === null ? [`http://${headers.get('host')}`] : []
        return [...options.origins(), ...any].find((own) => own === headers.get('origin')) ?? ''
      },
      jar: (header) => jarOf(options.cookies, header),
      async find(cookie) {
        const session = await administratorSessions.find(cookie)
        if (session) setCurrentActor({ type: 'administrator', id: session.account.uuid, name: null })
        return session
      },
      sessions: null,
      within: { href: CONSOLE, label: frame.name },
    },
  })
  const account = createAccountPages({ ...services, ...strictSignIn, visits })
  const offered = { service: frame.name, passkeys: true, ...NOTHING_ELSE }
  return [
    createFrameRoutes(httpBase, frame),
    createAccountRoutes(httpBase, { visits, account, offered, lacks: isMore }),
  ]
}

const NOTHING_ELSE = {
  ...{ phone: false, email: false, providers: [], languages: [], untold: [], applications: new Map() },
  ...{ terms: '', termsVersion: '', minimumLength: 0, resendAfter: 0 },
}

function jarOf(cookies: PageCookies, header: string | undefined): CookieJar {
  const named = {
    session: cookies.session,
    browser: cookies.device,
    trusted: null,
    registration: null,
    language: null,
  }
  const lifetimes = {
    session: LIFETIME_SECONDS * 1000,
    browser: DEVICE_MS,
    trusted: 0,
    registration: 0,
    language: 0,
  }
  return {
    read: (name) => named[name]?.read(header),
    write: (name, value) => named[name]?.write(value, lifetimes[name]) ?? [],
  }
}
