/**
 * The ways to sign in to an account, as rows: the same rule wherever one of them is removed. An identity counts while
 * its provider is configured (`usable`: JSON), a passkey for its own relying party, a password together with a verified
 * contact. A verified contact counts as well for an account without a password, if such accounts are allowed
 * (`codesOpen`).
 */
import { type SQL, sql } from 'drizzle-orm'
import { accounts, identities, passkeys } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'

export const signInMethodParamTypes = {
  accountId: 'bigint',
  usable: 'text',
  rpId: 'text?',
  codesOpen: 'boolean',
} as const

/** The ways to sign in that the configuration allows. */
export interface UsableMethods {
  providers: string[]
  rpId: string | null
  codesOpen: boolean
}

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
