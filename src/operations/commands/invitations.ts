/** `poterne invitations …`: for people who are not known by name. */
import { Command } from 'commander'
import type { InvitationRecord, MailedInvitation } from '../../administration/invitations/routes.ts'
import { parseDuration } from '../../platform/duration.ts'
import { parseWholeNumber } from '../../platform/http/read-values.ts'
import { repeated } from './account-fields.ts'
import { durationOf, eachOf, emailOf, mailDomainOf, wholeNumberOf } from './option-values.ts'
import { printResult } from './print.ts'
import {
  addServiceCommand,
  callService,
  type ListOptions,
  limitOption,
  type Options,
  printList,
  printOnce,
  revokeBy,
} from './service-call.ts'

interface CreateOptions extends Options {
  role?: string
  group?: string[]
  domain?: string
  uses: string
  expires: string
  note?: string
  email?: string[]
}

export function invitationsCommand(): Command {
  const command = new Command('invitations').description('create, list and revoke invitations')
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('create', 'make an invitation, and print its code this once')
    .option('--role <role>', 'the role of accounts that it opens, by number or name')
    .option('--group <name>', 'a group that they join; may be repeated', repeated)
    .option(
      '--domain <domain>',
      'asks for a verified e-mail address of this domain',
      mailDomainOf('--domain'),
    )
    .option(
      '--uses <number>',
      'how often it can be used',
      wholeNumberOf('--uses', { minimum: 1, maximum: 1_000_000 }),
      '1',
    )
    .option('--expires <duration>', 'when it ends, at most 365d', durationOf('--expires', '365d'), '7d')
    .option(
      '--email <address>',
      'sends one to this address, and prints no code; may be repeated',
      eachOf(emailOf('--email')),
    )
    .option('--note <text>', 'what it is for; only administrators see it')
    .action(create)
  add('list', 'print the invitations, newest first')
    .option(...limitOption)
    .action(list)
  add('revoke', 'revoke an invitation, so that nobody can use it any more')
    .argument('<id>', 'the id that `poterne invitations list` prints')
    .action(revokeBy('invitation'))
  return command
}

async function create({ role, group, domain, uses, expires, note, email, ...options }: CreateOptions) {
  const body = {
    ...(role !== undefined && { role_id: parseWholeNumber(role) ?? role }),
    ...(group !== undefined && { groups: group }),
    ...(domain !== undefined && { domain }),
    uses: Number(uses),
    expires_in: Math.floor(parseDuration(expires)! / 1000),
    ...(note !== undefined && { note }),
  }
  if (email !== undefined) return mail(options, { ...body, emails: email })
  const { status: _, ...created } = await callService(options, (call) =>
    call<InvitationRecord & { code: string; link: string | null; status: number }>(
      'POST',
      'invitations',
      body,
    ),
  )
  printOnce(options, created, [created.code, created.link].filter((line) => line !== null).join('\n'))
}

/** Prints a line for each address. */
async function mail(options: Options, body: object): Promise<void> {
  const { items } = await callService(options, (call) =>
    call<{ items: MailedInvitation[] }>('POST', 'invitations', body),
  )
  const lines = items.map(({ email, refused }) =>
    refused === null ? `${email} is invited` : `${email} is not invited: ${reasons[refused]}`,
  )
  printResult(options, items, lines.join('\n'))
}

const reasons = {
  invalid_value: 'this is not an e-mail address',
  too_many_requests: 'too many were sent today',
}

const list = (options: ListOptions) =>
  printList<InvitationRecord>(options, 'invitations', {
    header: ['ID', 'USED', 'ROLE', 'GROUPS', 'DOMAIN', 'EXPIRES', 'NOTE'],
    cells: ({ id, used, uses, role, groups, domain, expires_at, revoked_at, note }) => [
      id,
      `${used}/${uses}`,
      role,
      groups.join(','),
      domain,
      revoked_at === null ? expires_at.slice(0, 10) : 'revoked',
      note,
    ],
    empty: 'There is no invitation yet: `poterne invitations create` makes one.',
  })
