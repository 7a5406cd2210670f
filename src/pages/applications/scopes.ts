/** The scopes that applications may ask for (OpenID Connect Core, 5.4 and 11). */

const SCOPES = ['openid', 'profile', 'email', 'phone', 'groups', 'offline_access'] as const
export type OpenIdScope = (typeof SCOPES)[number]

/** The granted ones in the order in which they were asked for; unknown ones are ignored. Undefined: none. */
export function grantedOf(asked: string): string | undefined {
  const known = asked.split(' ').filter((name) => (SCOPES as readonly string[]).includes(name))
  return known.length > 0 ? [...new Set(known)].join(' ') : undefined
}

export const hasScope = (granted: string | null | undefined, scope: OpenIdScope): boolean =>
  (granted ?? '').split(' ').includes(scope)
