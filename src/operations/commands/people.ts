/** `poterne accounts create | invite | access-code | remove-two-factor | undo-contact`: makes accounts, and lets people back in. */
import type { Command } from 'commander'
import type { AccountDetails, ListedAccount } from '../../administration/directory/directory-schema.ts'
import {
  type AccountFieldOptions,
  addFieldOptions,
  addNewPersonOptions,
  type CarriedOptions,
  carriedOf,
  fieldsOf,
  printAccount,
} from './account-fields.ts'
import { CommandFailure } from './failure.ts'
import { durationOf, emailOf, oneOf, phoneOf } from './option-values.ts'
import { printJson, printResult } from './print.ts'
import {
  accountArgument,
  callService,
  confirm,
  findAccount,
  nameOf,
  type Options,
  uuidOf,
} from './service-call.ts'

interface CreateOptions extends Options, AccountFieldOptions, Omit<CarriedOptions, 'endTokens'> {
  email?: string
  phone?: string
  verified?: boolean
  invite?: boolean
}

interface CodeOptions extends Options {
  lifetime?: string
  send?: string
  removeFactors?: boolean
}

export function addPeopleCommands(add: (name: string, description: string) => Command): void {
  const creating = add('create', 'create an account')
    .option('--email <address>', 'its e-mail address', emailOf('--email'))
    .option('--phone <number>', 'its phone number', phoneOf('--phone'))
    .option('--verified', 'confirm the account, because its contacts are known to belong to the person')
    .option('--invite', 'send the person a code to choose a password with')
  addNewPersonOptions(addFieldOptions(creating, 'a JSON object')).action(create)
  add('invite', 'send a new invitation, which replaces the one before')
    .argument(...accountArgument)
    .option(
      '--lifetime <duration>',
      'how long the invitation is valid, at most 30d',
      durationOf('--lifetime', '30d'),
      '7d',
    )
    .action(invite)
  add('resend-confirmation', 'send the code again to somebody who has not confirmed the account')
    .argument(...accountArgument)
    .action(resendConfirmation)
  add('change-contact', 'give an account another e-mail address or phone number')
    .argument(...accountArgument)
    .option('--email <address>', 'the new e-mail address', emailOf('--email'))
    .option('--phone <number>', 'the new phone number', phoneOf('--phone'))
    .option('--verified', 'the contact is known to belong to the person')
    .action(changeContact)
  add('access-code', 'make a temporary access code, with which somebody chooses a new password')
    .alias('recover')
    .argument(...accountArgument)
    .option(
      '--send <channel>',
      'send it to a verified contact, by email or sms, instead of showing it',
      oneOf('--send', ['email', 'sms']),
    )
    .option(
      '--lifetime <duration>',
      'how long the code is valid, at most 24h',
      durationOf('--lifetime', '24h'),
      '1h',
    )
    .option('--remove-factors', 'using it removes every passkey and every linked provider')
    .action(makeAccessCode)
  add('export', 'print everything stored about a person, as JSON')
    .argument(...accountArgument)
    .action(exportAccount)
  add('remove-two-factor', 'turn off two-factor sign-in for somebody who lost every second factor')
    .argument(...accountArgument)
    .action(removeTwoFactor)
  add('undo-contact', 'bring back the last contact that was changed, while the link of its notice is open')
    .argument(...accountArgument)
    .action(undoContact)
}

async function create({ email, phone, verified, invite: invites, ...options }: CreateOptions) {
  if (email === undefined && phone === undefined)
    throw new CommandFailure(2, 'name a contact, for example --email ada@example.com')
  const { group, ...rest } = options
  const groups = group && { groups: group.map((name) => name.replace(/^\+/, '')) }
  const body = {
    email,
    phone,
    verified,
    invite: invites,
    ...fieldsOf(options),
    ...carriedOf(rest),
    ...groups,
  }
  const { account } = await callService(options, (call) =>
    call<{ account: ListedAccount }>('POST', 'accounts', body),
  )
  printAccount(account, options)
}

async function invite(name: string, { lifetime, ...options }: CodeOptions): Promise<void> {
  const { expires_at } = await callService(options, async (call) =>
    call<{ expires_at: string }>('POST', `accounts/${await uuidOf(call, name)}/invite`, { lifetime }),
  )
  printResult(options, { expires_at }, `${name} is invited. The code is valid until ${expires_at}.`)
}

async function resendConfirmation(name: string, options: Options): Promise<void> {
  await callService(options, async (call) =>
    call('POST', `accounts/${await uuidOf(call, name)}/resend-confirmation`),
  )
  printResult(options, { sent: true }, `the code is on its way to ${name}`)
}

async function changeContact(
  name: string,
  {
    email,
    phone,
    verified = false,
    ...options
  }: Options & Pick<CreateOptions, 'email' | 'phone' | 'verified'>,
): Promise<void> {
  const value = email ?? phone
  if (value === undefined || (email !== undefined && phone !== undefined))
    throw new CommandFailure(2, 'name one new contact, for example --email ada@example.com')
  const { account } = await callService(options, async (call) =>
    call<{ account: ListedAccount }>(
      'PUT',
      `accounts/${await uuidOf(call, name)}/${email === undefined ? 'phone' : 'email'}`,
      { value, verified },
    ),
  )
  printResult(options, account, `${name} is ${value} now`)
}

async function makeAccessCode(name: string, { lifetime, send, removeFactors, ...options }: CodeOptions) {
  const { code, expires_at } = await callService(options, async (call) => {
    const account = await findAccount(call, name)
    if (send === undefined)
      await confirm(`Show a temporary access code for the account of ${nameOf(account)}?`, options.yes)
    return call<{ code: string | null; expires_at: string }>('POST', `accounts/${account.uuid}/access-code`, {
      lifetime,
      ...(send && { send }),
      ...(removeFactors && { remove_factors: true }),
    })
  })
  printResult(
    options,
    { code, expires_at },
    code === null
      ? `The code is sent. It is valid until ${expires_at}.`
      : `${code}\nIt is shown only here, and is valid until ${expires_at}. The person enters it to choose a new password.`,
  )
}

async function removeTwoFactor(name: string, options: Options): Promise<void> {
  const { due_at, who } = await callService(options, async (call) => {
    const account = await findAccount(call, name)
    const who = nameOf(account)
    await confirm(`Turn two-factor sign-in off for ${who}?`, options.yes)
    return {
      who,
      ...(await call<{ due_at: string | null }>('DELETE', `accounts/${account.uuid}/two-factor`)),
    }
  })
  printResult(
    options,
    { due_at },
    `two-factor sign-in of ${who} is off${due_at === null ? '' : ` from ${due_at} on`}`,
  )
}

async function undoContact(name: string, options: Options): Promise<void> {
  const { former, who } = await callService(options, async (call) => {
    const found = await findAccount(call, name)
    const { uuid } = found
    const who = nameOf(found)
    const { account } = await call<{ account: Pick<AccountDetails, 'contact_changes'> }>(
      'GET',
      `accounts/${uuid}`,
    )
    const change = account.contact_changes?.find(({ can_undo: canUndo }) => canUndo)
    if (change === undefined) throw new CommandFailure(1, `no change of a contact of ${who} can be undone`)
    const question = `Bring ${change.former} back to ${who}? Every session ends, and the password stops working.`
    await confirm(question, options.yes)
    await call('DELETE', `accounts/${uuid}/contact-changes/${change.id}`)
    return { former: change.former, who }
  })
  printResult(options, { former }, `the account of ${who} has ${former} again`)
}

async function exportAccount(name: string, options: Options): Promise<void> {
  const { status: _, ...document } = await callService(options, async (call) =>
    call<{ status: number }>('GET', `accounts/${await uuidOf(call, name)}/export`),
  )
  printJson(document)
}
