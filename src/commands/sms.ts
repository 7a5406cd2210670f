/** `poterne sms report`: what became of SMS, by gateway and country. */
import { Command, InvalidArgumentError } from 'commander'
import { withService } from '../compose.ts'
import { type SmsReportRow, smsReport } from '../domain/messages/sms-funnel/report.ts'
import { stages } from '../domain/messages/sms-funnel/store.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'

const NOTHING = 'No SMS in this time.\n'
const MOST_DAYS = 365

export function smsCommand(): Command {
  const command = new Command('sms').description('tell what became of SMS')
  command
    .command('report')
    .description('count SMS by gateway and country: asked, handed over, accepted, delivered, verified')
    .option(...configOption)
    .option('--days <days>', 'how many days, today (UTC) included', readDays, 7)
    .option('--json', 'print for programs')
    .action(report)
  return command
}

function readDays(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > MOST_DAYS)
    throw new InvalidArgumentError(`Expected a number from 1 to ${MOST_DAYS}.`)
  return days
}

async function report({ days, json, ...options }: CommandOptions & { days: number; json?: boolean }) {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const counts = await withService(config, ({ services: { funnel } }) => funnel.report(days))
  const rows = smsReport(counts)
  if (json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
  else process.stdout.write(rows.length > 0 ? toTable(rows) : NOTHING)
}

function toTable(rows: SmsReportRow[]): string {
  const head = [
    'gateway',
    'country',
    ...stages.map((stage) => stage.replace('_', ' ')),
    'verified of accepted',
  ]
  const lines = rows.map((row) => [
    row.gateway || '-',
    row.country || '-',
    ...stages.map((stage) => String(row[stage])),
    row.accepted > 0 ? `${Math.round((row.verified / row.accepted) * 100)} %` : '-',
  ])
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]?.length ?? 0)))
  const print = (cells: string[]) =>
    `${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')}\n`
  return [head, ...lines].map(print).join('')
}
