/** Identities at sign-in providers: what proves one, which account it opens, and the owner's list of them. */
import { createIdentityProofs } from './proof.ts'
import { createIdentityResolver } from './resolver.ts'
import { createIdentityService } from './service.ts'

type Needs = Parameters<typeof createIdentityProofs>[0] &
  Parameters<typeof createIdentityResolver>[0] &
  Omit<Parameters<typeof createIdentityService>[0], 'identityProofs' | 'identityResolver'>

export function createIdentities(needs: Needs) {
  const identityProofs = createIdentityProofs(needs)
  const identityResolver = createIdentityResolver(needs)
  const identities = createIdentityService({ ...needs, identityProofs, identityResolver })
  return { identityProofs, identityResolver, identities }
}
