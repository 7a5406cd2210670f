/** The fields of an account that administration changes, read from the body of a call. */

import { mergeGroups, mergeProfile, readProfile } from '../../domain/accounts/core/profile.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import { isMetadata } from '../../domain/accounts/core/set-fields.ts'
import { isByCommand, type Usernames } from '../../domain/accounts/core/usernames.ts'
import type { AccountClaims } from '../../domain/sessions/tokens/account-claims.ts'
import { claimsOfApplications, mayEnter } from '../../platform/config/applications.ts'
import type { Ground } from '../../platform/ground.ts'
import { invalid } from '../../platform/http/read-values.ts'
import { AppError } from '../../texts/errors.ts'
import type { AccountPatch } from './directory-schema.ts'
import type { AccountChange, AdministeredAccount } from './store.ts'

export interface PatchNeeds extends Pick<Ground, 'config'> {
  roles: Roles
  usernames: Usernames
  accountClaims: AccountClaims
}

/** The fields that administrators may set on an account that a test identity opened: no role, no groups, no name. */
export const OF_TEST_ACCOUNTS: ReadonlySet<string> = new Set([
  'metadata',
  'language',
  'locked',
  'locked_reason',
  'end_tokens',
])

export const given = (patch: AccountPatch) =>
  Object.entries(patch).flatMap(([field, value]) => (value === undefined ? [] : [field]))

export function createPatchReader({ roles, usernames, accountClaims, config }: PatchNeeds) {
  /** Refuses a change after which a claim no longer fits, unless it did not fit before. */
  function requireClaimsFit(current: AdministeredAccount, change: AccountChange): void {
    const { profile: _, ...rest } = change
    const set = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const after = { ...current, ...set }
    const field = accountClaims.findOverflow(current, after, claimsOfApplications(config))
    if (field !== null) throw new AppError('claims_too_large', { fields: [{ field, code: 'too_long' }] })
  }

  /** The applications that the account may enter now, and with these groups may not. */
  function closedTo(account: AdministeredAccount, groups: readonly string[]): string[] {
    const closed = config.pages.applications.filter(
      (one) => mayEnter(one, account) && !mayEnter(one, { ...account, groups }),
    )
    return closed.map(({ id }) => id)
  }

  /** Reads a patch, as far as it does not depend on the account. */
  function readPatch(patch: AccountPatch) {
    const { role_id: role, metadata, locked, locked_reason: lockedReason, profile, groups } = patch
    if (!isMetadata(metadata)) throw invalid('metadata')
    const profilePatch = profile && readProfile(profile, { mayHavePicture: true })
    const { username: typed } = patch
    const username =
      typeof typed === 'string' ? usernames.read(typed, { mayBeReserved: isByCommand() }) : typed
    const change = {
      roleId: role === undefined ? undefined : roles.read('role_id', role),
      accountableType: patch.accountable_type,
      accountableId: patch.accountable_id,
      metadata,
      language: patch.language,
      locked,
      lockedReason,
      username,
      endsTokens: patch.end_tokens,
    }
    const plan = (current: AdministeredAccount): AccountChange => {
      const planned = {
        ...change,
        profile: profilePatch && mergeProfile(current.profile, profilePatch),
        groups: groups && mergeGroups(current.groups, groups),
      }
      requireClaimsFit(current, planned)
      return planned.groups === undefined
        ? planned
        : { ...planned, closes: closedTo(current, planned.groups ?? []) }
    }
    return { locked, username, plan }
  }

  return readPatch
}
