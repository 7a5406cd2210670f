/**
 * A client proves that a person has just signed in at a provider. It has the one-time code at the end of a browser
 * flow, or the identity token of a native app. Each is accepted once.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { ProvedIdentity } from '../../credentials/providers/provider.ts'
import { ProviderFailure } from '../../credentials/providers/provider.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import type { TicketStore } from '../../foundation/tickets/store.ts'
import type { IdentityProof } from './identity-schema.ts'
import type { SpentTokenStore } from './spent-token-store.ts'

/** RFC 6749 4.1.2 recommends a short lifetime, at most ten minutes. */
const CODE_LIFETIME_MS = 60_000

interface Needs extends Pick<Ground, 'clock'> {
  providers: ProviderService
  stores: { tickets: TicketStore; spentTokens: SpentTokenStore }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

export type IdentityProofs = ReturnType<typeof createIdentityProofs>

export function createIdentityProofs({ stores, providers, clock }: Needs) {
  const { tickets, spentTokens } = stores
  const codeKey = (code: string) => `social-code:${sha256(code).toString('base64url')}`
  return {
    /** Creates a code that is valid for 60 s, for the client with the verifier of this S256 challenge (RFC 7636). */
    async issueCode(identity: ProvedIdentity, codeChallenge: string): Promise<string> {
      const code = randomBytes(32).toString('base64url')
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + CODE_LIFETIME_MS)
      await tickets.put(codeKey(code), { identity, codeChallenge }, expiresAt, now)
      return code
    },

    /** An attempt uses the code up. A provider that was disabled in the meantime is refused. */
    async takeCode(code: string, codeVerifier: string): Promise<ProvedIdentity> {
      const identity = identityIn(await tickets.take(codeKey(code), clock.now()), codeVerifier)
      if (identity === null) throw new AppError('invalid_code')
      providers.get(identity.provider)
      return identity
    },

    /** The identity that a call brings, while nothing is used up; null where it proves none. */
    async look(name: string, { code, code_verifier, id_token, nonce }: IdentityProof) {
      if (id_token) {
        const identity = await providers
          .get(name)
          .readIdToken?.(id_token, nonce ?? '')
          .catch(() => null)
        return identity ? { ...identity, provider: name } : null
      }
      return identityIn(await tickets.find(codeKey(code ?? ''), clock.now()), code_verifier ?? '')
    },

    /** A token that was used before is refused. */
    async takeIdToken(name: string, idToken: string, nonce: string): Promise<ProvedIdentity> {
      const provider = providers.get(name)
      if (provider.readIdToken === null) throw new AppError('provider_not_found')
      const { expiresAt, ...identity } = await provider.readIdToken(idToken, nonce).catch(toAppError)
      // The signed part, not the signature, because some signatures have two spellings.
      const signed = sha256(idToken.slice(0, idToken.lastIndexOf('.')))
      if (!(await spentTokens.spend(signed, expiresAt))) {
        throw new AppError('invalid_token', { cause: 'identity token brought before' })
      }
      return { ...identity, provider: name }
    },
  }
}

/** The identity for which a code was issued; null where the verifier is another client's. */
function identityIn(ticket: Record<string, unknown> | null, codeVerifier: string): ProvedIdentity | null {
  if (ticket === null) return null
  const { identity, codeChallenge } = ticket as { identity: ProvedIdentity; codeChallenge: string }
  const expected = Buffer.from(codeChallenge, 'base64url')
  return timingSafeEqual(sha256(codeVerifier), expected) ? identity : null
}

function toAppError(error: unknown): never {
  if (!(error instanceof ProviderFailure)) throw error
  const code = error.reason === 'provider_unavailable' ? 'provider_unavailable' : 'invalid_token'
  throw new AppError(code, { cause: error.detail })
}
