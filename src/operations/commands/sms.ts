/** `poterne sms report`: what became of SMS, by gateway and country. `poterne sms prefixes`: what is closed to them. */
import { Command, InvalidArgumentError } from 'commander'
import type { SmsPrefixRecord } from '../../administration/sms-prefixes/routes.ts'
import type { SmsReportRow } from '../../domain/messages/sms-funnel/report.ts'
import { stages } from '../../domain/messages/sms-funnel/store.ts'
import { durationOf } from './option-values.ts'
import { print, printJson, printResult, printTable } from './print.ts'
import {
  addServiceCommand,
  callService,
  type ListOptions,
  limitOption,
  listAll,
  type Options,
  printList,
} from './service-call.ts'

const NOTHING = 'No SMS was asked for in this time.\n'
const MOST_DAYS = 365

export function smsCommand(): Command {
  const command = new Command('sms').description('count SMS by their outcome, and close prefixes of numbers')
  addServiceCommand(
    command,
    'report',
    'count SMS by gateway and country: asked, given up, handed over, accepted, delivered, verified',
  )
    .option('--days <days>', 'how many days, today (UTC) included', readDays, 7)
    .action(report)
  command.addCommand(prefixesCommand())
  return command
}

function prefixesCommand(): Command {
  const command = new Command('prefixes').description('list, close and open prefixes of numbers')
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('list', 'print the prefixes that are closed to SMS, by hand or by the guard against pumping')
    .option(...limitOption)
    .action(listPrefixes)
  add('close', 'close a prefix of numbers: nobody gets an SMS there')
    .argument('<prefix>', 'what the numbers begin with, such as +3712')
    .requiredOption('--reason <text>', 'why; it stands in the list and in the event')
    .option('--expires <duration>', 'when it ends, at most 30d', durationOf('--expires', '30d'), '1d')
    .action(closePrefix)
  add('open', 'open a prefix again, also one that the guard closed')
    .argument('<prefix>', 'the prefix that `poterne sms prefixes list` prints')
    .action(openPrefix)
  return command
}

const listPrefixes = (options: ListOptions) =>
  printList<SmsPrefixRecord>(options, 'sms/prefixes', {
    header: ['PREFIX', 'CLOSED BY', 'UNTIL', 'REASON'],
    cells: ({ prefix, closed_by, created_by, closed_until, reason }) => [
      prefix,
      closed_by === 'guard' ? 'the guard' : (created_by?.name ?? created_by?.type ?? ''),
      closed_until.slice(0, 16).replace('T', ' '),
      reason,
    ],
    empty: 'No prefix is closed.',
  })

async function closePrefix(
  prefix: string,
  { reason, expires, ...options }: Options & { reason: string; expires: string },
): Promise<void> {
  const body = { prefix, reason, expires_in: expires }
  const { status: _, ...closed } = await callService(options, (call) =>
    call<SmsPrefixRecord & { status: number }>('POST', 'sms/prefixes', body),
  )
  printResult(options, closed, `${closed.prefix} is closed until ${closed.closed_until}`)
}

async function openPrefix(prefix: string, options: Options): Promise<void> {
  await callService(options, (call) => call('DELETE', `sms/prefixes/${encodeURIComponent(prefix)}`))
  printResult(options, { prefix }, `${prefix} is open`)
}

function readDays(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > MOST_DAYS)
    throw new InvalidArgumentError(`Expected a number from 1 to ${MOST_DAYS}.`)
  return days
}

async function report({ days, ...options }: Options & { days: number }): Promise<void> {
  const items = await callService(options, (call) =>
    listAll<SmsReportRow>(call, 'sms/report', { days: String(days) }, Number.POSITIVE_INFINITY),
  )
  if (options.json) return printJson(items)
  if (items.length === 0) print(NOTHING)
  else printTable(HEADER, items.map(cellsOf), { numbersFrom: 2 })
}

const HEADER = [
  'gateway',
  'country',
  ...stages.map((stage) => stage.replace('_', ' ')),
  'verified of accepted',
]

const cellsOf = (row: SmsReportRow) => [
  row.gateway || '-',
  row.country || '-',
  ...stages.map((stage) => row[stage]),
  row.accepted > 0 ? `${Math.round((row.verified / row.accepted) * 100)} %` : '-',
]
