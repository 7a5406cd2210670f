/**
 * The claims about an account in an ID token and at userinfo: those of the scopes that were granted (OpenID Connect Core,
 * 5.4), and the application's own ones.
 */
import type { Account } from '../../domain/accounts/core/account.ts'
import { profileNames } from '../../domain/accounts/core/profile.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import {
  type ClaimAccount,
  type ClaimValue,
  type MadeClaims,
  makeClaims,
} from '../../domain/sessions/tokens/account-claims.ts'
import type { ClaimConfig } from '../../platform/config/claims-rule.ts'

/** What they are made from. */
export type IdentityAccount = ClaimAccount & Pick<Account, 'profile'>

interface ClaimingApplication {
  /** It is false for an application that is not of the team. */
  own: boolean | null
  claims: readonly ClaimConfig[]
}

/** The claims of each scope; any other scope is ignored. */
export const claimsOfScopes: Record<string, readonly string[]> = {
  profile: [...profileNames, 'locale', 'preferred_username'],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  groups: ['groups'],
}

/** What is missing is left out. */
function sayAll(account: IdentityAccount, { own }: ClaimingApplication): Record<string, ClaimValue> {
  const { uuid, username, groups, language, profile, testIdentity } = account
  const { name, given_name, family_name } = profile ?? {}
  const parts = [given_name, family_name].filter((part) => part !== undefined).join(' ')
  return {
    ...profile,
    ...(name === undefined && parts !== '' && { name: parts }),
    ...{ locale: language, preferred_username: username ?? uuid, groups: groups ?? [] },
    // Most applications take nobody without an address; this one can never be anybody's.
    ...(own === false && { email: `${uuid}@no-address.invalid`, email_verified: false }),
    ...(account.email !== null &&
      account.emailConfirmedAt !== null &&
      !testIdentity && { email: account.email, email_verified: true }),
    ...(account.phone !== null &&
      account.phoneConfirmedAt !== null &&
      !testIdentity && { phone_number: account.phone, phone_number_verified: true }),
  }
}

/** The application's own `groups` take the place of the scope's. */
export function claimsFor(
  account: IdentityAccount,
  scopes: readonly string[],
  application: ClaimingApplication,
  roles: Pick<Roles, 'nameOf'>,
): MadeClaims {
  const own = makeClaims(application.claims, account, roles)
  const said = sayAll(account, application)
  const names = scopes.flatMap((scope) =>
    Object.hasOwn(claimsOfScopes, scope) ? claimsOfScopes[scope]! : [],
  )
  const claims = Object.fromEntries(
    names.filter((name) => Object.hasOwn(said, name)).map((name) => [name, said[name]!]),
  )
  if (application.claims.some(({ name }) => name === 'groups')) delete claims.groups
  return { ...own, claims: { ...claims, ...own.claims } }
}

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
