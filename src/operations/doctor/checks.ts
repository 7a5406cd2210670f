/**
 * THE list of what `poterne doctor` looks at, in the order in which it prints. A check of the stores runs where the stores
 * are open: in the service that runs, if the database is embedded. Those of `database` and `redis` need that store alone, so
 * that `config check --connect` runs them too. With `after`, a check is left out where that one failed.
 */
import * as applications from './application-checks.ts'
import type { Check } from './check.ts'
import * as database from './database-checks.ts'
import * as machine from './machine-checks.ts'
import * as mail from './mail-checks.ts'
import * as reach from './reach-checks.ts'
import * as redis from './redis-checks.ts'
import * as stored from './stored-checks.ts'
import { checkSmsTexts } from './text-checks.ts'

export const checks: Check[] = [
  { name: 'configuration', where: 'here', run: machine.checkConfiguration },
  { name: 'secret-files', where: 'here', run: machine.checkSecretFiles },
  { name: 'data-directory', where: 'here', run: machine.checkDataDirectory },
  { name: 'memory', where: 'here', run: machine.checkMemory },
  { name: 'hash-time', where: 'here', run: machine.checkHashTime },
  { name: 'hash-verifier', where: 'here', run: machine.checkVerifier },

  { name: 'database', where: 'database', run: database.checkDatabase },
  { name: 'database-version', where: 'database', after: 'database', run: database.checkPostgresVersion },
  { name: 'database-encoding', where: 'database', after: 'database', run: database.checkEncoding },
  { name: 'database-rights', where: 'database', after: 'database', run: database.checkRights },
  { name: 'database-connections', where: 'database', after: 'database', run: database.checkConnections },
  { name: 'database-clock', where: 'database', after: 'database', run: database.checkClock },
  { name: 'migrations', where: 'database', after: 'database', run: database.checkMigrations },
  { name: 'disk', where: 'database', run: database.checkDisk },
  { name: 'upkeep', where: 'database', after: 'database', run: database.checkUpkeep },

  { name: 'redis', where: 'redis', run: redis.checkRedis },
  { name: 'redis-version', where: 'redis', after: 'redis', run: redis.checkRedisVersion },
  { name: 'redis-eviction', where: 'redis', after: 'redis', run: redis.checkEviction },
  { name: 'redis-persistence', where: 'redis', after: 'redis', run: redis.checkPersistence },
  { name: 'redis-clock', where: 'redis', after: 'redis', run: redis.checkRedisClock },

  { name: 'sealed-rows', where: 'stores', after: 'database', run: stored.checkSealedRows },
  { name: 'signing-key', where: 'stores', after: 'database', run: stored.checkSigningKey },
  { name: 'future-dates', where: 'stores', after: 'database', run: stored.checkMadeLater },
  { name: 'claims', where: 'stores', after: 'database', run: stored.checkClaims },
  { name: 'foreign-passwords', where: 'database', after: 'database', run: stored.checkForeignPasswords },
  { name: 'ways-in', where: 'database', after: 'database', run: stored.checkWaysIn },
  {
    name: 'application-groups',
    where: 'database',
    after: 'database',
    run: applications.checkApplicationGroups,
  },
  { name: 'test-identities', where: 'stores', after: 'database', run: stored.checkTestIdentities },
  { name: 'backup', where: 'stores', after: 'database', run: stored.checkBackup },
  { name: 'webhooks', where: 'stores', after: 'database', run: stored.checkWebhooks },
  { name: 'watching-tokens', where: 'stores', after: 'database', run: stored.checkWatchingTokens },
  { name: 'sms-prefixes', where: 'database', after: 'database', run: stored.checkSmsPrefixes },

  { name: 'mail-server', where: 'here', run: mail.checkMailServer },
  { name: 'mail-sender', where: 'here', after: 'mail-server', run: mail.checkMailSender },
  { name: 'spf', where: 'here', run: mail.checkSpf },
  { name: 'dmarc', where: 'here', run: mail.checkDmarc },
  { name: 'dkim', where: 'here', run: mail.checkDkim },
  { name: 'gateways', where: 'here', run: reach.checkGateways },
  { name: 'sms-texts', where: 'here', run: checkSmsTexts },

  { name: 'base-url', where: 'here', run: reach.checkBaseUrl },
  { name: 'forwarded-for', where: 'here', run: reach.checkForwardedFor },
  { name: 'pages', where: 'here', run: reach.checkPagesReach },
  { name: 'providers', where: 'here', run: reach.checkProviders },
  { name: 'applications', where: 'here', run: applications.checkApplications },
  { name: 'passkeys', where: 'here', run: reach.checkPasskeyFiles },
]
