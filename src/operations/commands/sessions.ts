/** `poterne sessions list | end`: where an account is signed in. */
import { Command } from 'commander'
import type { AccountSessionRecord } from '../../administration/directory/directory-schema.ts'
import { printResult } from './print.ts'
import {
  accountArgument,
  addServiceCommand,
  callService,
  confirm,
  findAccount,
  type ListOptions,
  limitOption,
  nameOf,
  type Options,
  printList,
  uuidOf,
} from './service-call.ts'

export function sessionsCommand(): Command {
  const command = new Command('sessions').description('list or end the sessions of an account')
  addServiceCommand(command, 'list', 'print the sessions, the most recently used first')
    .argument(...accountArgument)
    .option(...limitOption)
    .action(list)
  addServiceCommand(command, 'end', 'sign the account out everywhere, or end one session')
    .argument(...accountArgument)
    .option('--id <id>', 'end this session only')
    .action(end)
  return command
}

const list = (name: string, options: ListOptions) =>
  printList<AccountSessionRecord>(options, async (call) => `accounts/${await uuidOf(call, name)}/sessions`, {
    header: ['ID', 'DEVICE', 'ADDRESS', 'LAST USED'],
    cells: ({ id, device_name, device_os, ip, last_used_at }) => [
      id,
      device_name ?? device_os,
      ip,
      last_used_at,
    ],
    empty: 'The account has no open session.',
  })

async function end(name: string, options: Options & { id?: string }): Promise<void> {
  await callService(options, async (call) => {
    const account = await findAccount(call, name)
    const { uuid } = account
    const which = options.id === undefined ? 'every session' : `session ${options.id}`
    await confirm(`End ${which} of ${nameOf(account)}?`, options.yes)
    const path = `accounts/${uuid}/sessions`
    await call('DELETE', options.id === undefined ? path : `${path}/${encodeURIComponent(options.id)}`)
    const sentence = `${nameOf(account)} is signed out ${options.id === undefined ? 'everywhere' : 'there'}`
    printResult(options, { account: uuid, session: options.id ?? null, ended: true }, sentence)
  })
}
