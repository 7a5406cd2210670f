/** `poterne events list | follow`: the audit trail. */
import { Command } from 'commander'
import { closest, distance } from 'fastest-levenshtein'
import { actorTypes, eventTypes, readEventTypes } from '../../domain/foundation/events/event.ts'
import type { EventRecord } from '../../domain/foundation/events/event-schema.ts'
import { toOcsf } from '../../domain/foundation/events/ocsf.ts'
import { version } from '../../platform/version.ts'
import { CommandFailure } from './failure.ts'
import { identifierOf, oneOf, timeOf, wholeNumberOf } from './option-values.ts'
import { print, printJson, printTable, toCell } from './print.ts'
import {
  addServiceCommand,
  type Call,
  callService,
  limitOption,
  listAll,
  NAME,
  type Options,
  readLimit,
  sinceOption,
  uuidOf,
} from './service-call.ts'
import { outputEnded } from './standard-output.ts'

interface EventOptions extends Options {
  account?: string
  type?: string
  actor?: string
  actorType?: string
  since?: string
  until?: string
  limit?: string
  format?: string
}

export function eventsCommand(): Command {
  const command = new Command('events').description('read the audit trail')
  const add = (name: string, description: string) =>
    addServiceCommand(command, name, description)
      .option('--account <account>', `about this account: ${NAME}`, identifierOf('--account'))
      .option(
        '--type <types>',
        'of these types (docs/events.md lists them), such as login.failed or session.*,account.erased',
        readTypes,
      )
      .option(
        '--actor <actor>',
        'caused by this actor: an id, or in lists a part of the name of an administrator',
      )
      .option(
        '--actor-type <type>',
        'caused by an account, administrator, token, operator or the system',
        oneOf('--actor-type', actorTypes),
      )
      .option('--format <format>', 'ocsf: a line of JSON for each, as log collectors read it')
  add('list', 'print events, newest first')
    .option(...sinceOption)
    .option('--until <time>', 'before this time', timeOf('--until'))
    .option(...limitOption)
    .action(list)
  add('follow', 'print events as they happen, a line for each')
    .option(
      '--after <id>',
      'begin after the event with this id; 0: at the first one',
      wholeNumberOf('--after', { minimum: 0 }),
    )
    .action(follow)
  return command
}

function readTypes(types: string): string {
  if (readEventTypes(types) !== null) return types
  const type = types.split(',').find((each) => readEventTypes(each) === null)
  if (type === undefined) throw new CommandFailure(2, '--type: at most 20 types with commas between')
  const nearest = closest(type, eventTypes)
  const hint =
    distance(type, nearest) <= type.length / 2 ? `did you mean ${nearest}?` : 'docs/events.md lists them'
  throw new CommandFailure(2, `--type: there is no event ${type}; ${hint}`)
}

function readFormat({ format }: EventOptions): boolean {
  if (format === undefined || format === 'ocsf') return format === 'ocsf'
  throw new CommandFailure(2, `--format must be ocsf, not ${format}`)
}

const printLine = (value: unknown) => print(`${JSON.stringify(value)}\n`)
const printOcsf = (event: EventRecord) => printLine(toOcsf(event, version.version))

const WAIT_SECONDS = 20

/** It goes on until somebody ends it, or nobody takes what it prints. The service keeps back what an open transaction may still come before. */
async function follow({ after, ...options }: EventOptions & { after?: string }) {
  const { account, type, actor, actorType } = options
  const asOcsf = readFormat(options)
  const printEvent = (event: EventRecord) => {
    if (asOcsf) printOcsf(event)
    else if (options.json) printLine(event)
    else print(`${cellsOf(event).map(toCell).join('  ')}\n`)
  }
  await callService(options, async (call) => {
    const filter = { account: account && (await uuidOf(call, account)), type, actor, actor_type: actorType }
    let last = after ?? (await newestId(call))
    for (;;) {
      const items = await Promise.race([eventsAfter(call, last, filter), outputEnded])
      if (!items) return
      for (const event of items) printEvent(event)
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

async function list({ account, actorType, type, actor, since, until, ...options }: EventOptions) {
  const asOcsf = readFormat(options)
  const limit = readLimit(options.limit)
  const events = await callService(options, async (call) => {
    const about = account && (await uuidOf(call, account))
    const wanted = { account: about, type, actor, actor_type: actorType, since, until }
    return listAll<EventRecord>(call, 'events', wanted, limit)
  })
  if (asOcsf) for (const event of events) printOcsf(event)
  else if (options.json) printJson(events)
  else
    printTable(['TIME', 'TYPE', 'ACCOUNT', 'ACTOR', 'ADDRESS', 'DATA'], events.map(cellsOf), {
      empty: 'No event fits.',
    })
}

const cellsOf = ({ created_at, type, account, actor, address, data }: EventRecord) => [
  created_at,
  type,
  account,
  actor.type === 'account' ? 'owner' : [actor.type, actor.name].filter(Boolean).join(' '),
  address,
  Object.keys(data).length > 0 ? JSON.stringify(data) : null,
]
