/** `poterne accounts create | invite | recover | remove-two-factor`: makes accounts, and lets people back in. */
import type { Command } from 'commander'
import {
  type AccountFieldOptions,
  addFieldOptions,
  fieldsOf,
  printAccount,
  type ShownAccount,
} from './account-fields.ts'
import { CommandFailure } from './failure.ts'
import { printJson, printResult } from './print.ts'
import { callService, confirm, findAccount, NAME, type Options, uuidOf } from './service-call.ts'

interface CreateOptions extends Options, AccountFieldOptions {
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
  const creating = add('create', 'make an account')
    .option('--email <address>', 'its e-mail address')
    .option('--phone <number>', 'its phone number')
    .option('--verified', 'the contacts are known to be the person’s: the account is confirmed')
    .option('--invite', 'send the person a code to choose a password with')
  addFieldOptions(creating, 'a JSON object').action(create)
  add('invite', 'send another invitation; the one before is dead')
    .argument('<account>', NAME)
    .option('--lifetime <duration>', 'how long it is valid, at most 30d', '7d')
    .action(invite)
  add('recover', 'make a code to choose a new password with')
    .argument('<account>', NAME)
    .option('--send <channel>', 'send it by email or sms to a verified contact, and do not show it')
    .option('--lifetime <duration>', 'how long it is valid, at most 24h', '1h')
    .option('--remove-factors', 'its use removes every passkey and linked provider')
    .action(recover)
  add('export', 'print everything stored about a person, as JSON')
    .argument('<account>', NAME)
    .action(exportAccount)
  add('remove-two-factor', 'turn two factors off for somebody who lost every one of them')
    .argument('<account>', NAME)
    .action(removeTwoFactor)
}

async function create({ email, phone, verified, invite: invites, ...options }: CreateOptions) {
  if (email === undefined && phone === undefined)
    throw new CommandFailure(2, 'name a contact, for example --email ada@example.com')
  const body = { email, phone, verified, invite: invites, ...fieldsOf(options) }
  const { account } = await callService(options, (call) =>
    call<{ account: ShownAccount }>('POST', 'accounts', body),
  )
  printAccount(account, options)
}

async function invite(name: string, { lifetime, ...options }: CodeOptions): Promise<void> {
  const { expires_at } = await callService(options, async (call) => {
    const uuid = await uuidOf(call, name)
    return call<{ expires_at: string }>('POST', `accounts/${uuid}/invite`, { lifetime })
  })
  printResult(options, { expires_at }, `invited ${name}; the code is valid until ${expires_at}`)
}

async function recover(
  name: string,
  { lifetime, send, removeFactors, ...options }: CodeOptions,
): Promise<void> {
  if (send !== undefined && send !== 'email' && send !== 'sms')
    throw new CommandFailure(2, `--send must be email or sms, not ${send}`)
  const { code, expires_at } = await callService(options, async (call) => {
    const { uuid, email, phone } = await findAccount(call, name)
    if (send === undefined)
      await confirm(`Show a code that opens the account of ${email ?? phone ?? uuid}?`, options.yes)
    return call<{ code: string | null; expires_at: string }>('POST', `accounts/${uuid}/recovery`, {
      lifetime,
      ...(send && { send }),
      ...(removeFactors && { remove_factors: true }),
    })
  })
  printResult(
    options,
    { code, expires_at },
    code === null
      ? `sent; the code is valid until ${expires_at}`
      : `${code}\nIt is shown only here, and is valid until ${expires_at}: the person enters it where they choose a new password.`,
  )
}

async function removeTwoFactor(name: string, options: Options): Promise<void> {
  const { due_at, who } = await callService(options, async (call) => {
    const { uuid, email, phone } = await findAccount(call, name)
    const who = email ?? phone ?? uuid
    await confirm(`Turn two-factor sign-in off for ${who}?`, options.yes)
    return { who, ...(await call<{ due_at: string | null }>('DELETE', `accounts/${uuid}/two-factor`)) }
  })
  printResult(
    options,
    { due_at },
    `two-factor sign-in of ${who} is off${due_at === null ? '' : ` from ${due_at} on`}`,
  )
}

async function exportAccount(name: string, options: Options): Promise<void> {
  const { status: _, ...document } = await callService(options, async (call) => {
    const uuid = await uuidOf(call, name)
    return call<{ status: number }>('GET', `accounts/${uuid}/export`)
  })
  printJson(document)
}
