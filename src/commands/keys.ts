/** `poterne keys list | rotate | revoke`: the keys that sign access tokens. Running replicas follow within seconds. */
import { Command } from 'commander'
import { withServices } from '../compose.ts'
import type { KeyDescription } from '../domain/tokens/key-rotation.ts'
import type { KeyService } from '../domain/tokens/key-service.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'

const NO_KEY = 'No key yet: the service makes the first one when it starts.\n'

export function keysCommand(): Command {
  const command = new Command('keys').description('list, rotate or revoke the keys that sign access tokens')
  command
    .command('list')
    .description('print the keys, oldest first: which one signs, and until when each is published')
    .option(...configOption)
    .option('--json', 'print for programs')
    .action(list)
  command
    .command('rotate')
    .description('add a key that signs from tomorrow on; the service does this by itself every 90 days')
    .option(...configOption)
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
    .action(revoke)
  return command
}

async function list({ json, ...options }: CommandOptions & { json?: boolean }): Promise<void> {
  const keys = await withKeys(options, (service) => service.list())
  if (json) process.stdout.write(`${JSON.stringify(keys.map(toJson), null, 2)}\n`)
  else process.stdout.write(keys.length > 0 ? keys.map(toLine).join('') : NO_KEY)
}

async function rotate({ now = false, ...options }: CommandOptions & { now?: boolean }): Promise<void> {
  const { kid, signsFrom } = await withKeys(options, (keys) => keys.rotate({ atOnce: now }))
  process.stdout.write(`${kid} signs from ${signsFrom.toISOString()}\n`)
}

async function revoke(kid: string, options: CommandOptions): Promise<void> {
  const revoked = await withKeys(options, (keys) => keys.revoke(kid))
  if (revoked === null) {
    throw new CommandFailure(1, `there is no key ${kid}: \`poterne keys list\` prints their names`)
  }
  const { successor } = revoked
  process.stdout.write(`${kid} is revoked\n`)
  if (!successor) return
  const begins = successor.state === 'signing' ? 'now on' : successor.signsFrom.toISOString()
  process.stdout.write(`${successor.kid} signs from ${begins}\n`)
}

async function withKeys<T>(options: CommandOptions, work: (keys: KeyService) => Promise<T>): Promise<T> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  return withServices(config, ({ keys }) => work(keys))
}

function toJson({ kid, state, createdAt, signsFrom, publishedUntil }: KeyDescription) {
  return { kid, state, created_at: createdAt, signs_from: signsFrom, published_until: publishedUntil }
}

function toLine({ kid, state, signsFrom, publishedUntil }: KeyDescription): string {
  const until = publishedUntil ? `, published until ${publishedUntil.toISOString()}` : ''
  return `${kid}  ${state.padEnd(10)}  signs from ${signsFrom.toISOString()}${until}\n`
}
