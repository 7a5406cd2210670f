/** The longest name that an owner may give to a passkey. */
export const NAME_CHARACTERS = 120

/** A passkey as it is stored. */
export interface Passkey {
  /** The public handle of the row: what the paths name. */
  id: string
  accountId: number
  /** Base64url, as browsers give it. */
  credentialId: string
  /** COSE key. */
  publicKey: Uint8Array
  /** 32 random bytes, the same for all passkeys of an account: authenticators know the account by it. */
  userHandle: Uint8Array
  counter: number
  name: string
  createdAt: Date
  lastUsedAt: Date | null
  /** True if it may ever be copied to other devices (BE); it never changes. */
  backupEligible: boolean
  /** True if it is copied now (BS). */
  backedUp: boolean
  transports: string[]
  aaguid: string
  rpId: string
  /** Added with the password, a second factor or another passkey, not by a session alone. */
  proved: boolean
}

/** RFC 8176: a key that never leaves its device, or a synced one; the person was present and verified. */
export const amrOf = ({ backupEligible }: Pick<Passkey, 'backupEligible'>): string[] => [
  backupEligible ? 'swk' : 'hwk',
  'user',
  'mfa',
]
