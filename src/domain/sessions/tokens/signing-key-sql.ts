/** The SQL by which other rooms remove signing keys. */
import { type SQL, sql } from 'drizzle-orm'
import { identityKeys, signingKeys } from '../../../platform/postgres/schema.ts'

/** By the algorithm of the keys. */
export const deleteKeys = {
  ES256: (where: SQL): SQL => sql`delete from ${signingKeys} where ${where}`,
  RS256: (where: SQL): SQL => sql`delete from ${identityKeys} where ${where}`,
}

/** Of both algorithms; it gives the `kid` of each. */
export const deleteSigningKeys = (where: SQL): SQL => sql`
  with of_access as (${deleteKeys.ES256(where)} returning kid),
  of_identity as (${deleteKeys.RS256(where)} returning kid)
  select kid from of_access union all select kid from of_identity`
