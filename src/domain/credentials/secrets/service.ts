/**
 * Changing the server secret while everything stays in use: keeps the lasting keys, seals anew what another secret sealed,
 * and says what still needs another one. Each replica notes every minute which secrets it has, so that the others know.
 */

import { randomBytes } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { type AcceptedSecret, type LastingLabel, lastingLabels } from '../../../platform/secret.ts'
import { together } from '../../../platform/waiting.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import type { SessionStore } from '../../sessions/core/store.ts'
import type { AllKeys } from '../../sessions/tokens/all-keys.ts'
import type { Authenticators } from '../authenticators/service.ts'
import {
  LASTING_KEY,
  type SealedTable,
  type SealedTableStores,
  SIGNING_KEY,
  sealedTablesOf,
} from './sealed-tables.ts'
import type { SealedLastingKey, SecretUse } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'logger' | 'secret'> {
  allKeys: AllKeys
  authenticators: Authenticators
  database: Pick<Database, 'kind'>
  metrics?: Pick<Metrics, 'count'>
  stores: SealedTableStores & { sessions: SessionStore }
}

const MINUTE_MS = 60_000
/** A replica that said nothing for so long does not run any more. */
const SILENT_MS = 2 * MINUTE_MS
/**
 * Rows that live shorter than this are not counted: enrolments of an app, sign-ins through a provider, passkey
 * challenges.
 */
const UNDER_WAY_MS = 35 * MINUTE_MS
const CLAIM_MS = 50_000
/** It rests for so long once nothing was left to seal anew. */
const REST_MS = 60 * MINUTE_MS
const ENDED_AT_ONCE = 1000

export type Secrets = ReturnType<typeof createSecrets>

export function createSecrets(needs: Needs) {
  const { secret, clock, logger, database, stores, metrics = noMetrics } = needs
  const store = stores.secrets
  const sealedTables = sealedTablesOf(stores)
  const me = { current: secret.current.id, accepted: secret.accepted.map(({ id }) => id) }
  let timer: Timer | undefined
  let ending = false
  let restsUntilMs = Number.NEGATIVE_INFINITY
  /** It is null if this process only asks. */
  let startedAt: Date | null = null
  let hasWarned = false
  /** The secret that sealed the newest signing key when the lasting keys were read, and that made names until now. */
  let inUse: AcceptedSecret | 'new' | null = null
  let read: Awaited<ReturnType<typeof readLastingKeys>> | null = null

  async function readLastingKeys() {
    const opened = new Map<LastingLabel, Buffer>()
    const lost: SealedLastingKey[] = []
    for (const stored of await store.listLastingKeys()) {
      const key = secret.tryToOpen(LASTING_KEY, stored.sealedKey)
      if (key) opened.set(stored.label, key.bytes)
      else lost.push(stored)
    }
    secret.useLastingKeys(opened)
    return { opened, lost }
  }

  async function findInUse(): Promise<AcceptedSecret | 'new' | null> {
    const newest = (await stores.signingKeys.list()).at(-1)
    if (!newest) return 'new'
    return secret.tryToOpen(SIGNING_KEY, newest.sealedPrivateJwk)?.sealedBy ?? null
  }

  /**
   * Older versions derived these keys from the server secret, and rows were named by them: those keys stay. A new database
   * gets random ones, and so does one whose keys are lost, where the names have no meaning any more.
   */
  async function completeLastingKeys(): Promise<void> {
    const { opened, lost } = read ?? (await readLastingKeys())
    for (const { label } of lost) {
      metrics.count('unreadable_rows_total', { kind: 'lasting_key' })
      logger.error({ label }, 'a lasting key opens under no accepted server secret, and is made anew')
    }
    const missing = lastingLabels.filter((label) => !opened.has(label))
    if (missing.length === 0) return
    const keys = missing.map((label) => {
      const instead = lost.find((each) => each.label === label)?.sealedKey ?? null
      const source = inUse === null || inUse === 'new' || instead !== null ? null : inUse
      const key = source?.keyOf(label) ?? randomBytes(32)
      return { label, sealedKey: secret.seal(LASTING_KEY, key), instead }
    })
    await store.putLastingKeys(keys)
    // Another replica may have been faster.
    if ((await readLastingKeys()).lost.length > 0) throw new Error(REPLACED)
  }

  /** Tells whether a replica may still do so now. The embedded database has no other one. */
  const isRecent = (at: Date | null) =>
    database.kind !== 'embedded' && at !== null && clock.now().getTime() - at.getTime() < SILENT_MS

  async function sealTable(sealedTable: SealedTable): Promise<number> {
    let count = 0
    for await (const rows of sealedTable.pages()) {
      for (const { label, box, replace } of rows) {
        const opened = secret.tryToOpen(label, box)
        if (opened === null || opened.sealedBy === secret.current) continue
        await replace(secret.seal(label, opened.bytes))
        count++
      }
      if (ending) break
    }
    return count
  }

  /** Once, until it is accepted. */
  function warnOfMissing(uses: SecretUse[]): void {
    const isMissing = isRecent(uses.find(({ id }) => id === me.current)?.missingAt ?? null)
    if (isMissing && !hasWarned)
      logger.warn(
        { secret: me.current },
        'a replica does not accept server.secret of this one, and signs out whoever it gave a session: add it to server.previous_secrets there',
      )
    hasWarned = isMissing
  }

  async function sealAnew(): Promise<void> {
    const now = clock.now()
    if (secret.accepted.length === 1) return
    const uses = await store.listUses()
    warnOfMissing(uses)
    if (now.getTime() < restsUntilMs) return
    // Two replicas with different current secrets would undo each other's work.
    if (uses.some(({ id, currentAt }) => id !== me.current && isRecent(currentAt))) return
    if (!(await store.claimRound(me.current, new Date(now.getTime() + CLAIM_MS), now))) return
    let count = 0
    for (const sealedTable of sealedTables) count += await sealTable(sealedTable)
    if (count > 0) logger.info({ rows: count }, 'sealed anew under the present server secret')
    else restsUntilMs = now.getTime() + REST_MS
  }

  const run = together(() =>
    store
      .noteUse(me, clock.now())
      .then(sealAnew)
      .catch(() => logger.warn('the use of the server secrets could not be noted')),
  )

  return {
    /** Reads the lasting keys. It runs before the first request, and before a command does anything. */
    async load(): Promise<void> {
      // One after the other, here and at all of the start: a question takes less time than another connection.
      inUse = await findInUse()
      read = await readLastingKeys()
    },
    /**
     * Makes the lasting keys that are missing, or that open no more; then notes the secrets of this process and seals
     * anew every minute. It is called once the signing keys were opened: a service with a wrong secret must replace
     * nothing.
     */
    async start(): Promise<void> {
      await completeLastingKeys()
      startedAt = clock.now()
      await store.noteUse(me, startedAt)
      timer = setInterval(run, MINUTE_MS)
      timer.unref()
    },
    /**
     * Notes the secrets of this process, and seals rows anew if no replica seals under another secret. Runs by itself every
     * minute after `start`. Never throws.
     */
    run,
    status: createStatus(needs, { me, isRecent, sealedTables, startedAt: () => startedAt }),
    revoke: () => revoke(needs),
    /** Tells, after `load`, whether a lasting key opens under an accepted secret. */
    opensLasting: (): boolean => (read?.opened.size ?? 0) > 0,
    /** Tells whether the newest signing key opens under an accepted secret. */
    opensKeys: async (): Promise<boolean> => (await findInUse()) !== null,
    async close(): Promise<void> {
      ending = true
      clearInterval(timer)
      await run.underWay()
    },
  }
}

interface StatusNeeds {
  me: { current: string; accepted: string[] }
  sealedTables: readonly SealedTable[]
  isRecent(at: Date | null): boolean
  /** It is null if this process only asks. */
  startedAt(): Date | null
}

/** Says what still needs another secret than the present one. */
function createStatus(
  { secret, clock, stores }: Needs,
  { me, sealedTables, isRecent, startedAt }: StatusNeeds,
) {
  async function statusOf(
    { id }: AcceptedSecret,
    uses: SecretUse[],
    rows: Record<SealedTable['name'], number>,
  ) {
    const now = clock.now()
    const use = uses.find((each) => each.id === id)
    const isCurrentElsewhere = isRecent(use?.currentAt ?? null)
    // An operator who changed the secret together with the first version that notes its use left no note of the one
    // before.
    const since = uses.find((each) => each.id === me.current)?.currentSince ?? now
    const until = new Date(Math.max(use?.currentAt?.getTime() ?? 0, since.getTime()) + SILENT_MS)
    const wasCurrent = use === undefined || use.currentAt !== null || hasAny(rows)
    // The others say every minute what they accept: those that have not since this one started may not accept it.
    const haveAllSaid = startedAt() === null || !isRecent(startedAt())
    const { count, lastEnd } = wasCurrent
      ? await stores.sessions.countUnrefreshed(until, now)
      : { count: 0, lastEnd: null }
    const underWay = wasCurrent ? until.getTime() + UNDER_WAY_MS : now.getTime()
    const removableAt = new Date(Math.max(lastEnd?.getTime() ?? 0, underWay, now.getTime()))
    return {
      id,
      /** Every replica that runs accepts it. It is false also while a replica may not have said so yet. */
      acceptedEverywhere: haveAllSaid && !isRecent(use?.missingAt ?? null),
      /** It sealed and signed before; a fresh secret, which is only accepted yet, did not. */
      wasCurrent,
      /** A replica that runs seals and signs with it, or did until a moment ago. */
      isCurrentElsewhere,
      /** Rows that are sealed under it, by what they hold. */
      rows,
      /** Sessions that live and were not refreshed since it was the current one. */
      sessions: count,
      /** It may be removed from what is accepted then; null while rows are sealed under it, or a replica uses it. */
      removableAt: hasAny(rows) || isCurrentElsewhere ? null : removableAt,
    }
  }

  async function countRows() {
    const none = () => ({ signing_keys: 0, authenticator_apps: 0, lasting_keys: 0 })
    const byId = new Map(me.accepted.map((id) => [id, none()]))
    let lost = 0
    for (const sealedTable of sealedTables) {
      for await (const rows of sealedTable.pages()) {
        for (const { label, box } of rows) {
          const sealedBy = secret.tryToOpen(label, box)?.sealedBy.id
          if (sealedBy === undefined) lost++
          else byId.get(sealedBy)![sealedTable.name]++
        }
      }
    }
    return { byId, lost }
  }

  /** The secret that seals and signs here, the other accepted ones, the rows that open under none, and if any does. */
  async function status() {
    const { byId, lost } = await countRows()
    const uses = await stores.secrets.listUses()
    const previous = []
    for (const each of secret.accepted.slice(1)) previous.push(await statusOf(each, uses, byId.get(each.id)!))
    const openRows = [...byId.values()].some(hasAny)
    return { current: me.current, previous, lostRows: lost, openRows }
  }

  return status
}

/**
 * Called after a secret leaked. It ends every session, withdraws every signing key, and replaces the lasting keys, so
 * that codes on their way are dead too. Authenticator apps that no accepted secret opens stay lost.
 */
async function revoke({
  secret,
  clock,
  allKeys,
  authenticators,
  stores,
}: Needs): Promise<{ sessions: number; apps: number }> {
  const old = await allKeys.list()
  await allKeys.rotate({ atOnce: true })
  for (const { kid } of old) await allKeys.revoke(kid)
  for (const { label, sealedKey } of await stores.secrets.listLastingKeys()) {
    await stores.secrets.putLastingKey(
      { label, sealedKey: secret.seal(LASTING_KEY, randomBytes(32)) },
      sealedKey,
    )
  }
  let sessions = 0
  let after: string | null = null
  do {
    const { ended, last } = await stores.sessions.endEverybodys(after, ENDED_AT_ONCE, clock.now())
    sessions += ended
    after = last
  } while (after !== null)
  return { sessions, apps: await authenticators.countLost() }
}

const hasAny = (rows: Record<string, number>) => Object.values(rows).some((count) => count > 0)

const REPLACED = 'another replica replaced the lasting keys under a server.secret that is not accepted here'
