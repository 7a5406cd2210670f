/** A passkey of a line, as an export wrote it: the public key, the user handle and the counter. */
import { type ImportedPasskey, LineRefused } from './line.ts'
import { booleanOf, integerOf, listOf, objectOf, pastTimeOf, textOf } from './values.ts'

/** The fields of a passkey: what an import reads and an export writes. */
export const passkeyFields = [
  ...['id', 'public_key', 'user_handle', 'counter', 'name', 'created_at', 'last_used_at', 'backup_eligible'],
  ...['backed_up', 'transports', 'aaguid', 'rp_id'],
] as const
export type PasskeyField = (typeof passkeyFields)[number]
const BASE64URL = /^[\w-]+$/
const AAGUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** `rpId`: the only relying party whose passkeys work here. */
export function readPasskey(value: unknown, now: Date, rpId: string | null): ImportedPasskey {
  const fields = objectOf(value, 'passkeys', passkeyFields)
  const encoded = (field: string, longest: number) => {
    const text = textOf(fields, field, longest, 'passkeys')
    if (text === null || !BASE64URL.test(text)) throw new LineRefused('invalid_value', 'passkeys')
    return text
  }
  const transports = listOf(fields, 'transports', 10)
  const aaguid = textOf(fields, 'aaguid', 36, 'passkeys') ?? '00000000-0000-0000-0000-000000000000'
  const isOurs = rpId !== null && (textOf(fields, 'rp_id', 255, 'passkeys') ?? rpId) === rpId
  const isPlain = transports.every((each) => typeof each === 'string' && /^[a-z-]{1,20}$/.test(each))
  if (!isOurs || !isPlain || !AAGUID.test(aaguid)) throw new LineRefused('invalid_value', 'passkeys')
  return {
    credentialId: encoded('id', 1364),
    publicKey: encoded('public_key', 2000),
    userHandle: encoded('user_handle', 86),
    counter: integerOf(fields, 'counter', 2 ** 32 - 1, 'passkeys') ?? 0,
    name: textOf(fields, 'name', 100, 'passkeys') ?? 'Passkey',
    createdAt: pastTimeOf(fields, 'created_at', now, 'passkeys') ?? now,
    lastUsedAt: pastTimeOf(fields, 'last_used_at', now, 'passkeys'),
    backupEligible: booleanOf(fields, 'backup_eligible', 'passkeys') ?? false,
    backedUp: booleanOf(fields, 'backed_up', 'passkeys') ?? false,
    transports: transports as string[],
    aaguid,
  }
}
