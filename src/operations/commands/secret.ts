/**
 * `poterne secret`: a fresh value for `server.secret`, 32 random bytes in hex. `rotate`, `status` and `revoke` change the
 * one of a service: without anybody noticing, or, where it leaked, with everybody signed out.
 */
import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { withService } from '../../compose/compose.ts'
import type { SecretStatusRecord } from '../../domain/credentials/secrets/routes.ts'
import type { Config } from '../../platform/config/types.ts'
import { prepareDataDirectory } from '../../platform/data-directory.ts'
import { previousFileIn, replaceSecretFile, rotateSecretFile } from '../../platform/secret-file.ts'
import { requireEmbedded } from '../../storage/embedded/embedded.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { type CommonOptions, jsonOption, yesOption } from './option-values.ts'
import { print, printJson, printResult } from './print.ts'
import { callService, confirm, type ServiceCallOptions, socketOption } from './service-call.ts'

export function secretCommand(): Command {
  const command = new Command('secret').description(
    'print a new server secret; rotate or revoke the present one',
  )
  command.option(...jsonOption).option(...yesOption)
  command.action((options: CommonOptions) => {
    const secret = randomBytes(32).toString('hex')
    printResult(options, { secret }, secret)
  })
  command
    .command('rotate')
    .description(
      'replace the secret in the data directory, and keep the earlier one beside it; nobody is signed out',
    )
    .option(...configOption)
    .action(rotate)
  command
    .command('status')
    .description('print which data still needs an earlier secret, and when that may be removed')
    .option(...configOption)
    .option(...socketOption)
    .action(status)
  command
    .command('revoke')
    .description(
      'replace a secret that leaked or was lost (server.secret of the configuration by hand before); everybody has to sign in and set up authenticator apps again',
    )
    .option(...configOption)
    .action(revoke)
  return command
}

const THREE_STEPS =
  'the secret is in the configuration: add a fresh one (`poterne secret`) to server.previous_secrets of every replica, ' +
  'then let it and server.secret change places, and remove the old one when `poterne secret status` says so; each ' +
  'step with a restart of every replica'

async function rotate({ json, ...options }: CommandOptions & CommonOptions): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const { dataDir } = config.storage
  if (config.server.secret !== null) throw new CommandFailure(2, THREE_STEPS)
  requireEmbedded(dataDir)
  prepareDataDirectory(dataDir)
  rotateSecretFile(dataDir)
  printResult(
    { json },
    { rotated: true, previous_file: previousFileIn(dataDir) },
    `The server secret is replaced; the one before is kept in ${previousFileIn(dataDir)}.\n` +
      'Restart poterne now. `poterne secret status` says when that file may be removed.',
  )
}

async function status({ json, ...options }: ServiceCallOptions & { json?: boolean }): Promise<void> {
  const { status: _, ...read } = await callService(options, (call) =>
    call<SecretStatusRecord>('GET', 'secret'),
  )
  if (json) return printJson(read)
  print(`${read.current}  seals and signs\n`)
  for (const each of read.previous) print(`${each.id}  ${describe(each)}\n`)
  if (read.previous.length === 0) print('No other secret is accepted.\n')
  if (read.lost_rows > 0) print(`${read.lost_rows} sealed rows open under no accepted secret.\n`)
}

function describe(previous: SecretStatusRecord['previous'][number]) {
  const { accepted_everywhere, was_current, current_elsewhere, rows, sessions, removable_at } = previous
  if (!was_current)
    return accepted_everywhere
      ? 'accepted by every replica and used by none yet: it may become server.secret'
      : 'not accepted by every replica yet, or not long enough to know (two minutes): do not make it server.secret'
  if (current_elsewhere) return 'seals and signs at another replica, or did two minutes ago'
  const count = Object.values(rows).reduce((sum, each) => sum + each, 0)
  const needed = `${count} rows and ${sessions} sessions need it`
  if (removable_at === null) return `${needed}; poterne seals the rows anew while it runs`
  if (Date.parse(removable_at) <= Date.now()) return `${needed}: it may be removed`
  return `${needed}; it may be removed from ${removable_at} on${sessions > 0 ? ', or once they were refreshed' : ''}`
}

async function revoke({ yes, json, ...options }: CommandOptions & CommonOptions): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const opens = await withService(config, ({ services }) => services.secrets.opensKeys())
  if (opens && config.server.secret !== null) throw new CommandFailure(2, STILL_ACCEPTED)
  await confirm(
    'Everybody is signed out, and every authenticator app must be set up again. Revoke the secret?',
    yes,
  )
  if (opens) replaceOwn(config)
  const { sessions, apps } = await withService(config, ({ services }) => services.secrets.revoke())
  printResult(
    { json },
    { revoked: true, sessions, apps },
    `The former secret is of no use any more: ${sessions} sessions are ended, ${apps} authenticator apps must be set ` +
      'up again.\nStart poterne now.',
  )
}

const STILL_ACCEPTED =
  'the configured secrets open what is stored: stop every replica, set a fresh server.secret (`poterne secret`), remove ' +
  'the one that leaked from server.previous_secrets as well, and run this again'

function replaceOwn({ server, storage }: Config): void {
  if (server.previousSecrets.length > 0)
    throw new CommandFailure(2, 'remove what leaked from server.previous_secrets first')
  replaceSecretFile(storage.dataDir)
}
