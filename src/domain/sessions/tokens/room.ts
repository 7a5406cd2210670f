/** The signing keys, the two tokens of a session, and those that tell an application who signed in. */

import type { Ground } from '../../../platform/ground.ts'
import type { Roles } from '../../accounts/core/roles.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import type { TellOperator } from '../../messages/outbox/operator-notices.ts'
import { createAccessTokenService } from './access-token.ts'
import { createAccountClaims } from './account-claims.ts'
import { createAllKeys } from './all-keys.ts'
import { createApplicationTokens } from './application-token.ts'
import { createIdentityTokens, identityIssuer } from './identity-token.ts'
import { createKeyService } from './key-service.ts'
import type { KeyStore } from './key-store.ts'
import { createRefreshTokens } from './refresh-token.ts'

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger' | 'secret'> {
  roles: Roles
  events: GatheredEvents
  tellOperator: TellOperator
  metrics?: Pick<Metrics, 'count'>
  stores: { signingKeys: KeyStore; identityKeys: KeyStore }
}

export function createTokens(needs: Needs) {
  const { stores, secret, clock, logger, config, metrics = noMetrics } = needs
  const { accessLifetimeSeconds, audience } = config.tokens
  const keysIn = (store: KeyStore) =>
    createKeyService({
      store,
      secret,
      clock,
      accessLifetimeSeconds,
      onRefreshFailure: () => logger.warn('the signing keys could not be read again'),
      onUnreadable: (kid) => {
        metrics.count('unreadable_rows_total', { kind: 'signing_key' })
        logger.error({ kid }, 'a signing key opens under no accepted server secret')
      },
    })
  const keys = keysIn(stores.signingKeys)
  const identityKeys = keysIn(stores.identityKeys)
  const accessTokens = createAccessTokenService({
    keys,
    clock,
    issuer: config.server.baseUrl,
    audience,
    lifetimeSeconds: accessLifetimeSeconds,
  })
  return {
    /** Of access tokens. */
    keys,
    /** Of ID tokens and logout tokens. */
    identityKeys,
    allKeys: createAllKeys(keys, identityKeys),
    accessTokens,
    identityTokens: createIdentityTokens({
      keys: identityKeys,
      clock,
      issuer: identityIssuer(config),
      lifetimeSeconds: accessLifetimeSeconds,
    }),
    refreshTokens: createRefreshTokens(secret),
    applicationTokens: createApplicationTokens({ secret, clock, lifetimeSeconds: accessLifetimeSeconds }),
    accountClaims: createAccountClaims(needs),
  }
}
