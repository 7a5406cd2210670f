/** Column `password_digest` of `accounts`, and what changes with it: see store.ts for what is promised. */
import { type SQL, sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { accounts, contactChanges, sessions } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import { isRecentContact, removeRecentAdditions } from '../accounts/additions-sql.ts'
import {
  endOtherClaims,
  sessionLives,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
} from '../accounts/store-postgres.ts'
import {
  type NoticeParams,
  noticeParams,
  queueNotices,
  supersedePending,
} from '../delivery/store-postgres.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { PasswordStore } from './store.ts'

const now = param('now', 'timestamptz')
const accountId = param('accountId', 'bigint')
const key = param('key', 'text')
const digest = param('digest', 'text')

/** As many devices as a person may have and lose. */
const KNOWN_DEVICES = 100

/** What ends with the password of the account in the CTE `proved`; `kept`: which sessions do not. */
const endings = (kept: SQL, values?: SQL) => sql`
    revoked as (
      update ${sessions} set revoked_at = ${now} from proved
       where ${sessions}.account_id = proved.id and ${sessions}.revoked_at is null and not (${kept})),
    dropped as (
      delete from ${contactChanges} using proved where ${contactChanges}.account_id = proved.id),
    replaced as (${supersedePending({ codeSubject: sql`(select uuid from proved)`, codePurpose: null })}),
    notices as (${queueNotices(sql`proved`, values)})`

type ResetParams = { now: Date; accountId: number; key: string; digest: string } & NoticeParams

/**
 * The other contact goes if a session added it lately, or if the registration was never confirmed: then it is a claim,
 * maybe a stranger's, and nobody is told.
 */
const resetBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const otherKind = kind === 'email' ? 'phone' : 'email'
  const other = unqualifiedColumns[otherKind]
  const names = kind === 'email' ? sql.raw('phone') : sql.raw('email, email_key')
  const old = kind === 'email' ? sql.raw('old.phone') : sql.raw('old.email, old.email_key')
  return statement<ResetParams, { fingerprints: string[] }>(sql`
    with old as (
      select *, ${isRecentContact(otherKind, verifiedAt)} as has_recent from ${accounts}
       where id = ${accountId} and ${keyColumn} = ${key}
         and (${verifiedAt} is not null or (account_confirmed_at is null and waiting_for = ${key}))),
    proved as (
      update ${accounts}
         set password_digest = ${digest}, password_changed_at = ${now}, failed_attempts = 0, updated_at = ${now},
             account_confirmed_at = coalesce(old.account_confirmed_at, ${now}),
             ${verifiedAt} = coalesce(old.${verifiedAt}, ${now}), waiting_for = null,
             (${names}, ${other.verifiedAt}, ${other.addedAt}, ${other.addedBy}) = (
               select ${old}, old.${other.verifiedAt}, old.${other.addedAt}, old.${other.addedBy}
                where not old.has_recent and old.account_confirmed_at is not null)
        from old where ${accounts}.id = old.id
      returning ${accounts}.id, ${accounts}.uuid, ${accounts}.${verifiedAt} as since,
                case when old.has_recent then ${otherKind}::text end as lost_contact),
    ${endOtherClaims(kind)},
    ${removeRecentAdditions()},
    ${endings(
      sql`false`,
      sql`coalesce((select jsonb_build_object('removed', labels) from removed where labels is not null), '{}')`,
    )}
    select to_json(array(
      select device_fingerprint from ${sessions}
       where account_id = proved.id and device_fingerprint is not null
       group by device_fingerprint order by max(last_used_at) desc limit ${sql.raw(String(KNOWN_DEVICES))}
    )) as fingerprints from proved`)
}

const reset = { email: resetBy('email'), phone: resetBy('phone') }

const change = defineStatement({
  name: 'passwords.change',
  params: {
    digest: 'text',
    now: 'timestamptz',
    accountId: 'bigint',
    digestWhenChecked: 'text?',
    sessionId: 'uuid',
    notices: 'text',
  },
  row: { lives: 'boolean', changed: 'boolean' },
  sql: (p) => sql`
  with proved as (
    update ${accounts} set password_digest = ${p.digest}, password_changed_at = ${p.now}, updated_at = ${p.now}
     where id = ${p.accountId} and password_digest is not distinct from ${p.digestWhenChecked} and ${sessionLives}
    returning id, uuid),
  ${endings(sql`${sessions}.id = ${p.sessionId}`)}
  select ${sessionLives} as lives, exists (select 1 from proved) as changed`,
})

export function createPasswordStore(database: Database): PasswordStore {
  return {
    reset: ({ id: accountId, uuid }, { kind, key }, { digest, notices }, now) =>
      verifyIdentifier(kind, () =>
        updateLockedAccount(
          database,
          reset[kind],
          { accountId, key, digest, now, ...noticeParams(notices) },
          { at: now, eventsOf: () => [{ type: 'password.reset', account: uuid, data: { contact: kind } }] },
        ),
      ),
    async change({ account, sessionId }, { digest, notices }, now) {
      const changed = await updateLockedAccount(
        database,
        change,
        {
          accountId: account.id,
          sessionId,
          digestWhenChecked: account.passwordDigest,
          digest,
          now,
          ...noticeParams(notices),
        },
        {
          at: now,
          eventsOf: (row) => (row.changed ? [{ type: 'password.changed', account: account.uuid }] : []),
        },
      )
      if (changed?.changed) return 'changed'
      return changed?.lives ? 'other_password' : 'session_over'
    },
  }
}
