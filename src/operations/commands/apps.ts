/** `poterne apps …`: the applications that people are handed over to, and what to set on the other side. */
import { createHash } from 'node:crypto'
import { Command } from 'commander'
import { createSecretText } from '../../administration/api-tokens/token.ts'
import type { ApplicationRecord, ShownApplicationRecord } from '../../administration/applications/routes.ts'
import type { CommonOptions } from './option-values.ts'
import { print, printJson, printResult } from './print.ts'
import {
  addServiceCommand,
  callService,
  type ListOptions,
  limitOption,
  type Options,
  printList,
} from './service-call.ts'

export function appsCommand(): Command {
  const command = new Command('apps').description(
    'list or show the applications that people are handed over to',
  )
  addServiceCommand(command, 'list', 'print the applications of the configuration')
    .option(...limitOption)
    .action(list)
  addServiceCommand(command, 'show', 'print what to set on the other side, and what it was refused last')
    .argument('<id>', 'as the configuration has it')
    .action(show)
  const secretWords =
    'print a new secret for an application, and the line for the configuration; it changes nothing'
  addServiceCommand(command, 'secret', secretWords).action(secret)
  return command
}

const list = (options: ListOptions) =>
  printList<ApplicationRecord>(options, 'applications', {
    header: ['ID', 'NAME', 'OWN', 'SECRET', 'WHO MAY ENTER', 'ISSUER', 'SESSIONS'],
    cells: (application) => [
      ...[application.id, application.name, application.own ? 'yes' : 'no'],
      ...[
        application.public ? 'no' : 'yes',
        whoEnters(application),
        application.issuer,
        application.sessions,
      ],
    ],
    empty: 'There is none: pages.applications lists them.',
  })

const whoEnters = ({ own, groups }: Pick<ApplicationRecord, 'own' | 'groups'>) =>
  own || groups.includes('*') ? 'everybody' : groups.join(', ')

async function show(id: string, options: Options): Promise<void> {
  const { application } = await callService(options, (call) =>
    call<{ application: ShownApplicationRecord }>('GET', `applications/${encodeURIComponent(id)}`),
  )
  if (options.json) printJson(application)
  else print(describe(application))
}

function describe(application: ShownApplicationRecord): string {
  const { id, name, issuer, redirect_uris, sign_out_uris, backchannel_logout_uri, refusals } = application
  const lines = [
    `${name}: ${application.own ? 'own' : 'not own'}, ${application.sessions} sessions, for ${whoEnters(application)}`,
    '',
    'To set on its side:',
    ...linesOf({
      issuer,
      ...(issuer.endsWith('/oauth2') && { discovery: `${issuer}/.well-known/openid-configuration` }),
      'client id': id,
      'client secret': application.public
        ? 'none; PKCE (S256)'
        : 'the one whose SHA-256 is in the configuration; `poterne apps secret` makes a new one',
      'redirect address': redirect_uris.join(' '),
      'after sign-out': sign_out_uris.join(' ') || 'nowhere: sign_out_uris is empty',
      ...(issuer.endsWith('/oauth2') && {
        scopes: 'openid profile email (also phone, groups, offline_access)',
        'back-channel': backchannel_logout_uri ?? 'not told of an end: backchannel_logout_uri is empty',
      }),
    }),
    '',
    refusals.length === 0 ? 'It was refused nothing lately.' : 'What it was refused last:',
    ...refusals.map(
      ({ at, error, reason, nearest }) =>
        `  ${at}  ${error}  ${reason}${nearest === null ? '' : `; the configuration has ${nearest}`}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

const linesOf = (fields: Record<string, string>) =>
  Object.entries(fields).map(([name, value]) => `  ${name.padEnd(18)}${value}`)

function secret(options: CommonOptions): void {
  const made = createSecretText('pot_app_')
  const sha256 = createHash('sha256').update(made).digest('hex')
  printResult(options, { secret: made, secret_sha256: sha256 }, `${made}\nsecret_sha256 = ["${sha256}"]`)
}
