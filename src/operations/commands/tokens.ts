/** `poterne tokens …`: what scripts and back ends sign in to administration with. */
import { Command } from 'commander'
import { scopes } from '../../administration/access/access.ts'
import type { TokenRecord } from '../../administration/api-tokens/routes.ts'
import { CommandFailure } from './failure.ts'
import { addressRangeOf, durationOf, eachOf, oneOf } from './option-values.ts'
import {
  addServiceCommand,
  callService,
  type ListOptions,
  limitOption,
  type Options,
  printList,
  printOnce,
  revokeBy,
} from './service-call.ts'

interface CreateOptions extends Options {
  name?: string
  scopes?: string[]
  expires: string
  address?: string[]
}

export function tokensCommand(): Command {
  const command = new Command('tokens').description('create, list and revoke tokens of administration')
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('create', 'create a token, which is printed only this once')
    .option('--name <name>', 'what it is for')
    .option('--scopes <scopes>', `what it may do, with commas between them: ${scopes.join(', ')}`, readScopes)
    .option('--expires <duration>', 'when it ends, at most 365d', durationOf('--expires', '365d'), '90d')
    .option(
      '--address <range...>',
      'the only addresses that may use it, such as 203.0.113.0/24',
      eachOf(addressRangeOf('--address')),
    )
    .action(create)
  add('list', 'print the tokens, newest first')
    .option(...limitOption)
    .action(list)
  add('revoke', 'revoke a token, and the tokens that were created with it')
    .argument('<id>', 'the id that `poterne tokens list` prints')
    .action(revokeBy('token'))
  return command
}

const readScopes = (text: string) =>
  text.split(',').map((scope) => oneOf('each of --scopes', scopes)(scope.trim()))

async function create({ name, scopes, expires, address, ...options }: CreateOptions): Promise<void> {
  if (!name?.trim() || scopes === undefined)
    throw new CommandFailure(
      2,
      'name the token and its scopes: --name backup --scopes accounts:read,events:read',
    )
  const body = {
    name,
    scopes,
    expires_in: expires,
    ...(address !== undefined && { addresses: address }),
  }
  const { status: _, ...created } = await callService(options, (call) =>
    call<TokenRecord & { token: string; status: number }>('POST', 'tokens', body),
  )
  printOnce(options, created, created.token)
}

const list = (options: ListOptions) =>
  printList<TokenRecord>(options, 'tokens', {
    header: ['ID', 'NAME', 'SCOPES', 'FROM', 'EXPIRES', 'LAST USE', 'MADE BY'],
    cells: ({ id, name, scopes, addresses, expires_at, last_used_at, created_by }) => [
      id,
      name,
      scopes.join(','),
      addresses.join(',') || 'everywhere',
      expires_at.slice(0, 10),
      last_used_at,
      created_by.name ?? created_by.type,
    ],
    empty: 'There is no token yet: `poterne tokens create --name NAME --scopes accounts:read` makes one.',
  })
