/**
 * The pages may lead to `pages.home`, `pages.return_to` and their own paths, after signing out to an application's
 * `sign_out_uris`, and nowhere else.
 */
import type { PagesConfig } from '../../platform/config/types.ts'

interface Allowed extends Pick<PagesConfig, 'home' | 'returnTo'> {
  /** Tells whether an application's people may go there after signing out. */
  isAfterSignOut(address: string): boolean
}

export type Destinations = ReturnType<typeof createDestinations>

export function createDestinations({ home, returnTo, isAfterSignOut }: Allowed) {
  const entries = home === '' ? returnTo : [home, ...returnTo]

  /** The address, if it is one of those that may be asked for; null otherwise. */
  function read(asked: string): string | null {
    const url = asked.length <= 512 ? URL.parse(asked) : null
    if (url === null || url.href !== asked || !/^https?:$/.test(url.protocol)) return null
    if (url.username || url.password || /[#\\]|%2f|%5c/i.test(asked)) return null
    return entries.some((entry) => matches(entry, asked)) ? asked : null
  }

  return {
    /** People go there when nothing else was asked for. */
    home: home === '' ? '/account' : home,
    read,
    /** Tells whether a flow may lead there still: it is good for a day, and the configuration may have changed since. */
    holds: (to: string): boolean => to.startsWith('/') || read(to) !== null || isAfterSignOut(to),
  }
}

/** `https://a.example/x/*` takes everything below that path; otherwise the two are equal. */
function matches(entry: string, address: string): boolean {
  return entry.endsWith('*') ? address.startsWith(entry.slice(0, -1)) : entry === address
}
