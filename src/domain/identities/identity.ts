/** A way in through another provider, proved just now or linked to an account. */
import type { ProviderIdentity } from '../providers/provider.ts'

/** Somebody has just signed in there. */
export interface ProvedIdentity extends ProviderIdentity {
  /** Name of the provider in the configuration. */
  provider: string
}

/** As it stands with its account. */
export interface LinkedIdentity {
  provider: string
  subject: string
  /** As the provider gave it when the identity was linked; null where it gave none, or an unverified one. */
  email: string | null
  createdAt: Date
}
