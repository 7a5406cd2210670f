/** `poterne messages list | show | retry` and `poterne limits lift`: what became of messages, and what keeps them away. */
import { Command } from 'commander'
import type { MessageRecord } from '../../administration/message-log/routes.ts'
import { messageStates } from '../../administration/message-log/store.ts'
import { outboxChannels } from '../../domain/messages/outbox/message.ts'
import { CommandFailure } from './failure.ts'
import { identifierOf, listed, oneOf } from './option-values.ts'
import { printJson, printRecord, printResult } from './print.ts'
import {
  addServiceCommand,
  type Call,
  callService,
  type ListOptions,
  limitOption,
  NAME,
  type Options,
  printList,
  sinceOption,
  uuidOf,
} from './service-call.ts'

interface SearchOptions extends ListOptions {
  account?: string
  to?: string
  state?: string
  channel?: string
  gateway?: string
  since?: string
}

export function messagesCommand(): Command {
  const command = new Command('messages').description('list messages with their outcome, and send one again')
  addServiceCommand(command, 'list', 'print messages, newest first; never a code')
    .option('--account <account>', `to this person: ${NAME}`, identifierOf('--account'))
    .option('--to <text>', 'the recipient: any part of a contact or a name')
    .option('--state <state>', listed(messageStates), oneOf('--state', messageStates))
    .option('--channel <channel>', listed(outboxChannels), oneOf('--channel', outboxChannels))
    .option('--gateway <name>', 'only those that this gateway took')
    .option(...sinceOption)
    .option(...limitOption)
    .action(list)
  addServiceCommand(
    command,
    'show',
    'print the outcome of a message and the reply of its server; never a code',
  )
    .argument('<id>', 'as `messages list` prints it')
    .action(show)
  addServiceCommand(command, 'retry', 'send a refused message again, unless its code has expired')
    .argument('<id>', 'as `messages list` prints it')
    .action(retry)
  return command
}

export function limitsCommand(): Command {
  const command = new Command('limits').description('lift limits')
  addServiceCommand(
    command,
    'lift',
    'reset what an identifier used up today, so that nothing refuses it any more',
  )
    .argument('<identifier>', `${NAME} of an account`, identifierOf('<identifier>'))
    .action(lift)
  return command
}

function list({ account, to, state, channel, gateway, since, ...options }: SearchOptions) {
  if (account !== undefined && to !== undefined)
    throw new CommandFailure(2, 'name the person by --account or by --to, not by both')
  const pathOf = async (call: Call) =>
    account === undefined ? 'messages' : `accounts/${await uuidOf(call, account)}/messages`
  const table = {
    header: ['ID', 'TIME', 'CHANNEL', 'PURPOSE', 'STATE', 'TO', 'BY'],
    cells: (message: MessageRecord) => [
      message.id,
      message.created_at,
      message.channel,
      message.purpose,
      message.state,
      message.destination,
      message.gateway ?? message.detail,
    ],
    empty: 'There is no such message; messages are kept for a while only.',
  }
  return printList(options, pathOf, table, { to, state, channel, gateway, since })
}

async function show(id: string, options: Options): Promise<void> {
  const { message } = await callService(options, (call) =>
    call<{ message: MessageRecord }>('GET', `messages/${encodeURIComponent(id)}`),
  )
  if (options.json) printJson(message)
  else printRecord(message)
}

async function retry(id: string, options: Options): Promise<void> {
  await callService(options, (call) => call('POST', `messages/${encodeURIComponent(id)}/retry`))
  printResult(options, { id, retried: true }, `message ${id} is on its way again`)
}

async function lift(identifier: string, options: Options): Promise<void> {
  await callService(options, (call) => call('DELETE', `limits/${encodeURIComponent(identifier)}`))
  printResult(options, { identifier, lifted: true }, `the limits of ${identifier} are lifted`)
}
