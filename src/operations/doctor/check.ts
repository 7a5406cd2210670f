/** A check of `poterne doctor`: it has a name, looks at one thing, and says what it found and what to do. */

import type { Resolver } from 'node:dns/promises'
import type { TokenStore } from '../../administration/api-tokens/store.ts'
import type { ProviderService } from '../../domain/credentials/providers/service.ts'
import type { Secrets } from '../../domain/credentials/secrets/service.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import type { TestIdentities } from '../../domain/foundation/test-identities/service.ts'
import type { KeyStore } from '../../domain/sessions/tokens/key-store.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Network } from '../../platform/guarded-fetch.ts'
import type { Arrival } from '../../platform/http/address-probes.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { RedisConnection } from '../../platform/redis/connection.ts'
import type { BackupStore } from '../backups/store.ts'
import type { Webhooks } from '../webhooks/service.ts'

export const levels = ['ok', 'warning', 'failure'] as const
type Level = (typeof levels)[number]

export interface Finding {
  level: Level
  /** One line: what was found and, unless that is well, what to do. Holds no secret. */
  message: string
}

export interface NamedFinding extends Finding {
  name: string
}

/** A finding about one of several things of a kind, with the key that names it in the configuration. */
export interface KeyedFinding extends Finding {
  key: string
}

export const ok = (message: string): Finding => ({ level: 'ok', message })
export const warning = (message: string): Finding => ({ level: 'warning', message })
export const failure = (message: string): Finding => ({ level: 'failure', message })

/** Joins the findings about several things of one kind: the worst decides, and all that are as bad are named. */
export function worstOf(findings: Finding[], none: Finding): Finding {
  const level = levels.findLast((each) => findings.some((finding) => finding.level === each))
  if (level === undefined) return none
  const worst = findings.filter((finding) => finding.level === level)
  return { level, message: worst.map(({ message }) => message).join('; ') }
}

/** Joins the findings about several things of one kind, all of which are named: the worst first, which decides. */
export function allOf(findings: Finding[], none: Finding): Finding {
  const sorted = findings.toSorted((a, b) => levels.indexOf(b.level) - levels.indexOf(a.level))
  const [worst] = sorted
  return worst ? { level: worst.level, message: sorted.map(({ message }) => message).join('; ') } : none
}

/** The tools of a look at the database alone, which need not be migrated. */
export interface DatabaseContext extends Pick<Ground, 'clock' | 'config'> {
  database: Database
}

/** The tools of a look at Redis alone. */
export interface RedisContext extends Pick<Ground, 'config'> {
  redis: RedisConnection | null
}

/** The tools of a look into the stores. Only the service that runs has it if the database is embedded. */
export interface StoreContext extends DatabaseContext, RedisContext, Pick<Ground, 'secret'> {
  stores: {
    signingKeys: KeyStore
    identityKeys: KeyStore
    backups: BackupStore
    events: Pick<EventStore, 'list'>
    administrationTokens: Pick<TokenStore, 'list'>
  }
  secrets: Pick<Secrets, 'status'>
  testIdentities: Pick<TestIdentities, 'list'>
  webhooks: Pick<Webhooks, 'list'>
}

/** The service that runs, by its socket. */
export interface RunningService {
  /** Begins to expect a request with that mark; `readProbe` says how it arrived, or null while it did not. */
  startProbe(): Promise<string>
  readProbe(mark: string): Promise<Arrival | null>
}

export interface SecretFile {
  path: string
  isOpenToOthers: boolean
}

/** The tools of a look from this machine at everything else. */
export interface OutsideContext extends Pick<Ground, 'clock' | 'config'> {
  /** The file of the configuration, and those that it names for itself. */
  configFile: string | null
  configWarnings: string[]
  /** Files that hold secrets: the configuration where one stands in it, and those that variables name. */
  secretFiles: SecretFile[]
  /** It is null if no service of this configuration runs on this machine. */
  service: RunningService | null
  /** The keys that the stores publish; null where they could not be asked. */
  publishedKeys: string[] | null
  resolver: Pick<Resolver, 'resolveTxt'>
  network: Network
  providers: ProviderService
}

interface CheckOf<Where extends string, Context> {
  name: string
  where: Where
  after?: string
  run(context: Context): Finding | Promise<Finding>
}

export type Check =
  | CheckOf<'database', DatabaseContext>
  | CheckOf<'redis', RedisContext>
  | CheckOf<'stores', StoreContext>
  | CheckOf<'here', OutsideContext>
