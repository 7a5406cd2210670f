/**
 * The decision whether an account may be opened, in the statement that opens it. Every such statement has these CTEs
 * and sets what `permit` gives (`admitted` in ../accounts/opening-sql.ts), so that an invitation is spent for an
 * account or not at all.
 */
import { type SQL, sql } from 'drizzle-orm'
import { invitations } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'

/** Made by the service of this room. */
export const permitParamTypes = {
  /** `open`, `invitation` or `closed`. */
  admissionMode: 'text',
  /** True if the contact that is proved is one of those that may open an account. */
  isContactAdmitted: 'boolean',
  /** The hash of the invitation that this call names. */
  ownInvitation: 'bytea?',
  /** True if a test identity is proved: its account gets neither role nor groups, and is marked for life. */
  isTest: 'boolean',
  /** The domain of the e-mail address that is proved; null: none is. */
  provedDomain: 'text?',
  /** The version of the terms that this call accepts, and the one that has to be accepted. */
  ownTerms: 'text?',
  requiredTerms: 'text?',
  /** What the team's own program gives the account in place of the invitation; null: nothing. */
  decidedRoleId: 'int?',
  decidedGroups: 'text?',
  decidedMetadata: 'text?',
} as const

type PermitParams = Placeholders<keyof typeof permitParamTypes | 'now'>

/** The invitation can be used now. */
export const isUsable = (p: Placeholders<'now'>): SQL => sql`
  ${invitations}.used < ${invitations}.uses and ${invitations}.revoked_at is null and ${invitations}.expires_at > ${p.now}`

/**
 * `candidate`: a CTE with one row for what is about to be opened, and none where nothing is. Its columns: `exempt` (it needs
 * no permit), `keeps` (what its registration named counts), `invitation_id`, `terms_version` and `terms_accepted_at`.
 * `permit` has one row where it may be opened, and none otherwise.
 */
export function permitCtes(p: PermitParams, candidate: SQL): SQL {
  const isOpen = sql`(${p.admissionMode} <> 'closed' and ${p.isContactAdmitted}
     and (${p.requiredTerms} is null or wanted.terms_version = ${p.requiredTerms}))`
  return sql`
    wanted as materialized (
      select exempt, ${p.ownInvitation} is not null and not exempt as names_own,
             case when exempt or (keeps and not ${p.isTest} and ${p.ownInvitation} is null) then ${candidate}.invitation_id end as invitation_id,
             coalesce(${p.ownTerms}, case when exempt or keeps then terms_version end) as terms_version,
             case when ${p.ownTerms} is not null then ${p.now}
                  when exempt or keeps then terms_accepted_at end as terms_accepted_at
        from ${candidate}),
    spent as (
      update ${invitations} set used = used + 1 from wanted
       where not wanted.exempt and ${isOpen}
         and (${invitations}.id = wanted.invitation_id or (wanted.names_own and ${invitations}.hash = ${p.ownInvitation}))
         and ${isUsable(p)} and (${invitations}.domain is null or ${invitations}.domain = ${p.provedDomain})
      returning ${invitations}.id, ${invitations}.role_id, ${invitations}.groups),
    permit as materialized (
      select coalesce(spent.id, wanted.invitation_id) as invitation_id,
             coalesce(${p.decidedRoleId}, spent.role_id) as role_id,
             nullif(coalesce(${p.decidedGroups}::jsonb, spent.groups), '[]'::jsonb) as groups,
             ${p.decidedMetadata}::jsonb as metadata, wanted.terms_version, wanted.terms_accepted_at,
             ${p.isTest} as test_identity
        from wanted left join spent on true
       where wanted.exempt
          or (${isOpen} and case when wanted.names_own or wanted.invitation_id is not null then spent.id is not null
                                 else ${p.admissionMode} = 'open' end))`
}

/** One use, for somebody who has an account already. */
export const spendInvitation = (p: Placeholders<'invitationId' | 'now'>): SQL => sql`
  update ${invitations} set used = used + 1 where id = ${p.invitationId} and ${isUsable(p)} returning id`

/**
 * What was noted of an invitation for one person, as the address that it was mailed to, goes with the account that it opened.
 * `gone`: has the `invitation_id` of each.
 */
export const forgetNotes = (gone: SQL): SQL => sql`
  update ${invitations} set note = null from ${gone} where ${invitations}.id = ${gone}.invitation_id and uses = 1`

/** A candidate that no registration waits for. */
export const newCandidate = (where: SQL): SQL => sql`
  select false as exempt, false as keeps, null::bigint as invitation_id, null::text as terms_version,
         null::timestamptz as terms_accepted_at where ${where}`
