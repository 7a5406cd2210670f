/** The linked identities of somebody who is signed in: listing, linking, unlinking, but never the last sign-in method. */

import { AppError, type FieldError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { ProvedIdentity } from '../../credentials/providers/provider.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import type { Source } from '../../foundation/limits/callers.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { Reauthentication } from '../core/reauthentication.ts'
import type { OwnerProof } from '../core/sign-in-schema.ts'
import type { IdentityProof } from './identity-schema.ts'
import type { IdentityProofs } from './proof.ts'
import { type IdentityResolver, MAXIMUM_IDENTITIES } from './resolver.ts'
import type { IdentityStore, LinkedIdentity } from './store.ts'

type LinkBody = OwnerProof & IdentityProof

interface Needs {
  identityResolver: IdentityResolver
  identityProofs: IdentityProofs
  providers: ProviderService
  reauthentication: Reauthentication
  stores: { identities: IdentityStore }
}

export type IdentityService = ReturnType<typeof createIdentityService>

export function createIdentityService(needs: Needs) {
  const { identityResolver, identityProofs, providers, reauthentication } = needs
  const store = needs.stores.identities

  async function prove(provider: string, body: IdentityProof): Promise<ProvedIdentity> {
    const { code, code_verifier, id_token, nonce } = body
    if (id_token) return identityProofs.takeIdToken(provider, id_token, nonce ?? '')
    const identity = await identityProofs.takeCode(code ?? '', code_verifier ?? '')
    if (identity.provider !== provider) throw new AppError('invalid_code')
    return identity
  }

  const list = ({ account }: Authenticated): Promise<LinkedIdentity[]> => store.list(account.id)

  const isFull = async ({ account }: Authenticated) =>
    (await store.list(account.id)).length >= MAXIMUM_IDENTITIES

  /** Refuses a link that cannot be before a second factor is used up. `look` uses nothing up. */
  const requireOwner = (
    signedIn: Authenticated,
    proof: OwnerProof,
    client: Source,
    look: () => Promise<ProvedIdentity | null>,
  ) => {
    const admit = async () => {
      if (await isFull(signedIn)) throw new AppError('identity_limit')
      const brought = await look()
      if (brought !== null) requireOwn(await store.findAccount(brought), signedIn)
    }
    return reauthentication.require(signedIn, proof, client, { admit })
  }

  async function linkOnce(signedIn: Authenticated, identity: ProvedIdentity): Promise<void> {
    if (await identityResolver.link(signedIn, identity)) return
    const holder = await store.findAccount(identity)
    requireOwn(holder, signedIn)
    if (holder === null && (await isFull(signedIn))) throw new AppError('identity_limit')
    if (holder === null) throw new AppError('invalid_token', { cause: 'account changed' })
  }

  return {
    list,
    /**
     * Links an identity after reauthentication and returns the new list. Nothing changes if the account already has it.
     */
    async link(signedIn: Authenticated, provider: string, body: LinkBody, client: Source) {
      providers.get(provider)
      requireOneProof(body)
      await requireOwner(signedIn, body, client, () => identityProofs.look(provider, body))
      await linkOnce(signedIn, await prove(provider, body))
      return list(signedIn)
    },
    /** The identity of a provider's code, which is used up. */
    takeCode: (provider: string, code: string, code_verifier: string): Promise<ProvedIdentity> =>
      prove(provider, { code, code_verifier }),
    /** Works like `link`, for an identity that was proved before. */
    async linkProved(signedIn: Authenticated, identity: ProvedIdentity, proof: OwnerProof, client: Source) {
      providers.get(identity.provider)
      await requireOwner(signedIn, proof, client, async () => identity)
      await linkOnce(signedIn, identity)
    },
    /** Unlinks the provider's identities after reauthentication and returns the new list. */
    async unlink(signedIn: Authenticated, provider: string, proof: OwnerProof, client: Source) {
      const admit = () => identityResolver.requireUnlinkable(signedIn.account, provider)
      await reauthentication.require(signedIn, proof, client, { admit })
      await identityResolver.unlink(signedIn, provider)
      return list(signedIn)
    },
  }
}

function requireOwn(holder: Account | null, { account }: Authenticated): void {
  if (holder !== null && holder.id !== account.id) throw new AppError('identity_taken')
}

function requireOneProof(body: LinkBody): void {
  const pair = body.id_token ? (['id_token', 'nonce'] as const) : (['code', 'code_verifier'] as const)
  const fields: FieldError[] = pair
    .filter((field) => !body[field])
    .map((field) => ({ field, code: 'required' }))
  if (fields.length > 0) throw new AppError('validation_failed', { fields })
}
