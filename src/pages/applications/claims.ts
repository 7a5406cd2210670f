/**
 * The claims about an account in an ID token and at userinfo: those of the scopes that were granted (OpenID Connect Core,
 * 5.4), and the application's own ones.
 */
import type { Account } from '../../domain/accounts/core/account.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import {
  type ClaimAccount,
  type ClaimValue,
  claimColumns,
  type MadeClaims,
  makeClaims,
} from '../../domain/sessions/tokens/account-claims.ts'
import type { ClaimConfig } from '../../platform/config/claims-rule.ts'

/** The columns from which they are made. */
export const identityColumns = [...claimColumns, 'profile'] as const
export type IdentityAccount = ClaimAccount & Pick<Account, 'profile'>

interface ClaimingApplication {
  /** It is false for an application that is not of the team. */
  own: boolean | null
  claims: readonly ClaimConfig[]
}

type Claims = Record<string, ClaimValue | undefined>

/** Every scope that is read; any other is ignored. */
const claimsOfScopes: Record<string, (account: IdentityAccount, application: ClaimingApplication) => Claims> = {
  profile: ({ uuid, username, language, profile }) => {
    const { name, given_name, family_name, zoneinfo, picture } = profile ?? {}
    const parts = [given_name, family_name].filter((part) => part !== undefined)
    return {
      ...{ name: name ?? (parts.length > 0 ? parts.join(' ') : undefined), given_name, family_name },
      ...{ zoneinfo, picture, locale: language, preferred_username: username ?? uuid },
    }
  },
  email: ({ uuid, email, emailConfirmedAt, testIdentity }, { own }) => {
    if (email !== null && emailConfirmedAt !== null && !testIdentity) return { email, email_verified: true }
    // Most applications take nobody without an address; this one can never be anybody's.
    return own === false ? { email: `${uuid}@no-address.invalid`, email_verified: false } : {}
  },
  phone: ({ phone, phoneConfirmedAt, testIdentity }) =>
    phone !== null && phoneConfirmedAt !== null && !testIdentity
      ? { phone_number: phone, phone_number_verified: true }
      : {},
  groups: ({ groups }) => ({ groups: groups ?? [] }),
}

export const scopesWithClaims = Object.keys(claimsOfScopes)

/** What is missing is left out. The application's own `groups` take the place of the scope's. */
export function claimsFor(
  account: IdentityAccount,
  scopes: Iterable<string>,
  application: ClaimingApplication,
  roles: Pick<Roles, 'nameOf'>,
): MadeClaims {
  const own = makeClaims(application.claims, account, roles)
  const claims: Record<string, ClaimValue> = {}
  for (const scope of scopes) {
    if (!Object.hasOwn(claimsOfScopes, scope)) continue
    for (const [name, value] of Object.entries(claimsOfScopes[scope]!(account, application)))
      if (value !== undefined) claims[name] = value
  }
  if (application.claims.some(({ name }) => name === 'groups')) delete claims.groups
  return { ...own, claims: { ...claims, ...own.claims } }
}
