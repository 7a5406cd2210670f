/** `poterne keys list | rotate | revoke`: the keys that sign access tokens. Running replicas follow within seconds. */
import { Command } from 'commander'
import { configOption } from './configuration.ts'
import { type DoorOptions, socketOption, throughDoor } from './door.ts'
import { CommandFailure } from './failure.ts'
import { printJson } from './print.ts'

const NO_KEY = 'No key yet: the service makes the first one when it starts.\n'

export function keysCommand(): Command {
  const command = new Command('keys').description('list, rotate or revoke the keys that sign access tokens')
  command
    .command('list')
    .description('print the keys, oldest first: which one signs, and until when each is published')
    .option(...configOption)
    .option(...socketOption)
    .option('--json', 'print for programs')
    .action(list)
  command
    .command('rotate')
    .description('add a key that signs from tomorrow on; the service does this by itself every 90 days')
    .option(...configOption)
    .option(...socketOption)
    .option(
      '--now',
      'let the new key sign at once, for example after server.secret was changed; the old key stays trusted',
    )
    .action(rotate)
  command
    .command('revoke')
    .description(
      'withdraw a leaked key: it is unpublished and refused at once, and replaced if it is the one that signs',
    )
    .argument('<kid>', 'its name, as `poterne keys list` prints it')
    .option(...configOption)
    .option(...socketOption)
    .action(revoke)
  return command
}

interface Key {
  kid: string
  state: string
  signs_from: string
  published_until: string | null
}

async function list({ json, ...options }: DoorOptions & { json?: boolean }): Promise<void> {
  const { items } = await throughDoor(options, (call) => call<{ items: Key[] }>('GET', 'keys'))
  if (json) printJson(items)
  else process.stdout.write(items.length > 0 ? items.map(toLine).join('') : NO_KEY)
}

async function rotate({ now = false, ...options }: DoorOptions & { now?: boolean }): Promise<void> {
  const { key } = await throughDoor(options, (call) => call<{ key: Key }>('POST', 'keys/rotate', { now }))
  process.stdout.write(`${key.kid} signs from ${key.signs_from}\n`)
}

async function revoke(kid: string, options: DoorOptions): Promise<void> {
  const { revoked, successor } = await throughDoor(options, (call) =>
    call<{ revoked: boolean; successor: Key | null }>('POST', 'keys/revoke', { kid }),
  )
  if (!revoked) {
    throw new CommandFailure(1, `there is no key ${kid}: \`poterne keys list\` prints their names`)
  }
  process.stdout.write(`${kid} is revoked\n`)
  if (!successor) return
  const begins = successor.state === 'signing' ? 'now on' : successor.signs_from
  process.stdout.write(`${successor.kid} signs from ${begins}\n`)
}

function toLine({ kid, state, signs_from, published_until }: Key): string {
  const until = published_until ? `, published until ${published_until}` : ''
  return `${kid}  ${state.padEnd(10)}  signs from ${signs_from}${until}\n`
}
