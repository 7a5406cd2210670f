/** Somebody who has an account joins the groups of an invitation. It never changes their role. */

import type { Clock } from '../../../platform/clock.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Admission } from '../../accounts/admission/service.ts'
import { type Account, requireOrdinary } from '../../accounts/core/account.ts'
import { MAXIMUM_GROUPS } from '../../accounts/core/profile.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { MembershipStore } from './store.ts'

interface Needs {
  admission: Admission
  clock: Clock
  stores: { memberships: MembershipStore }
}

export type Memberships = ReturnType<typeof createMemberships>

export function createMemberships({ admission, clock, stores }: Needs) {
  return {
    async accept(
      signedIn: Authenticated,
      typed: string,
      client: { addressBucket: string },
    ): Promise<Account> {
      requireOrdinary(signedIn.account)
      const invitation = await admission.findInvitation(typed, client)
      const plan = (current: Account) => {
        if (!admission.isFor(invitation, current)) throw new AppError('invalid_invitation')
        const held = current.groups ?? []
        if (invitation.groups.every((group) => held.includes(group))) return null
        const groups = [...new Set([...held, ...invitation.groups])].sort()
        if (groups.length > MAXIMUM_GROUPS) throw new AppError('group_limit')
        return groups
      }
      const joined = await stores.memberships.join(signedIn, invitation, plan, clock.now())
      if (joined === 'session_over') throw new AppError('invalid_token', { cause: joined })
      if (joined === 'used_up') throw new AppError('invalid_invitation', { cause: joined })
      return joined
    },
  }
}
