/** `poterne messages list | retry` and `poterne limits lift`: what became of messages, and what keeps them away. */
import { Command } from 'commander'
import type { MessageRecord } from '../domain/administration-messages/service.ts'
import { configOption } from './configuration.ts'
import {
  type DoorOptions,
  findAccount,
  listAll,
  readLimit,
  socketOption,
  throughDoor,
  yesOption,
} from './door.ts'
import { printJson, printTable } from './print.ts'

interface Options extends DoorOptions {
  json?: boolean
  account?: string
  state?: string
  channel?: string
  gateway?: string
  since?: string
  limit?: string
}

export function messagesCommand(): Command {
  const command = new Command('messages').description('see what became of messages, and send one again')
  command
    .command('list')
    .description('print messages, newest first; never a code')
    .option('--account <account>', 'to this person: an e-mail address, a phone number or a uuid')
    .option('--state <state>', 'waiting, sent, delivered, refused or expired')
    .option('--channel <channel>', 'email or sms')
    .option('--gateway <name>', 'taken by this gateway')
    .option('--since <time>', 'since this time, such as 2026-07-01 or 2026-07-01T12:00:00Z')
    .option('--limit <number>', 'at most so many', '1000')
    .option(...configOption)
    .option(...socketOption)
    .option(...yesOption)
    .option('--json', 'print for programs')
    .action(list)
  command
    .command('retry')
    .description('send a refused message again, unless its code is dead')
    .argument('<id>', 'as `messages list` prints it')
    .option(...configOption)
    .option(...socketOption)
    .option(...yesOption)
    .action(retry)
  return command
}

export function limitsCommand(): Command {
  const command = new Command('limits').description('lift limits')
  command
    .command('lift')
    .description('forget what an identifier used up today, and what refuses it')
    .argument('<identifier>', 'an e-mail address or a phone number')
    .option(...configOption)
    .option(...socketOption)
    .option(...yesOption)
    .action(async (identifier: string, options: DoorOptions) => {
      await throughDoor(options, (call) => call('DELETE', `limits/${encodeURIComponent(identifier)}`))
      process.stdout.write(`nothing refuses ${identifier} any more\n`)
    })
  return command
}

async function list({ account, limit, state, channel, gateway, since, ...options }: Options) {
  const most = readLimit(limit)
  const messages = await throughDoor(options, async (call) => {
    const path =
      account === undefined ? 'messages' : `accounts/${(await findAccount(call, account)).uuid}/messages`
    return listAll<MessageRecord>(call, path, { state, channel, gateway, since }, most)
  })
  if (options.json) return printJson(messages)
  printTable(
    ['ID', 'TIME', 'CHANNEL', 'PURPOSE', 'STATE', 'TO', 'BY'],
    messages.map((message) => [
      message.id,
      message.created_at,
      message.channel,
      message.purpose,
      message.state,
      message.destination,
      message.gateway ?? message.detail,
    ]),
  )
}

async function retry(id: string, options: DoorOptions): Promise<void> {
  await throughDoor(options, (call) => call('POST', `messages/${encodeURIComponent(id)}/retry`))
  process.stdout.write(`message ${id} is on its way again\n`)
}
