/** `poterne events list`: the audit trail. */
import { Command } from 'commander'
import type { EventRecord } from '../domain/events/event.ts'
import { configOption } from './configuration.ts'
import { type DoorOptions, findAccount, listAll, readLimit, socketOption, throughDoor } from './door.ts'
import { printJson, printTable } from './print.ts'

interface Options extends DoorOptions {
  json?: boolean
  account?: string
  type?: string
  actor?: string
  since?: string
  limit?: string
}

export function eventsCommand(): Command {
  const command = new Command('events').description('read the audit trail')
  command
    .command('list')
    .description('print events, newest first')
    .option('--account <account>', 'about this account: an e-mail address, a phone number or a uuid')
    .option('--type <type>', 'of this type, such as login.failed')
    .option('--actor <id>', 'caused by this actor')
    .option('--since <time>', 'since this time, such as 2026-07-01 or 2026-07-01T12:00:00Z')
    .option('--limit <number>', 'at most so many', '1000')
    .option(...configOption)
    .option(...socketOption)
    .option('--json', 'print for programs')
    .action(list)
  return command
}

async function list({ account, type, actor, since, ...options }: Options): Promise<void> {
  const limit = readLimit(options.limit)
  const events = await throughDoor(options, async (call) => {
    const uuid = account === undefined ? undefined : await uuidOf(account)
    return listAll<EventRecord>(call, 'events', { account: uuid, type, actor, since }, limit)

    /** An account that is erased has no name any more, but its history can still be read by uuid. */
    async function uuidOf(name: string): Promise<string> {
      return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name)
        ? name
        : (await findAccount(call, name)).uuid
    }
  })
  if (options.json) return printJson(events)
  printTable(
    ['TIME', 'TYPE', 'ACCOUNT', 'ACTOR', 'ADDRESS', 'DATA'],
    events.map(({ created_at, type, account, actor, address, data }) => [
      created_at,
      type,
      account,
      actor.type === 'account' ? 'owner' : [actor.type, actor.name].filter(Boolean).join(' '),
      address,
      Object.keys(data).length > 0 ? JSON.stringify(data) : null,
    ]),
  )
}
