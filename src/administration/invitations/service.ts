/** Invitations as administrators make, list and revoke them. Their code is shown once; only its hash is kept. */

import { randomUUID } from 'node:crypto'
import type { createMailedInvitations } from '../../domain/accounts/admission/invitation-codes.ts'
import { hashOfInvitation } from '../../domain/accounts/admission/invitation-codes.ts'
import type { Invitation, InvitationStore } from '../../domain/accounts/admission/store.ts'
import { MAXIMUM_GROUPS } from '../../domain/accounts/core/profile.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import type { Actor } from '../../domain/foundation/events/event.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../domain/foundation/events/page.ts'
import { isUuid, parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import { groupLetters, randomLetters } from '../../domain/messages/codes/letters.ts'
import { isDomain, isGroupName } from '../../platform/config/formats.ts'
import type { Ground } from '../../platform/ground.ts'
import { invalid } from '../../platform/http/read-values.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { AppError } from '../../texts/errors.ts'
import { type AdminCaller, scopesOf } from '../access/access.ts'
import { type AuditTrailStore, withCreators } from '../audit/store.ts'

interface InvitationWish {
  roleId?: number | string | null | undefined
  groups?: string[] | null | undefined
  domain?: string | null | undefined
  uses?: number | undefined
  lifetimeSeconds?: number | undefined
  note?: string | null | undefined
}

/** What became of one address. */
export type MailedLine =
  | { email: string; invitation: ShownInvitation }
  | { email: string; refused: 'invalid_value' | 'too_many_requests' }

/** `role`: the name of the role that it gives; null: the usual one. */
export type ShownInvitation = Invitation & { role: string | null }

export const invitationBounds = {
  uses: { minimum: 1, maximum: 1_000_000 },
  lifetimeSeconds: { minimum: 60, maximum: 365 * 86_400 },
} as const

const DEFAULT_LIFETIME_SECONDS = 7 * 86_400

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Roles
  limits: LimitService
  mailedInvitations: ReturnType<typeof createMailedInvitations>
  stores: { invitations: InvitationStore; auditTrail: Pick<AuditTrailStore, 'findNames'> }
}

export type InvitationService = ReturnType<typeof createInvitationService>

export function createInvitationService(needs: Needs) {
  const { roles, limits, mailedInvitations, clock, config, stores } = needs
  const { invitations: store, auditTrail } = stores
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

  /** A caller who may not change accounts may not name a role or groups either. */
  function readFor(caller: AdminCaller, wish: InvitationWish) {
    const { lifetimeMs, ...invitation } = read(wish)
    const gives = invitation.roleId !== null || invitation.groups.length > 0
    if (caller.type === 'nobody' || (gives && !scopesOf(caller).includes('accounts:write')))
      throw new AppError('insufficient_scope')
    const createdAt = clock.now()
    const expiresAt = new Date(createdAt.getTime() + lifetimeMs)
    return {
      creator: { type: caller.type, id: caller.id, name: caller.name },
      invitation: (letters: string) => ({
        ...{ ...invitation, createdAt, expiresAt },
        hash: hashOfInvitation(letters),
      }),
    }
  }

  /** Throws where the first is refused already: then nothing was sent. The operator has no such limit. */
  async function mayMail({ type, id }: Actor, sent: number): Promise<boolean> {
    if (type === 'operator') return true
    const charges = [limits.counters.invitationMails(`${type} ${id}`)]
    if (sent > 0) return limits.admits(charges)
    await limits.charge(charges)
    return true
  }

  async function get(uuid: string): Promise<ShownInvitation> {
    const found = isUuid(uuid) ? await store.find(uuid) : null
    if (found === null) throw new AppError('invitation_not_found')
    const [invitation] = await withCreators(auditTrail, [withRole(found)])
    return invitation!
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
      const { invitation, creator } = readFor(caller, wish)
      const letters = randomLetters()
      await store.add({ ...invitation(letters), uuid, creator })
      const code = groupLetters(letters)
      const link = invitationUrl && withParameters(invitationUrl, { invitation: code })
      return { code, link, invitation: await get(uuid) }
    },
    /**
     * One invitation for each of these addresses, which goes there by mail: its code is not shown. What is refused of one
     * keeps no other back. An administrator or a token may send 200 a day.
     */
    async mail(caller: AdminCaller, wish: InvitationWish, emails: readonly string[]): Promise<MailedLine[]> {
      if (invitationUrl === null) throw invalid('emails')
      const { invitation, creator } = readFor(caller, { ...wish, uses: 1 })
      const lines: MailedLine[] = []
      const seen = new Set<string>()
      for (const typed of emails) {
        const line = await mailTo(typed, seen)
        if (line !== null) lines.push(line)
      }
      return lines

      async function mailTo(typed: string, known: Set<string>): Promise<MailedLine | null> {
        const read = parseIdentifier(typed, config.accounts.defaultCountry)
        if (read?.kind !== 'email') return { email: typed, refused: 'invalid_value' }
        if (known.has(read.key)) return null
        known.add(read.key)
        if (!(await mayMail(creator, lines.length))) return { email: typed, refused: 'too_many_requests' }
        if (!(await limits.admitsNotice(read, 'invited')))
          return { email: typed, refused: 'too_many_requests' }
        const { seed, letters } = mailedInvitations.create()
        const uuid = randomUUID()
        const made = invitation(letters)
        const note = [read.destination, made.note].filter(Boolean).join(' · ')
        const message = { channel: 'email', destination: read.destination, purpose: 'invited' } as const
        // The device is the administrator's.
        const values = { invitation: seed, device: '', expires_at: made.expiresAt.toISOString() }
        const { language } = config.server
        await store.add({ ...made, note, uuid, creator }, [{ ...message, language, values }])
        return { email: read.destination, invitation: await get(uuid) }
      }
    },
    get,
    async list(query: PageQuery): Promise<Page<ShownInvitation>> {
      const { limit, after } = readPage(query)
      const page = toPage(await store.list(after, limit + 1), limit, withRole)
      return { ...page, items: await withCreators(auditTrail, page.items) }
    },
    /** Nobody uses it from now on; accounts that it opened stay. */
    async revoke(uuid: string): Promise<void> {
      if (!isUuid(uuid) || !(await store.revoke(uuid, clock.now())))
        throw new AppError('invitation_not_found')
    },
  }
}
