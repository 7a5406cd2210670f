/** `poterne restore FILE`: puts the data of a backup into the configured database, all of it or nothing. */
import { Command } from 'commander'
import { type Restored, restore } from '../../compose/restore.ts'
import type { Config } from '../../platform/config/types.ts'
import { BackupRefused } from '../../storage/backup/refused.ts'
import { type BackupKeyOptions, keysFor, passphraseFileOption, secretFileOption } from './backup-keys.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson } from './print.ts'
import { abortable, createProgressBar } from './progress.ts'
import { asOperator, confirm } from './service-call.ts'

type Options = CommandOptions &
  BackupKeyOptions & {
    replace?: boolean
    keepSessions?: boolean
    json?: boolean
    yes?: boolean
  }

export function restoreCommand(): Command {
  return new Command('restore')
    .description('load a backup into the configured database, while no poterne runs')
    .argument('<file>', 'a file that `poterne backup` wrote')
    .option(...configOption)
    .option('--replace', 'replace the accounts that the database already has')
    .option('--keep-sessions', 'keep the sessions of the backup, so that nobody has to sign in again')
    .option(...secretFileOption)
    .option(...passphraseFileOption)
    .action(restoreFile)
}

async function restoreFile(file: string, options: Options): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const { keys, givenSecret } = keysFor(config, options)
  const bar = createProgressBar()
  try {
    const restored = await abortable((signal) =>
      asOperator(() =>
        restore({
          ...{ config, file, keys, givenSecret, signal },
          replace: options.replace === true,
          keepSessions: options.keepSessions === true,
          now: new Date(),
          onProgress: bar.show,
          approve: ({ accounts, newestAt, backupMadeAt }) => {
            bar.end()
            return confirm(
              `${accounts} accounts, the newest of ${newestAt.toISOString()}, are replaced by the backup of ${backupMadeAt}. Replace them?`,
              options.yes,
            )
          },
        }),
      ),
    )
    bar.end()
    if (options.json) printJson(restored)
    else report(restored, config, options)
  } catch (error) {
    bar.end()
    if (error instanceof BackupRefused) throw new CommandFailure(1, error.describe(file))
    throw error
  }
}

const keysSentence = {
  backup: 'The keys of codes and known devices are those of the backup.',
  replaced: 'The keys of codes and known devices are those of the database that was replaced.',
  fresh:
    'The server secret of the backup is not accepted any more: signing keys and the keys of codes and known devices are made anew.',
}

function report(restored: Restored, { redis }: Config, { keepSessions }: Options): void {
  const { rows, backupMadeAt, erased, revokedKeys, revokedTokens, administrators, locked } = restored
  const { endedSessions, droppedMessages, lost } = restored
  const lines = [
    `${rows} rows as they were at ${backupMadeAt} are restored.`,
    keepSessions
      ? `Sessions of that time are kept; ${endedSessions} that ended since are ended.`
      : `${endedSessions} sessions were ended: everybody signs in again.`,
    ...(droppedMessages > 0 ? [`${droppedMessages} messages that waited at that time are not sent.`] : []),
    ...(restored.sealedAnew > 0
      ? [`${restored.sealedAnew} rows were sealed anew, under the server secret of now.`]
      : []),
    ...lost.map(
      (each) => `${each.lost} ${each.name.replace('_', ' ')} open under none of the known secrets.`,
    ),
    restored.knewLater
      ? `Applied again from the database that was replaced: ${erased.length} erasures, ${revokedKeys.length} withdrawn keys, ${locked.length} locks, ${revokedTokens.length} revoked tokens, ${administrators.length} changes of administrators.`
      : `Not known: erasures, revoked keys and locks since ${backupMadeAt}, revoked tokens and removed administrators. Apply them again (poterne accounts erase, keys revoke, accounts lock, tokens revoke, admins remove).`,
    ...(restored.knewLater && !restored.knewErasures
      ? [
          `Not known: whether more people were erased since ${backupMadeAt}; the replaced database had forgotten older erasures.`,
        ]
      : []),
    keysSentence[restored.lastingKeys],
    `Not known: what people changed since ${backupMadeAt}. Passwords, contacts and second factors are those of that time.`,
    ...(redis.urls.length > 0
      ? ['Empty Redis before poterne starts: its codes and counters are of later.']
      : []),
  ]
  print(`${lines.join('\n')}\n`)
}
