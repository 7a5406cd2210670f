/** The changes to a restored database before anybody sees it. Everything runs in the transaction of the restore. */
import { randomBytes } from 'node:crypto'
import { findUsernameKey, keepUsernames } from '../../domain/accounts/core/usernames-sql.ts'
import {
  LASTING_KEY,
  type SealedTableStores,
  sealedTablesOf,
} from '../../domain/credentials/secrets/sealed-tables.ts'
import type { SecretStore } from '../../domain/credentials/secrets/store.ts'
import type { Executor } from '../../platform/postgres/database.ts'
import { lastingLabels, type ServerSecret } from '../../platform/secret.ts'
import * as statements from './restore-sql.ts'

/** The knowledge of the replaced database that an earlier backup cannot have. */
type LaterKnowledge = Awaited<ReturnType<typeof readLaterKnowledge>>
type Present = NonNullable<LaterKnowledge['present']>

/** `since`: when the backup was made. */
export async function readLaterKnowledge(
  replaced: Executor,
  secrets: Pick<SecretStore, 'listLastingKeys'>,
  since: Date,
) {
  const erased = await replaced.all(statements.findErased, {})
  const erasures = await replaced.first(statements.findErasuresSince, {})
  const keys = await replaced.all(statements.findRevokedKeys, {})
  const locked = await replaced.all(statements.findLocked, {})
  const ended = await replaced.all(statements.findEndedSessions, { since })
  const open = await replaced.all(statements.findOpen, {})
  const back = await replaced.first(statements.wentBack, { since })
  return {
    erased: erased.map(({ account }) => account),
    /** True if these are all erasures since the backup. */
    knowsErasures: erasures !== null && erasures.since <= since && !back!.found,
    revokedKeys: keys.flatMap(({ kid }) => kid ?? []),
    locked: locked.map(({ uuid, lockedAt, lockedReason }) => ({
      ...{ uuid, locked_at: lockedAt, locked_reason: lockedReason },
    })),
    endedSessions: ended.map(({ id }) => id),
    /** The ids of the recovery codes, invitations and removals of two factors that are open. */
    open: open.map(({ id }) => id),
    /**
     * Its rows, with which a backup of the same service is compared. It is null if it went back to before the backup
     * since.
     */
    present: back!.found
      ? null
      : {
          oldestAccounts: (await replaced.all(statements.findOldestAccounts, {})).map(({ uuid }) => uuid),
          signingKeys: (await replaced.all(statements.findSigningKeys, {})).map(({ kid }) => kid),
          tokens: (await replaced.all(statements.findTokens, {})).map(({ uuid }) => uuid),
          administrators: await replaced.all(statements.findAdministrators, {}),
          lastingKeys: await secrets.listLastingKeys(),
          /** The usernames that were ever given, and the key of their hashes. */
          usernames: await replaced.all(statements.findUsernames, {}),
          usernameKey: (await replaced.first(findUsernameKey, {}))?.key ?? null,
        },
  }
}

const nothingLater: LaterKnowledge = {
  erased: [],
  knowsErasures: false,
  revokedKeys: [],
  locked: [],
  endedSessions: [],
  open: [],
  present: null,
}

/** Null where the replaced database is of another service, or went back to before the backup. */
export async function presentOfSame(restored: Executor, knowledge: LaterKnowledge | null) {
  if (!knowledge?.present) return null
  const uuids = JSON.stringify([...knowledge.present.oldestAccounts, ...knowledge.erased])
  return (await restored.first(statements.hasOneOf, { uuids }))!.found ? knowledge.present : null
}

/** `knowledge` null: there was no database before, or none that this version can read. */
export async function cleanse(
  restored: Executor,
  knowledge: LaterKnowledge | null,
  { present, keepSessions, now }: { present: Present | null; keepSessions: boolean; now: Date },
) {
  const { erased, revokedKeys, locked, endedSessions, open } = knowledge ?? nothingLater
  const uuids = JSON.stringify(erased)
  const gone = await restored.all(statements.eraseAgain, { uuids })
  await restored.run(statements.keepErased, { uuids, now })
  const revoked = await restored.all(statements.revokeKeysAgain, { kids: JSON.stringify(revokedKeys) })
  const { otherKeys, tokens, changed } =
    present === null ? { otherKeys: [], tokens: [], changed: [] } : await takeAway(restored, { present, now })
  const lockedAgain = await restored.all(statements.lockAgain, { locks: JSON.stringify(locked), now })
  const ids = keepSessions ? JSON.stringify(endedSessions) : null
  const ended = await restored.first(statements.endSessionsAgain, { ids, now })
  const underWay = await restored.first(statements.forgetUnderWay, {
    open: JSON.stringify(open),
    keepTrust: keepSessions && present === null,
  })
  return {
    erased: gone.map(({ uuid }) => uuid),
    revokedKeys: [...revoked, ...otherKeys].map(({ kid }) => kid),
    revokedTokens: tokens.map(({ uuid }) => uuid),
    /** An administrator without a role is none any longer. */
    administrators: changed,
    locked: lockedAgain.map(({ uuid }) => uuid),
    endedSessions: ended!.count,
    droppedMessages: underWay!.messages,
  }
}

/** Signing keys, tokens and administrators that the replaced database no longer had; usernames that it kept stay kept. */
async function takeAway(restored: Executor, { present, now }: { present: Present; now: Date }) {
  const { signingKeys, tokens, administrators } = present
  await keepUsernames(restored, present)
  return {
    otherKeys: await restored.all(statements.revokeOtherKeys, { kids: JSON.stringify(signingKeys) }),
    tokens: await restored.all(statements.revokeOtherTokens, { uuids: JSON.stringify(tokens), now }),
    changed: await restored.all(statements.changeAdministratorsAgain, {
      present: JSON.stringify(administrators),
    }),
  }
}

type LastingKeysFrom = 'backup' | 'replaced' | 'fresh'

/**
 * The secret that sealed the backup may have leaked since: then the thief knows its keys. Those of the replaced
 * database stay, or fresh ones are made, and no signing key of the backup stays where the secret is not accepted.
 */
export async function chooseKeys(
  restored: Executor,
  {
    secrets,
    secret,
    present,
    kept,
    backupSecretId,
  }: {
    secrets: Pick<SecretStore, 'listLastingKeys' | 'putLastingKey'>
    secret: ServerSecret
    present: Present | null
    /** The ids of the secrets that are accepted from now on. */
    kept: ReadonlySet<string>
    backupSecretId: string
  },
): Promise<LastingKeysFrom> {
  const known = (present?.lastingKeys ?? []).flatMap(({ label, sealedKey }) => {
    const opened = secret.tryToOpen(LASTING_KEY, sealedKey)
    return opened === null || !kept.has(opened.sealedBy.id) ? [] : [{ label, key: opened.bytes }]
  })
  const from = known.length > 0 ? 'replaced' : kept.has(backupSecretId) ? 'backup' : 'fresh'
  if (from === 'backup') return from
  const keys = new Map(known.map(({ label, key }) => [label, key] as const))
  const before = new Map((await secrets.listLastingKeys()).map((each) => [each.label, each.sealedKey]))
  for (const label of lastingLabels) {
    const sealedKey = secret.seal(LASTING_KEY, keys.get(label) ?? randomBytes(32))
    await secrets.putLastingKey({ label, sealedKey }, before.get(label) ?? null)
  }
  if (from === 'fresh') await restored.all(statements.revokeOtherKeys, { kids: '[]' })
  return from
}

/** Opens everything that is sealed, and seals anew, under the current secret, what another one sealed than those `kept`. */
export async function openSealedRows(
  stores: SealedTableStores,
  secret: ServerSecret,
  kept: ReadonlySet<string>,
) {
  const counts = []
  for (const sealedTable of sealedTablesOf(stores)) {
    // Those that are lost did not open when they were backed up, either, and stay as they are.
    const count = { name: sealedTable.name, opened: 0, sealedAnew: 0, lost: 0 }
    for await (const rows of sealedTable.pages()) {
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
