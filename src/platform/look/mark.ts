/** The icon of the site: the initial in the team's colour, as at the head of its pages. It is seen on light and on dark. */
import { brandTokens } from './colours.ts'

/** `initial`: escaped as HTML. `colour`: `#rrggbb`. */
export function markSvg(initial: string, colour: string): string {
  const { brand, onBrand } = brandTokens(colour, 'light')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="${brand}"/><text x="16" y="22" text-anchor="middle" font-family="system-ui, sans-serif" font-size="17" font-weight="600" fill="${onBrand}">${initial}</text></svg>`
}
