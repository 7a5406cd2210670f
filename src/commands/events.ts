/** `poterne events list | follow`: the audit trail. */
import { Command } from 'commander'
import type { EventRecord } from '../domain/events/event.ts'
import { toOcsf } from '../domain/events/ocsf.ts'
import { version } from '../platform/version.ts'
import { configOption } from './configuration.ts'
import {
  type Call,
  type DoorOptions,
  findAccount,
  listAll,
  readLimit,
  socketOption,
  throughDoor,
  yesOption,
} from './door.ts'
import { CommandFailure } from './failure.ts'
import { printJson, printTable, toCell } from './print.ts'

interface Options extends DoorOptions {
  json?: boolean
  account?: string
  type?: string
  actor?: string
  since?: string
  limit?: string
  format?: string
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
    .option(...yesOption)
    .option('--json', 'print for programs')
    .option('--format <format>', 'ocsf: a line of JSON for each, as log collectors read it')
    .action(list)
  command
    .command('follow')
    .description('print events as they happen, a line for each')
    .option('--account <account>', 'about this account: an e-mail address, a phone number or a uuid')
    .option('--type <type>', 'of this type, such as login.failed')
    .option('--actor <id>', 'caused by this actor')
    .option('--after <id>', 'from the event after this one; 0: from the beginning')
    .option(...configOption)
    .option(...socketOption)
    .option(...yesOption)
    .option('--json', 'print for programs')
    .option('--format <format>', 'ocsf: a line of JSON for each, as log collectors read it')
    .action(follow)
  return command
}

/** An account that is erased has no name any more, but its history can still be read by uuid. */
async function uuidOf(call: Call, name: string | undefined): Promise<string | undefined> {
  if (name === undefined || /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name)) return name
  return (await findAccount(call, name)).uuid
}

function readFormat({ format }: Options): boolean {
  if (format === undefined || format === 'ocsf') return format === 'ocsf'
  throw new CommandFailure(2, `--format must be ocsf, not ${format}`)
}

const printLine = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
const printOcsf = (event: EventRecord) => printLine(toOcsf(event, version.version))

const WAIT_SECONDS = 20

/** Until somebody ends it. The service keeps back what an open transaction may still come before. */
async function follow({ account, type, actor, after, ...options }: Options & { after?: string }) {
  const asOcsf = readFormat(options)
  const print = (event: EventRecord) => {
    if (asOcsf) printOcsf(event)
    else if (options.json) printLine(event)
    else process.stdout.write(`${cellsOf(event).map(toCell).join('  ')}\n`)
  }
  await throughDoor(options, async (call) => {
    const filter = { account: await uuidOf(call, account), type, actor }
    let last = after ?? (await newestId(call))
    for (;;) {
      const items = await eventsAfter(call, last, filter)
      for (const event of items) print(event)
      last = String(items.at(-1)?.id ?? last)
    }
  })
}

async function eventsAfter(call: Call, after: string, filter: Record<string, string | undefined>) {
  const query = new URLSearchParams({ after, wait: String(WAIT_SECONDS) })
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value)
  return (await call<{ items: EventRecord[] }>('GET', `events?${query}`)).items
}

async function newestId(call: Call): Promise<string> {
  const { items } = await call<{ items: EventRecord[] }>('GET', 'events?limit=1')
  return String(items[0]?.id ?? 0)
}

async function list({ account, type, actor, since, ...options }: Options): Promise<void> {
  const asOcsf = readFormat(options)
  const limit = readLimit(options.limit)
  const events = await throughDoor(options, async (call) => {
    const wanted = { account: await uuidOf(call, account), type, actor, since }
    return listAll<EventRecord>(call, 'events', wanted, limit)
  })
  if (asOcsf) for (const event of events) printOcsf(event)
  else if (options.json) printJson(events)
  else printTable(['TIME', 'TYPE', 'ACCOUNT', 'ACTOR', 'ADDRESS', 'DATA'], events.map(cellsOf))
}

const cellsOf = ({ created_at, type, account, actor, address, data }: EventRecord) => [
  created_at,
  type,
  account,
  actor.type === 'account' ? 'owner' : [actor.type, actor.name].filter(Boolean).join(' '),
  address,
  Object.keys(data).length > 0 ? JSON.stringify(data) : null,
]
