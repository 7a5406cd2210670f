/**
 * THE list of what `poterne doctor` looks at, in the order in which it prints. A check of the stores runs where the stores
 * are open: in the service that runs, if the database is embedded. With `after`, a check is left out where that one failed.
 */
import type { Check } from './check.ts'
import {
  checkClock,
  checkConnections,
  checkDatabase,
  checkDisk,
  checkEncoding,
  checkMigrations,
  checkPostgresVersion,
  checkRights,
  checkUpkeep,
} from './database-checks.ts'
import {
  checkConfiguration,
  checkDataDirectory,
  checkHashTime,
  checkMemory,
  checkSecretFiles,
  checkVerifier,
} from './machine-checks.ts'
import { checkDkim, checkDmarc, checkMailSender, checkMailServer, checkSpf } from './mail-checks.ts'
import {
  checkBaseUrl,
  checkForwardedFor,
  checkGateways,
  checkPagesReach,
  checkPasskeyFiles,
  checkProviders,
} from './reach-checks.ts'
import {
  checkEviction,
  checkPersistence,
  checkRedis,
  checkRedisClock,
  checkRedisVersion,
} from './redis-checks.ts'
import {
  checkBackup,
  checkClaims,
  checkMadeLater,
  checkSealedRows,
  checkSigningKey,
  checkTestIdentities,
  checkWaysIn,
} from './stored-checks.ts'
import { checkSmsTexts } from './text-checks.ts'

export const checks: Check[] = [
  { name: 'configuration', where: 'here', run: checkConfiguration },
  { name: 'secret-files', where: 'here', run: checkSecretFiles },
  { name: 'data-directory', where: 'here', run: checkDataDirectory },
  { name: 'memory', where: 'here', run: checkMemory },
  { name: 'hash-time', where: 'here', run: checkHashTime },
  { name: 'hash-verifier', where: 'here', run: checkVerifier },

  { name: 'database', where: 'stores', run: checkDatabase },
  { name: 'database-version', where: 'stores', after: 'database', run: checkPostgresVersion },
  { name: 'database-encoding', where: 'stores', after: 'database', run: checkEncoding },
  { name: 'database-rights', where: 'stores', after: 'database', run: checkRights },
  { name: 'database-connections', where: 'stores', after: 'database', run: checkConnections },
  { name: 'database-clock', where: 'stores', after: 'database', run: checkClock },
  { name: 'migrations', where: 'stores', after: 'database', run: checkMigrations },
  { name: 'disk', where: 'stores', after: 'database', run: checkDisk },
  { name: 'upkeep', where: 'stores', after: 'database', run: checkUpkeep },

  { name: 'redis', where: 'stores', run: checkRedis },
  { name: 'redis-version', where: 'stores', after: 'redis', run: checkRedisVersion },
  { name: 'redis-eviction', where: 'stores', after: 'redis', run: checkEviction },
  { name: 'redis-persistence', where: 'stores', after: 'redis', run: checkPersistence },
  { name: 'redis-clock', where: 'stores', after: 'redis', run: checkRedisClock },

  { name: 'sealed-rows', where: 'stores', after: 'database', run: checkSealedRows },
  { name: 'signing-key', where: 'stores', after: 'database', run: checkSigningKey },
  { name: 'future-dates', where: 'stores', after: 'database', run: checkMadeLater },
  { name: 'claims', where: 'stores', after: 'database', run: checkClaims },
  { name: 'ways-in', where: 'stores', after: 'database', run: checkWaysIn },
  { name: 'test-identities', where: 'stores', after: 'database', run: checkTestIdentities },
  { name: 'backup', where: 'stores', after: 'database', run: checkBackup },

  { name: 'mail-server', where: 'here', run: checkMailServer },
  { name: 'mail-sender', where: 'here', after: 'mail-server', run: checkMailSender },
  { name: 'spf', where: 'here', run: checkSpf },
  { name: 'dmarc', where: 'here', run: checkDmarc },
  { name: 'dkim', where: 'here', run: checkDkim },
  { name: 'gateways', where: 'here', run: checkGateways },
  { name: 'sms-texts', where: 'here', run: checkSmsTexts },

  { name: 'base-url', where: 'here', run: checkBaseUrl },
  { name: 'forwarded-for', where: 'here', run: checkForwardedFor },
  { name: 'pages', where: 'here', run: checkPagesReach },
  { name: 'providers', where: 'here', run: checkProviders },
  { name: 'passkeys', where: 'here', run: checkPasskeyFiles },
]
