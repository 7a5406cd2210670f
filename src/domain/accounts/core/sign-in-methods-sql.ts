/**
 * The ways to sign in to an account, as rows: the same rule wherever one of them is removed. An identity counts while
 * its provider is configured (`usable`: JSON), a passkey for its own relying party, a password together with a verified
 * contact. A verified contact counts as well for an account without a password, if such accounts are allowed
 * (`codesOpen`).
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Config } from '../../../platform/config/types.ts'
import { accounts, identities, passkeys, totpFactors } from '../../../platform/postgres/schema.ts'
import type { Placeholders, ValuesOf } from '../../../platform/postgres/statement.ts'
import { AppError, type ErrorCode } from '../../../texts/errors.ts'

export const signInMethodParamTypes = {
  accountId: 'bigint',
  usable: 'text',
  rpId: 'text?',
  codesOpen: 'boolean',
} as const

export type UsableMethods = ReturnType<typeof usableMethods>
/** `appOpens`: the secret of the account's authenticator app can be opened. */
export type UsableFactors = UsableMethods & { appOpens: boolean }

/** The ways to sign in that the configuration allows. */
export const usableMethods = (providers: string[], { passkeys, accounts }: Config) => ({
  providers,
  rpId: passkeys.rpId,
  codesOpen: accounts.password === 'optional',
})

export const usableParams = ({ providers, rpId, codesOpen }: UsableMethods) => ({
  usable: JSON.stringify(providers),
  rpId,
  codesOpen,
})

type SignInMethodParams = Placeholders<keyof typeof signInMethodParamTypes>

const any = sql`true`

export const usableIdentities = (p: Placeholders<'accountId' | 'usable'>, where = any): SQL => sql`
    select 1 from ${identities}
     where account_id = ${p.accountId} and provider in (select jsonb_array_elements_text(${p.usable}::jsonb))
       and ${where}`

export const usablePasskeys = (p: Placeholders<'accountId' | 'rpId'>, where = any): SQL => sql`
    select 1 from ${passkeys} where account_id = ${p.accountId} and rp_id = ${p.rpId} and ${where}`

/** `identities`, `passkeys`: which of them stay. */
export const otherSignInMethods = (p: SignInMethodParams, stay: { identities?: SQL; passkeys?: SQL }) => sql`
    ${usableIdentities(p, stay.identities)}
    union all
    ${usablePasskeys(p, stay.passkeys)}
    union all
    select 1 from ${accounts}
     where id = ${p.accountId} and (password_digest is not null or ${p.codesOpen})
       and (email_confirmed_at is not null or phone_confirmed_at is not null)`

/**
 * With two factors on, an account without a password keeps an app or a passkey: recovery codes alone are no second factor.
 * `passkeys`: which of them stay.
 */
export const keepsSecondFactor = (
  p: Placeholders<'accountId' | 'rpId' | 'appOpens'>,
  stay: { passkeys: SQL },
) => sql`(
    exists (select 1 from ${accounts}
             where id = ${p.accountId} and (password_digest is not null or not two_factor_enabled))
    or ${p.appOpens} and exists (select 1 from ${totpFactors} where account_id = ${p.accountId})
    or exists (${usablePasskeys(p, stay.passkeys)}))`

/**
 * The removal of a way to sign in ends so. `named` are the rows that it is about, `left_over` the other ways in, `removed` the
 * rows that went.
 */
export const removalRow = {
  lives: 'boolean',
  found: 'boolean',
  opens: 'boolean',
  removed: 'boolean',
} as const

export const selectRemoval = (lives: SQL, removed = sql`exists (select 1 from removed)`) => sql`
  select ${lives} as lives, exists (select 1 from named) as found, exists (select 1 from left_over) as opens,
         ${removed} as removed`

/** Refuses where nothing was removed. `absent`: there was nothing to remove. `byAdministrator`: says what else to do. */
export function requireRemoval(
  row: ValuesOf<typeof removalRow> | null,
  absent: ErrorCode,
  { byAdministrator = false } = {},
): void {
  if (!row?.lives) throw new AppError('invalid_token', { cause: 'session_over' })
  if (!row.found) throw new AppError(absent)
  if (row.removed) return
  if (row.opens) throw new AppError('no_other_factor', byAdministrator ? { sentence: 'factor_stays' } : {})
  throw new AppError('last_sign_in_method', byAdministrator ? { sentence: 'way_in_stays' } : {})
}
