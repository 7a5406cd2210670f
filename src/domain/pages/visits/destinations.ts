/** The pages may lead to `pages.home`, `pages.return_to` and their own paths, and nowhere else. */
import type { PagesConfig } from '../../../platform/config/types.ts'

export type Destinations = ReturnType<typeof createDestinations>

export function createDestinations({ home, returnTo }: Pick<PagesConfig, 'home' | 'returnTo'>) {
  const entries = home === '' ? returnTo : [home, ...returnTo]
  return {
    /** People go there when nothing else was asked for. */
    home: home === '' ? '/account' : home,
    /** The address, if it is one of those that are allowed; null otherwise. */
    read(asked: string): string | null {
      const url = asked.length <= 512 ? URL.parse(asked) : null
      if (url === null || url.href !== asked || !/^https?:$/.test(url.protocol)) return null
      if (url.username || url.password || /[#\\]|%2f|%5c/i.test(asked)) return null
      return entries.some((entry) => matches(entry, asked)) ? asked : null
    },
  }
}

/** `https://a.example/x/*` takes everything below that path; otherwise the two are equal. */
function matches(entry: string, address: string): boolean {
  return entry.endsWith('*') ? address.startsWith(entry.slice(0, -1)) : entry === address
}
