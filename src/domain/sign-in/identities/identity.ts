/** An identity at a sign-in provider: just proved, or linked to an account. */
import type { ProviderIdentity } from '../../credentials/providers/provider.ts'

/** An identity with which somebody has just signed in at the provider. */
export interface ProvedIdentity extends ProviderIdentity {
  /** The name of the provider in the configuration. */
  provider: string
}

/** An identity that is linked to an account. */
export interface LinkedIdentity {
  provider: string
  subject: string
  /** The address that the provider gave when the identity was linked; null if it gave none, or an unverified one. */
  email: string | null
  createdAt: Date
}
