/** `poterne sms report`: what became of SMS, by gateway and country. */
import { Command, InvalidArgumentError } from 'commander'
import type { SmsReportRow } from '../../domain/messages/sms-funnel/report.ts'
import { stages } from '../../domain/messages/sms-funnel/store.ts'
import { print, printJson, printTable } from './print.ts'
import { addServiceCommand, callService, listAll, type Options } from './service-call.ts'

const NOTHING = 'No SMS was asked for in this time.\n'
const MOST_DAYS = 365

export function smsCommand(): Command {
  const command = new Command('sms').description('count SMS by their outcome')
  addServiceCommand(
    command,
    'report',
    'count SMS by gateway and country: asked, given up, handed over, accepted, delivered, verified',
  )
    .option('--days <days>', 'how many days, today (UTC) included', readDays, 7)
    .action(report)
  return command
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
