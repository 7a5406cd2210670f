/** Identities at sign-in providers: what proves one, which account it opens, and the owner's list of them. */
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { OwnerNotices } from '../../accounts/accounts/owner-notices.ts'
import type { AccountStore } from '../../accounts/accounts/store.ts'
import type { Admission } from '../../accounts/admission/service.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import type { TicketStore } from '../../foundation/tickets/store.ts'
import type { Reauthentication } from '../sign-in/reauthentication.ts'
import { createIdentityProofs } from './proof.ts'
import { createIdentityResolver } from './resolver.ts'
import { createIdentityService } from './service.ts'
import type { SpentTokenStore } from './spent-token-store.ts'
import type { IdentityStore } from './store.ts'

interface Needs {
  admission: Admission
  clock: Clock
  config: Config
  notices: OwnerNotices
  providers: ProviderService
  reauthentication: Reauthentication
  stores: {
    accounts: AccountStore
    identities: IdentityStore
    spentTokens: SpentTokenStore
    tickets: TicketStore
  }
}

export function createIdentities(needs: Needs) {
  const identityProofs = createIdentityProofs(needs)
  const identityResolver = createIdentityResolver(needs)
  const identities = createIdentityService({ ...needs, identityProofs, identityResolver })
  return { identityProofs, identityResolver, identities }
}
