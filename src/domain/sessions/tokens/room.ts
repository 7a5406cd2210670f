/** The signing keys, and the two tokens of a session. */
import type { Services, Stores } from '../../services.ts'
import { createAccessTokenService } from './access-token.ts'
import { createKeyService } from './key-service.ts'
import { createRefreshTokens } from './refresh-token.ts'

type Needs = Pick<Services, 'secret' | 'clock' | 'logger' | 'config'> & {
  stores: Pick<Stores, 'signingKeys'>
}

export function createTokens({ stores, secret, clock, logger, config }: Needs) {
  const { accessLifetimeSeconds, audience } = config.tokens
  const keys = createKeyService({
    store: stores.signingKeys,
    secret,
    clock,
    accessLifetimeSeconds,
    onRefreshFailure: () => logger.warn('the signing keys could not be read again'),
  })
  const accessTokens = createAccessTokenService({
    keys,
    clock,
    issuer: config.server.baseUrl,
    audience,
    lifetimeSeconds: accessLifetimeSeconds,
  })
  return { keys, accessTokens, refreshTokens: createRefreshTokens(secret) }
}
