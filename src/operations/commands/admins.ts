/** `poterne admins …`: who may sign in on the page of administration. */
import { Command } from 'commander'
import type { AdministratorRecord } from '../../administration/administrators/routes.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson } from './print.ts'
import {
  accountArgument,
  addServiceCommand,
  type Call,
  callService,
  confirm,
  findAccount,
  type ListOptions,
  limitOption,
  listAll,
  nameOf,
  type Options,
  printList,
  uuidOf,
} from './service-call.ts'

interface Revoked {
  revoked_tokens?: number
}

const ROLES = ['viewer', 'support', 'owner']

export function adminsCommand(): Command {
  const command = new Command('admins').description('add, list and remove administrators of the page')
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('add', 'let an account sign in on the page, or change its role')
    .argument(...accountArgument)
    .option('--role <role>', ROLES.join(' | '))
    .action(addAdministrator)
  add('list', 'print the administrators')
    .option(...limitOption)
    .action(list)
  add('remove', 'take the role away, and end the sessions on the page')
    .argument(...accountArgument)
    .action(remove)
  return command
}

async function addAdministrator(name: string, { role, ...options }: Options & { role?: string }) {
  if (role === undefined || !ROLES.includes(role))
    throw new CommandFailure(2, `name the role: --role ${ROLES.join(', --role ')}`)
  const answer = await callService(options, async (call) => {
    const uuid = await uuidOf(call, name)
    const body = { account: uuid, role }
    const isLast = role !== 'owner' && (await isLastOwner(call, uuid))
    const answer = await call<{ administrator: AdministratorRecord } & Revoked>(
      'POST',
      'administrators',
      body,
    )
    if (isLast) warnOfNoOwner()
    return answer
  })
  const { administrator } = answer
  if (options.json) return printJson(administrator)
  print(`${nameOf(administrator)} is an administrator now: ${administrator.role}\n`)
  printRevoked(answer)
}

export async function isLastOwner(call: Call, uuid: string): Promise<boolean> {
  const administrators = await listAll<AdministratorRecord>(call, 'administrators', {}, 1000)
  const owners = administrators.filter(({ role }) => role === 'owner')
  return owners.length === 1 && owners[0]!.uuid === uuid
}

export function warnOfNoOwner(): void {
  process.stderr.write(
    'Nobody is an owner of administration any more: `poterne admins add ACCOUNT --role owner` makes one.\n',
  )
}

const list = (options: ListOptions) =>
  printList<AdministratorRecord>(options, 'administrators', {
    header: ['UUID', 'E-MAIL', 'PHONE', 'ROLE', 'SINCE', 'LAST SIGN-IN'],
    cells: ({ uuid, email, phone, role, created_at, last_signed_in_at }) => [
      uuid,
      email,
      phone,
      role,
      created_at.slice(0, 10),
      last_signed_in_at,
    ],
    empty: 'There is no administrator yet: `poterne admins add ACCOUNT --role owner` makes one.',
  })

async function remove(name: string, options: Options): Promise<void> {
  await callService(options, async (call) => {
    const account = await findAccount(call, name)
    const isLast = await isLastOwner(call, account.uuid)
    const who = `${isLast ? 'the last owner' : 'the administrator'} ${nameOf(account)}`
    await confirm(`Remove ${who}, and revoke the tokens that they made?`, options.yes)
    const answer = await call<Revoked>('DELETE', `administrators/${account.uuid}`)
    const { revoked_tokens = 0 } = answer
    if (isLast) warnOfNoOwner()
    if (options.json) return printJson({ uuid: account.uuid, removed: true, revoked_tokens })
    print(`${nameOf(account)} is an administrator no longer\n`)
    printRevoked(answer)
  })
}

function printRevoked({ revoked_tokens: tokens }: Revoked): void {
  if (!tokens) return
  const were =
    tokens === 1 ? '1 token that they made was revoked' : `${tokens} tokens that they made were revoked`
  print(`${were}: poterne events list --type token.revoked\n`)
}
