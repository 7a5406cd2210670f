/** A passkey of an account. */
import { passkeys } from '../../../platform/postgres/schema.ts'
import { rowOf, type ValuesOf } from '../../../platform/postgres/statement.ts'

/** The longest name that an owner may give to a passkey. */
export const NAME_CHARACTERS = 120

const { addedBySession: _, ...stored } = rowOf(passkeys)

/** A passkey as it is stored, without the session that added it. */
export const passkeyRow = stored
export type Passkey = ValuesOf<typeof passkeyRow>

/** RFC 8176: a key that never leaves its device, or a synced one; the person was present and verified. */
export const amrOf = ({ backupEligible }: Pick<Passkey, 'backupEligible'>): string[] => [
  backupEligible ? 'swk' : 'hwk',
  'user',
  'mfa',
]
