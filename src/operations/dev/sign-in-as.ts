/** "Sign in as" of the start page: opens a session of the pages for one of the people who were made to try things with. */
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { MeService } from '../../domain/self-service/me/service.ts'
import type { BrowserSessions } from '../../domain/sessions/browser-sessions/service.ts'
import type { SessionOpener } from '../../domain/sessions/core/session-opener.ts'
import { BROWSER_SECONDS, createCookieJar, newBrowserCookie } from '../../pages/visits/browser.ts'
import type { Visits } from '../../pages/visits/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { readCookies } from '../../platform/http/redirect.ts'
import { AppError } from '../../texts/errors.ts'
import type { DevPerson } from './people.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  browserSessions: BrowserSessions
  me: MeService
  sessionOpener: SessionOpener
  stores: { accounts: AccountStore }
  people: DevPerson[]
}

export type SignInAs = ReturnType<typeof createSignInAs>

export function createSignInAs({
  visits,
  browserSessions,
  me,
  sessionOpener,
  stores,
  people,
  config,
}: Needs) {
  const find = (typed = '') => {
    const named = people.some(({ identifier }) => identifier === typed)
      ? parseIdentifier(typed, config.accounts.defaultCountry)
      : null
    return named && stores.accounts.findByIdentifier(named, 'login')
  }

  return {
    /** A form is taken from browsers that keep cookies: the first page gives one to a browser that has none of ours. */
    cookieFor(request: Request): string | null {
      const jar = createCookieJar(readCookies(request.headers.get('cookie') ?? undefined), false)
      if (jar.read('browser') !== undefined) return null
      const [cookie = null] = jar.write('browser', newBrowserCookie(), BROWSER_SECONDS)
      return cookie
    },
    /** Nothing is asked but who: the key of the start page was. A locked account stays locked, as for its owner. */
    take: visits.take({ back: '/sign-in', keeps: ['identifier'], forAnybody: true }, async (visit, typed) => {
      const account = await find(typed.identifier)
      if (!account) throw new AppError('account_not_found')
      if (account.accountConfirmedAt === null) throw new AppError('account_unconfirmed')
      if (account.lockedAt !== null) throw new AppError('account_locked')
      const amr = account.twoFactorEnabled ? ['pwd', 'otp', 'mfa'] : ['pwd']
      const { address } = visit.caller
      const opened = await sessionOpener.open({ account, device: visit.device(false), address, amr })
      await visits.signIn(visit, opened)
      // They speak the language of the browser, and so do their messages.
      const session = await browserSessions.find(opened.refreshToken, address)
      if (session) await me.change(session, { language: visit.client.language })
      return visits.leave(visit, visits.home)
    }),
  }
}
