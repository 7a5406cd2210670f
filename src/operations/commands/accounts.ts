/** `poterne accounts …`: find, show, create, change, lock, unlock and erase accounts, and let people back in. */
import { Command } from 'commander'
import type { ListedAccount } from '../../administration/directory/directory-schema.ts'
import {
  type AccountFieldOptions,
  addCarriedOptions,
  addFieldOptions,
  type CarriedOptions,
  carriedOf,
  fieldsOf,
  printAccount,
} from './account-fields.ts'
import { isLastOwner, warnOfNoOwner } from './admins.ts'
import { CommandFailure } from './failure.ts'
import { timeOf } from './option-values.ts'
import { addPeopleCommands } from './people.ts'
import { countOf, printResult } from './print.ts'
import {
  accountArgument,
  addServiceCommand,
  callService,
  confirm,
  findAccount,
  type ListOptions,
  limitOption,
  NAME,
  nameOf,
  type Options,
  printList,
  uuidOf,
} from './service-call.ts'

export function accountsCommand(): Command {
  const command = new Command('accounts').description(
    'find, show, create, change, lock, unlock and erase accounts, and let people back in',
  )
  const add = (name: string, description: string) => addServiceCommand(command, name, description)
  add('list', 'search accounts, newest first')
    .argument('[query]', QUERY)
    .option('--locked', 'only those that are locked')
    .option('--unconfirmed', 'only those that nobody confirmed')
    .option('--limited', 'only those whose password or codes are refused now')
    .option('--role <role>', 'only those with this role, by its number or its name')
    .option(...limitOption)
    .action(list)
  add('show', 'print everything about an account')
    .argument(...accountArgument)
    .action(show)
  addPeopleCommands(add)
  add('verify', 'confirm an account that waits for its code')
    .argument(...accountArgument)
    .action((name, options: Options) => change(name, { confirmed: true }, options, stateOf))
  add('lock', 'end every session and refuse every sign-in')
    .argument(...accountArgument)
    .option('--reason <text>', 'kept with the account')
    .action((name, { reason, ...options }: Options & { reason?: string }) =>
      change(
        name,
        { locked: true, ...(reason !== undefined && { locked_reason: reason }) },
        options,
        stateOf,
      ),
    )
  add('unlock', 'let the owner sign in again, and tell them')
    .argument(...accountArgument)
    .action((name, options: Options) => change(name, { locked: false }, options, () => 'unlocked'))
  addCarriedOptions(
    addFieldOptions(
      add('set', 'change role, owner, language, metadata, username, groups or profile'),
      'a JSON object, in place of the one before',
    ),
  )
    .argument(...accountArgument)
    .action(set)
  add('forget-hashes', 'take the passwords that came from another system from accounts that nobody used')
    .requiredOption('--unused-since <time>', 'who did not sign in since this time', timeOf('--unused-since'))
    .action(forgetHashes)
  add('erase', 'remove an account for good')
    .argument(...accountArgument)
    .action(erase)
  return command
}

interface SearchOptions extends ListOptions {
  locked?: boolean
  unconfirmed?: boolean
  limited?: boolean
  role?: string
}

const QUERY = `${NAME}, an id, or any three characters of an address, a number or a name`

async function list(query: string | undefined, options: SearchOptions): Promise<void> {
  const typed = query?.trim() ?? ''
  if (typed !== '' && typed.length < 3 && !/^\d+$/.test(typed))
    throw new CommandFailure(2, `a search is ${QUERY}, not ${typed}`)
  const wanted = {
    query,
    locked: options.locked ? 'true' : undefined,
    confirmed: options.unconfirmed ? 'false' : undefined,
    limited: options.limited ? 'true' : undefined,
    role_id: options.role,
  }
  const isFiltered = Object.values(wanted).some((value) => value !== undefined)
  const table = {
    header: ['UUID', 'E-MAIL', 'PHONE', 'ROLE', 'STATE', 'CREATED'],
    cells: (account: ListedAccount) => [
      account.uuid,
      account.email,
      account.phone,
      account.role,
      stateOf(account),
      account.created_at.slice(0, 10),
    ],
    empty: isFiltered ? 'No account fits.' : 'There is no account yet.',
  }
  return printList(options, 'accounts', table, wanted)
}

const stateOf = ({ locked_at, limited, account_confirmed }: ListedAccount) =>
  locked_at !== null ? 'locked' : limited ? 'limited' : account_confirmed ? 'confirmed' : 'unconfirmed'

async function show(name: string, options: Options): Promise<void> {
  const { account } = await callService(options, async (call) =>
    call<{ account: ListedAccount }>('GET', `accounts/${await uuidOf(call, name)}`),
  )
  printAccount(account, options)
}

/** `state`: what the account is now, by what was asked for. */
async function change(
  name: string,
  patch: Record<string, unknown>,
  options: Options,
  state: (account: ListedAccount) => string,
): Promise<void> {
  const { account } = await callService(options, async (call) =>
    call<{ account: ListedAccount }>('PATCH', `accounts/${await uuidOf(call, name)}`, patch),
  )
  printResult(options, account, `${nameOf(account)} is ${state(account)}`)
}

function set(name: string, options: Options & AccountFieldOptions & CarriedOptions) {
  const patch = { ...fieldsOf(options), ...carriedOf(options) }
  if (Object.keys(patch).length === 0) throw new CommandFailure(2, 'name what to set, for example --role 3')
  return change(name, patch, options, () => 'changed')
}

async function forgetHashes({ unusedSince, ...options }: Options & { unusedSince: string }): Promise<void> {
  await callService(options, async (call) => {
    await confirm(
      `Take the passwords of another system from accounts unused since ${unusedSince}?`,
      options.yes,
    )
    let forgotten = 0
    for (let isDone = false; !isDone; ) {
      const body = { unused_since: unusedSince }
      const answer = await call<{ forgotten: number; done: boolean }>('POST', 'accounts/forget-hashes', body)
      forgotten += answer.forgotten
      isDone = answer.done
    }
    const sentence = `${countOf(forgotten, 'account')} without a password: their owners choose one by reset`
    printResult(options, { forgotten }, sentence)
  })
}

async function erase(name: string, options: Options): Promise<void> {
  await callService(options, async (call) => {
    const account = await findAccount(call, name)
    const { uuid } = account
    const isLast = await isLastOwner(call, uuid)
    const who = `${nameOf(account)}${isLast ? ', the last owner of administration,' : ''}`
    await confirm(`Erase ${who} for good?`, options.yes)
    await call('DELETE', `accounts/${uuid}`)
    if (isLast) warnOfNoOwner()
    printResult(options, { uuid, erased: true }, `${nameOf(account)} is erased`)
  })
}
