/** Identities at sign-in providers: what proves one, which account it opens, and the owner's list of them. */
import type { Services, Stores } from '../../services.ts'
import { createIdentityProofs } from './proof.ts'
import { createIdentityResolver } from './resolver.ts'
import { createIdentityService } from './service.ts'

type Needs = Pick<Services, 'clock' | 'config' | 'notices' | 'providers' | 'reauthentication'> & {
  stores: Pick<Stores, 'accounts' | 'identities' | 'spentTokens' | 'tickets'>
}

export function createIdentities(needs: Needs) {
  const identityProofs = createIdentityProofs(needs)
  const identityResolver = createIdentityResolver(needs)
  const identities = createIdentityService({ ...needs, identityProofs, identityResolver })
  return { identityProofs, identityResolver, identities }
}
