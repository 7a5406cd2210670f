/** What is done to a restored database before anybody sees it. Everything runs in the transaction of the restore. */
import type { Executor } from '../../../platform/postgres/database.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { type Vault, type VaultStores, vaultsOf } from '../../credentials/secrets/vaults.ts'
import * as statements from './restore-sql.ts'

/** What the replaced database knows and a backup of earlier cannot know. */
export interface LaterKnowledge {
  erased: string[]
  revokedKeys: string[]
  revokedTokens: string[]
  administrators: AdministratorChange[]
  locked: { uuid: string; locked_at: Date | null; locked_reason: string | null }[]
  endedSessions: string[]
  /** The ids of the recovery codes, invitations and removals of two factors that are open. */
  open: string[]
}

/** Without a role: an administrator no longer. */
export interface AdministratorChange {
  uuid: string
  role: string | null
}

/** `since`: when the backup was made. */
export async function readLaterKnowledge(replaced: Executor, since: Date): Promise<LaterKnowledge> {
  const [erased, keys, tokens, administrators, locked, ended, open] = [
    await replaced.all(statements.findErased, {}),
    await replaced.all(statements.findRevokedKeys, {}),
    await replaced.all(statements.findRevokedTokens, {}),
    await replaced.all(statements.findAdministratorChanges, {}),
    await replaced.all(statements.findLocked, {}),
    await replaced.all(statements.findEndedSessions, { since }),
    await replaced.all(statements.findOpen, {}),
  ]
  return {
    erased: erased.map(({ account }) => account),
    revokedKeys: keys.flatMap(({ kid }) => kid ?? []),
    revokedTokens: tokens.map(({ uuid }) => uuid),
    administrators,
    locked: locked.map(({ uuid, lockedAt, lockedReason }) => ({
      ...{ uuid, locked_at: lockedAt, locked_reason: lockedReason },
    })),
    endedSessions: ended.map(({ id }) => id),
    open: open.map(({ id }) => id),
  }
}

export interface Cleansed {
  erased: string[]
  revokedKeys: string[]
  revokedTokens: string[]
  administrators: AdministratorChange[]
  locked: string[]
  endedSessions: number
  droppedMessages: number
}

const nothingLater: LaterKnowledge = {
  erased: [],
  revokedKeys: [],
  revokedTokens: [],
  administrators: [],
  locked: [],
  endedSessions: [],
  open: [],
}

/** `knowledge` null: there was no database before, or none that this version can read. */
export async function cleanse(
  restored: Executor,
  knowledge: LaterKnowledge | null,
  { keepSessions, now }: { keepSessions: boolean; now: Date },
): Promise<Cleansed> {
  const { erased, revokedKeys, revokedTokens, administrators, locked, endedSessions, open } =
    knowledge ?? nothingLater
  const gone = await restored.all(statements.eraseAgain, { uuids: JSON.stringify(erased) })
  const revoked = await restored.all(statements.revokeKeysAgain, { kids: JSON.stringify(revokedKeys) })
  const tokens = await restored.all(statements.revokeTokensAgain, {
    uuids: JSON.stringify(revokedTokens),
    now,
  })
  const changed = await restored.all(statements.changeAdministratorsAgain, {
    changes: JSON.stringify(administrators),
  })
  const lockedAgain = await restored.all(statements.lockAgain, { locks: JSON.stringify(locked), now })
  const ids = keepSessions ? JSON.stringify(endedSessions) : null
  const ended = await restored.first(statements.endSessionsAgain, { ids, now })
  const underWay = await restored.first(statements.forgetUnderWay, { open: JSON.stringify(open) })
  return {
    erased: gone.map(({ uuid }) => uuid),
    revokedKeys: revoked.map(({ kid }) => kid),
    revokedTokens: tokens.map(({ uuid }) => uuid),
    administrators: changed,
    locked: lockedAgain.map(({ uuid }) => uuid),
    endedSessions: ended!.count,
    droppedMessages: underWay!.messages,
  }
}

export interface SealedCount {
  /** As `poterne secret status` calls them. */
  name: Vault['name']
  opened: number
  sealedAnew: number
  /** They did not open when they were backed up, either, and stay as they are. */
  lost: number
}

/** Opens everything that is sealed, and seals anew, under the current secret, what another one sealed than those `kept`. */
export async function openSealedRows(
  stores: VaultStores,
  secret: ServerSecret,
  kept: ReadonlySet<string>,
): Promise<SealedCount[]> {
  const counts: SealedCount[] = []
  for (const vault of vaultsOf(stores)) {
    const count = { name: vault.name, opened: 0, sealedAnew: 0, lost: 0 }
    for await (const rows of vault.pages()) {
      for (const { label, box, replace } of rows) {
        const opened = secret.tryToOpen(label, box)
        if (opened === null) count.lost += 1
        else count.opened += 1
        if (opened === null || kept.has(opened.sealedBy.id)) continue
        await replace(secret.seal(label, opened.bytes))
        count.sealedAnew += 1
      }
    }
    counts.push(count)
  }
  return counts
}
