/** `poterne webhooks …`: how far the team's own programs were told what happens, and telling them again. */
import { Command } from 'commander'
import type { TriedWebhook, WaitingEventRecord, WebhookRecord } from '../webhooks/routes.ts'
import { CommandFailure } from './failure.ts'
import { timeOf, wholeNumberOf } from './option-values.ts'
import { countOf, printJson, printResult } from './print.ts'
import {
  addServiceCommand,
  callService,
  type ListOptions,
  limitOption,
  type Options,
  printList,
} from './service-call.ts'
import { printStep } from './try.ts'

const NAME = 'the webhook, as [[webhooks]] names it'

export function webhooksCommand(): Command {
  const command = new Command('webhooks').description(
    'list webhooks, try one, retry what it did not take, or replay what happened',
  )
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('list', 'print the webhooks, and how far each was told')
    .option(...limitOption)
    .action(list)
  add('try', 'send webhook.test and print every step')
    .argument('<name>', `${NAME}, or admission`)
    .action(tryOne)
  add('waiting', 'print what a webhook did not take, newest first')
    .argument('<name>', NAME)
    .option(...limitOption)
    .action(waiting)
  add('retry', 'try at once what a webhook did not take, given up or not')
    .argument('<name>', NAME)
    .option('--event <id>', 'this event only', wholeNumberOf('--event', { minimum: 1 }))
    .action(retry)
  add('replay', 'tell a webhook again what happened since a time')
    .argument('<name>', NAME)
    .requiredOption('--since <time>', 'such as 2026-07-01 or 2026-07-01T12:00:00Z', timeOf('--since'))
    .action(replay)
  return command
}

const pathOf = (name: string, what: string) => `webhooks/${encodeURIComponent(name)}/${what}`

const list = (options: ListOptions) =>
  printList<WebhookRecord>(options, 'webhooks', {
    header: ['NAME', 'HOST', 'LAG', 'SET ASIDE', 'GIVEN UP', 'LAST ACCEPTED', 'AWAY SINCE'],
    cells: ({ name, host, lag_seconds, set_aside, given_up, last_accepted_at, away_since }) => [
      ...[name, host, `${lag_seconds} s`, set_aside, given_up, last_accepted_at, away_since],
    ],
    empty: 'No webhook is configured: docs/back-end.md shows how.',
  })

async function tryOne(name: string, options: Options): Promise<void> {
  const { accepted, steps } = await callService(options, (call) =>
    call<TriedWebhook>('POST', pathOf(name, 'try')),
  )
  if (options.json) printJson({ accepted, steps })
  else
    for (const step of [...steps, { name: 'result', text: accepted ? 'accepted' : 'not accepted' }])
      printStep(step)
  if (!accepted) throw new CommandFailure(1, '')
}

const waiting = (name: string, options: ListOptions) =>
  printList<WaitingEventRecord>(options, pathOf(name, 'waiting'), {
    header: ['EVENT', 'TYPE', 'ATTEMPTS', 'DUE', 'LAST FAILURE'],
    cells: ({ event, type, attempts, due_at, last_failure }) => [
      ...[event, type, attempts, due_at ?? 'given up', last_failure],
    ],
    empty: 'It took everything that it was told.',
  })

async function retry(name: string, { event, ...options }: Options & { event?: string }): Promise<void> {
  const { events } = await callService(options, (call) =>
    call<{ events: number }>(
      'POST',
      pathOf(name, 'retry'),
      event === undefined ? {} : { event: Number(event) },
    ),
  )
  printResult(options, { name, events }, `${countOf(events, 'event')} for ${name} will be tried at once`)
}

async function replay(name: string, { since, ...options }: Options & { since: string }): Promise<void> {
  await callService(options, (call) => call('POST', pathOf(name, 'replay'), { since }))
  printResult(options, { name, since }, `${name} is told again what happened since ${since}`)
}
