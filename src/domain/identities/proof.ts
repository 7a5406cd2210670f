/**
 * How a client shows that a person has just signed in at a provider: by the one-time code that a browser flow ends
 * with, or by the identity token of a native app. Each counts once.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { ProviderFailure } from '../providers/provider.ts'
import type { Services, Stores } from '../services.ts'
import type { ProvedIdentity } from './identity.ts'

export interface IdentityProofs {
  /** A code that lives for 60 s, for the client that holds the verifier of this S256 challenge (RFC 7636). */
  issueCode(identity: ProvedIdentity, codeChallenge: string): Promise<string>
  /** A code that is tried is spent. Throws `invalid_code`, `provider_not_found` (disabled meanwhile). */
  takeCode(code: string, codeVerifier: string): Promise<ProvedIdentity>
  /** Throws `invalid_token`, also for one that was brought before, `provider_not_found`, `provider_unavailable`. */
  takeIdToken(provider: string, idToken: string, nonce: string): Promise<ProvedIdentity>
}

/** RFC 6749 4.1.2 asks for a short life, ten minutes at most. */
const CODE_LIFETIME_MS = 60_000

type Needs = Pick<Services, 'providers' | 'clock'> & { stores: Pick<Stores, 'tickets' | 'spentTokens'> }

const sha256 = (text: string) => createHash('sha256').update(text).digest()

export function createIdentityProofs({ stores, providers, clock }: Needs): IdentityProofs {
  const { tickets, spentTokens } = stores
  const codeKey = (code: string) => `social-code:${sha256(code).toString('base64url')}`
  return {
    async issueCode(identity, codeChallenge) {
      const code = randomBytes(32).toString('base64url')
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + CODE_LIFETIME_MS)
      await tickets.put(codeKey(code), { identity, codeChallenge }, expiresAt, now)
      return code
    },

    async takeCode(code, codeVerifier) {
      const ticket = await tickets.take(codeKey(code), clock.now())
      if (ticket === null) throw new AppError('invalid_code')
      const { identity, codeChallenge } = ticket as { identity: ProvedIdentity; codeChallenge: string }
      const expected = Buffer.from(codeChallenge, 'base64url')
      if (!timingSafeEqual(sha256(codeVerifier), expected)) throw new AppError('invalid_code')
      providers.get(identity.provider)
      return identity
    },

    async takeIdToken(name, idToken, nonce) {
      const provider = providers.get(name)
      if (provider.readIdToken === null) throw new AppError('provider_not_found')
      const { expiresAt, ...identity } = await provider.readIdToken(idToken, nonce).catch(toAppError)
      // What was signed, not the signature: some signatures have two spellings.
      const signed = sha256(idToken.slice(0, idToken.lastIndexOf('.')))
      if (!(await spentTokens.spend(signed, expiresAt))) {
        throw new AppError('invalid_token', { cause: 'identity token brought before' })
      }
      return { ...identity, provider: name }
    },
  }
}

function toAppError(error: unknown): never {
  if (!(error instanceof ProviderFailure)) throw error
  const code = error.reason === 'provider_unavailable' ? 'provider_unavailable' : 'invalid_token'
  throw new AppError(code, { cause: error.detail })
}
