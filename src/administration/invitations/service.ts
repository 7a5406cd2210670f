/** Invitations as administrators make, list and revoke them. Their code is shown once; only its hash is kept. */

import { randomUUID } from 'node:crypto'
import { hashOfInvitation } from '../../domain/accounts/admission/invitation.ts'
import type { Invitation, InvitationStore } from '../../domain/accounts/admission/store.ts'
import { MAXIMUM_GROUPS } from '../../domain/accounts/core/profile.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../domain/foundation/events/page.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import { groupLetters, randomLetters } from '../../domain/messages/codes/letters.ts'
import { isDomain, isGroupName } from '../../platform/config/formats.ts'
import type { Ground } from '../../platform/ground.ts'
import { invalid } from '../../platform/http/read-values.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { AppError } from '../../texts/errors.ts'
import { type AdminCaller, scopesOf } from '../access/access.ts'

interface InvitationWish {
  roleId?: number | string | null | undefined
  groups?: string[] | null | undefined
  domain?: string | null | undefined
  uses?: number | undefined
  lifetimeSeconds?: number | undefined
  note?: string | null | undefined
}

/** `role`: the name of the role that it gives; null: the usual one. */
export type ShownInvitation = Invitation & { role: string | null }

export const invitationBounds = {
  uses: { minimum: 1, maximum: 1_000_000 },
  lifetimeSeconds: { minimum: 60, maximum: 365 * 86_400 },
} as const

const DEFAULT_LIFETIME_SECONDS = 7 * 86_400

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Roles
  stores: { invitations: InvitationStore }
}

export type InvitationService = ReturnType<typeof createInvitationService>

export function createInvitationService({ roles, clock, config, stores }: Needs) {
  const { invitations: store } = stores
  const { invitationUrl } = config.accounts
  const withRole = (invitation: Invitation): ShownInvitation => ({
    ...invitation,
    role: invitation.roleId === null ? null : roles.nameOf(invitation.roleId),
  })

  function read({ roleId: role, groups, domain, uses, lifetimeSeconds, note }: InvitationWish) {
    const names = [...new Set(groups ?? [])].sort()
    if (!names.every(isGroupName) || names.length > MAXIMUM_GROUPS) throw invalid('groups')
    if (domain && !isDomain(domain)) throw invalid('domain')
    return {
      roleId: role == null ? null : roles.read('role_id', role),
      groups: names,
      domain: domain ? domain.toLowerCase() : null,
      uses: uses ?? 1,
      lifetimeMs: (lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS) * 1000,
      note: note || null,
    }
  }

  async function get(uuid: string): Promise<ShownInvitation> {
    const found = isUuid(uuid) ? await store.find(uuid) : null
    if (found === null) throw new AppError('invitation_not_found')
    return withRole(found)
  }

  return {
    /**
     * The only time that the code is shown; `link` is null where no page takes it. A caller who may not change accounts
     * may not name a role or groups either.
     */
    async create(
      caller: AdminCaller,
      wish: InvitationWish,
      uuid: string = randomUUID(),
    ): Promise<{ code: string; link: string | null; invitation: ShownInvitation }> {
      const { lifetimeMs, ...invitation } = read(wish)
      const gives = invitation.roleId !== null || invitation.groups.length > 0
      if (caller.type === 'nobody' || (gives && !scopesOf(caller).includes('accounts:write')))
        throw new AppError('insufficient_scope')
      const letters = randomLetters()
      const createdAt = clock.now()
      await store.add({
        ...invitation,
        uuid,
        hash: hashOfInvitation(letters),
        createdAt,
        expiresAt: new Date(createdAt.getTime() + lifetimeMs),
        creator: { type: caller.type, id: caller.id, name: caller.name },
      })
      const code = groupLetters(letters)
      const link = invitationUrl && withParameters(invitationUrl, { invitation: code })
      return { code, link, invitation: await get(uuid) }
    },
    get,
    async list(query: PageQuery): Promise<Page<ShownInvitation>> {
      const { limit, after } = readPage(query)
      return toPage(await store.list(after, limit + 1), limit, withRole)
    },
    /** Nobody uses it from now on; accounts that it opened stay. */
    async revoke(uuid: string): Promise<void> {
      if (!isUuid(uuid) || !(await store.revoke(uuid, clock.now())))
        throw new AppError('invitation_not_found')
    },
  }
}
