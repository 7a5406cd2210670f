/** `poterne keys list | rotate | revoke`: the keys that sign tokens. Running replicas follow within seconds. */
import { Command } from 'commander'
import type { SigningKeyRecord } from '../../administration/signing-keys/routes.ts'
import { CommandFailure } from './failure.ts'
import { printResult } from './print.ts'
import {
  addServiceCommand,
  callService,
  type ListOptions,
  limitOption,
  type Options,
  printList,
} from './service-call.ts'

export function keysCommand(): Command {
  const command = new Command('keys').description(
    'list, rotate or revoke the keys that sign access tokens and ID tokens',
  )
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('list', 'print the keys, oldest first, with the one that signs and the end of each')
    .option(...limitOption)
    .action(list)
  add('rotate', 'add a key that signs from tomorrow on; the service does this by itself every 90 days')
    .option(
      '--now',
      'let the new key sign at once, for example after server.secret was changed; the old key stays trusted',
    )
    .action(rotate)
  add(
    'revoke',
    'withdraw a leaked key: it is unpublished and refused at once, and replaced if it is the one that signs',
  )
    .argument('<kid>', 'its name, as `poterne keys list` prints it')
    .action(revoke)
  return command
}

const list = (options: ListOptions) =>
  printList<SigningKeyRecord>(options, 'keys', {
    header: ['KEY', 'STATE', 'ALGORITHM', 'SIGNS FROM', 'PUBLISHED UNTIL'],
    cells: ({ kid, state, algorithm, signs_from, published_until }) => [
      ...[kid, state, algorithm],
      ...[signs_from, published_until],
    ],
    empty: 'No key yet: the service makes the first one when it starts.',
  })

interface Added {
  key: SigningKeyRecord
  identity_key: SigningKeyRecord | null
}

async function rotate({ now = false, ...options }: Options & { now?: boolean }): Promise<void> {
  const added = await callService(options, (call) => call<Added>('POST', 'keys/rotate', { now }))
  const keys = [added.key, ...(added.identity_key ? [added.identity_key] : [])]
  const lines = keys.map(({ kid, signs_from }) => `${kid} signs from ${signs_from}`)
  printResult(options, added.identity_key ? added : added.key, lines.join('\n'))
}

async function revoke(kid: string, options: Options): Promise<void> {
  const { revoked, successor } = await callService(options, (call) =>
    call<{ revoked: boolean; successor: SigningKeyRecord | null }>('POST', 'keys/revoke', { kid }),
  )
  if (!revoked) {
    throw new CommandFailure(1, `there is no key ${kid}: \`poterne keys list\` prints their names`)
  }
  const begins = successor?.state === 'signing' ? 'now on' : successor?.signs_from
  const next = successor === null ? '' : `\n${successor.kid} signs from ${begins}`
  printResult(options, { kid, revoked, successor }, `${kid} is revoked${next}`)
}
