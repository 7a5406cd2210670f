/** The linked identities of somebody who is signed in: listing, linking, unlinking, but never the last sign-in method. */

import { AppError, type FieldError } from '../../../errors.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import type { Authenticated } from '../../sessions/sessions/authentication.ts'
import type { OwnerProof, Reauthentication } from '../sign-in/reauthentication.ts'
import type { LinkedIdentity, ProvedIdentity } from './identity.ts'
import type { IdentityProofs } from './proof.ts'
import type { IdentityResolver } from './resolver.ts'
import type { IdentityStore } from './store.ts'

type Optional = string | null | undefined

/** Either `code` and `code_verifier` of a browser flow, or `id_token` and `nonce` of a native one. */
export interface LinkBody extends OwnerProof {
  code?: Optional
  code_verifier?: Optional
  id_token?: Optional
  nonce?: Optional
}

/** As clients see it. */
export interface IdentityRecord {
  provider: string
  provider_uid: string
  email: string | null
  created_at: string
}

interface Client {
  addressBucket: string
}

export interface IdentityService {
  list(signedIn: Authenticated): Promise<IdentityRecord[]>
  /**
   * Links an identity after reauthentication and returns the new list. Nothing changes if the account already has it.
   */
  link(signedIn: Authenticated, provider: string, body: LinkBody, client: Client): Promise<IdentityRecord[]>
  /** Unlinks the provider's identities after reauthentication and returns the new list. */
  unlink(
    signedIn: Authenticated,
    provider: string,
    proof: OwnerProof,
    client: Client,
  ): Promise<IdentityRecord[]>
}

interface Needs {
  identityResolver: IdentityResolver
  identityProofs: IdentityProofs
  providers: ProviderService
  reauthentication: Reauthentication
  stores: { identities: IdentityStore }
}

export function createIdentityService(needs: Needs): IdentityService {
  const { identityResolver, identityProofs, providers, reauthentication } = needs
  const store = needs.stores.identities

  async function prove(provider: string, body: LinkBody): Promise<ProvedIdentity> {
    const { code, code_verifier, id_token, nonce } = body
    if (id_token) return identityProofs.takeIdToken(provider, id_token, nonce ?? '')
    const identity = await identityProofs.takeCode(code ?? '', code_verifier ?? '')
    if (identity.provider !== provider) throw new AppError('invalid_code')
    return identity
  }

  const list = async ({ account }: Authenticated) => (await store.list(account.id)).map(record)

  return {
    list,
    async link(signedIn, provider, body, client) {
      providers.get(provider)
      requireOneProof(body)
      await reauthentication.require(signedIn, body, client)
      const identity = await prove(provider, body)
      if (!(await identityResolver.link(signedIn, identity))) {
        const holder = await store.findAccount(identity)
        if (holder === null) throw new AppError('invalid_token', { cause: 'account changed' })
        if (holder.id !== signedIn.account.id) throw new AppError('identity_taken')
      }
      return list(signedIn)
    },
    async unlink(signedIn, provider, proof, client) {
      const admit = async () => {
        const held = await store.list(signedIn.account.id)
        if (!held.some((identity) => identity.provider === provider)) throw new AppError('identity_not_found')
      }
      await reauthentication.require(signedIn, proof, client, { admit })
      const outcome = await identityResolver.unlink(signedIn, provider)
      if (outcome === 'session_over') throw new AppError('invalid_token', { cause: outcome })
      if (outcome === 'not_found') throw new AppError('identity_not_found')
      if (outcome === 'last_sign_in_method') throw new AppError('last_sign_in_method')
      return list(signedIn)
    },
  }
}

function record({ provider, subject, email, createdAt }: LinkedIdentity): IdentityRecord {
  return { provider, provider_uid: subject, email, created_at: createdAt.toISOString() }
}

function requireOneProof(body: LinkBody): void {
  const pair = body.id_token ? (['id_token', 'nonce'] as const) : (['code', 'code_verifier'] as const)
  const fields: FieldError[] = pair
    .filter((field) => !body[field])
    .map((field) => ({ field, code: 'required' }))
  if (fields.length > 0) throw new AppError('validation_failed', { fields })
}
