/**
 * The ways to sign in to an account, as rows: the same rule wherever one of them is removed. An identity counts while
 * its provider is configured (`usable`: JSON), a passkey for its own relying party, a password together with a verified
 * contact. A verified contact counts as well for an account without a password, if such accounts are allowed
 * (`codesOpen`).
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Config } from '../../../platform/config/types.ts'
import { accounts, identities, passkeys, totpFactors } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
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

/** The removal of a way to sign in, in a transaction that holds the account, as it would end now. */
export interface ForeseenRemoval {
  /** The account has it. */
  found: boolean
  /** Something else opens the account. */
  opens: boolean
  /** It can be removed. */
  mayGo: boolean
}
export const foreseenRow = { found: 'boolean', opens: 'boolean', mayGo: 'boolean' } as const

/** `lives`: the session of the owner; an administrator needs none. */
export interface Removal extends ForeseenRemoval {
  lives: boolean
}

/** Refuses where nothing was removed. `absent`: there was nothing to remove. `byAdministrator`: says what else to do. */
export function requireRemoval(removal: Removal, absent: ErrorCode, { byAdministrator = false } = {}): void {
  if (!removal.lives) throw new AppError('invalid_token', { cause: 'session_over' })
  if (!removal.found) throw new AppError(absent)
  if (removal.mayGo) return
  if (removal.opens)
    throw new AppError('no_other_factor', byAdministrator ? { sentence: 'factor_stays' } : {})
  throw new AppError('last_sign_in_method', byAdministrator ? { sentence: 'way_in_stays' } : {})
}
