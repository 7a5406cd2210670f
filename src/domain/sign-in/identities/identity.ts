import type { ProviderIdentity } from '../../credentials/providers/provider.ts'

/** An identity with which somebody has just signed in at the provider. */
export interface ProvedIdentity extends ProviderIdentity {
  /** The name of the provider in the configuration. */
  provider: string
}
