/**
 * Commands reach administration over the socket of a running service. Without one, they call the same routes on the
 * configured database, while neither worker nor timers run.
 */
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { ListedAccount } from '../../administration/directory/directory-schema.ts'
import { withService } from '../../compose/compose.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import {
  answers,
  isServiceOf,
  isTrusted,
  type SocketSettings,
  socketCandidates,
} from '../../platform/admin-socket.ts'
import type { LoadedConfig } from '../../platform/config/load.ts'
import { nameOfUser } from '../../platform/data-directory.ts'
import { parseWholeNumber } from '../../platform/http/read-values.ts'
import { runAsRequest } from '../../platform/request-context.ts'
import { DataDirectoryLocked, isStarting } from '../../storage/embedded/lock.ts'
import { type CommandOptions, configOption, describeProblems, readConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { type CommonOptions, identifierOf, timeOf } from './option-values.ts'
import { type Cell, print, printJson, printResult, printTable } from './print.ts'

/** The names by which people find an account. */
export const NAME = 'an e-mail address, a phone number or a uuid'
/** The argument of commands about one account. */
export const accountArgument = ['<account>', NAME, identifierOf('<account>')] as const

export type ServiceCallOptions = CommandOptions & { socket?: string | undefined }

export const socketOption = ['--socket <path>', 'the socket of the running service'] as const

/** The options of every command that calls the service, beside its own. */
export type Options = ServiceCallOptions & CommonOptions

export const addServiceCommand = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .description(description)
    .option(...configOption)
    .option(...socketOption)

/** The limit of lists, which `readLimit` reads. */
export const limitOption = ['--limit <number>', 'the number of rows at most', '1000'] as const
export const sinceOption = [
  '--since <time>',
  'since this time, such as 2026-07-01 or 2026-07-01T12:00:00Z',
  timeOf('--since'),
] as const

/** Calls an operation under /admin/v1. Throws CommandFailure with the message of the answer. */
export type Call = <Body>(method: string, path: string, body?: unknown) => Promise<Body>

type Handle = (request: Request) => Response | Promise<Response>

export async function callService<T>(options: ServiceCallOptions, work: (call: Call) => Promise<T>) {
  const loaded = readConfig({ ...options, mustDeliver: false })
  const find = () => findSocket(options, socketSettingsOf(loaded))
  const socket = await find()
  if (socket !== null) return work(callBy(over(socket)))
  if (!loaded.ok)
    throw new CommandFailure(
      2,
      `${describeProblems(loaded.file, loaded.problems)}\nAnd no service answers either: start it, or name its socket with --socket.`,
    )
  try {
    return await withService(loaded.config, ({ administration }) => work(callBy(administration.handle)))
  } catch (error) {
    // A service that was starting took it first.
    const started = error instanceof DataDirectoryLocked ? await find() : null
    if (started === null) throw error
    return work(callBy(over(started)))
  }
}

/** It returns null where no service of this configuration runs on this machine. */
export async function callRunningService(options: ServiceCallOptions, config: SocketSettings) {
  const socket = await findSocket(options, config)
  return socket === null ? null : callBy(over(socket))
}

const over =
  (socket: string): Handle =>
  (request) =>
    fetch(request, { unix: socket } as RequestInit)

/** A configuration with an error, or with a `${NAME}` that only the service knows, still says where the socket is. */
function socketSettingsOf(loaded: LoadedConfig): Partial<SocketSettings> {
  if (loaded.ok) return loaded.config
  const textOf = (section: string, key: string) => {
    const raw = loaded.settings.find((setting) => setting.section === section && setting.key === key)?.raw
    return typeof raw === 'string' ? raw : null
  }
  const dataDir = textOf('storage', 'data_dir')
  return { admin: { socket: textOf('admin', 'socket') }, ...(dataDir !== null && { storage: { dataDir } }) }
}

/** A service that was started just before the command is waited for. */
async function findSocket(options: ServiceCallOptions, config: Partial<SocketSettings>) {
  for (;;) {
    const socket = await lookForSocket(options, config)
    if (socket !== null || !config.storage || !isStarting(config.storage.dataDir)) return socket
    await Bun.sleep(200)
  }
}

async function lookForSocket({ socket }: ServiceCallOptions, config: Partial<SocketSettings>) {
  if (socket !== undefined) {
    if (await answers(socket)) return socket
    throw new CommandFailure(1, `no service answers at ${socket}`)
  }
  const named = process.env.POTERNE_ADMIN_SOCKET
  if (named && (await answers(named))) return named
  for (const { path, mustBeTrusted } of socketCandidates(config)) {
    if (!(await isServiceOf(path, config))) continue
    if (mustBeTrusted && !isTrusted(path))
      throw new CommandFailure(
        1,
        `${path} belongs neither to root nor to the user who runs this: name it with --socket if you trust it`,
      )
    return path
  }
  return null
}

function callBy(handle: Handle): Call {
  return async <Body>(method: string, path: string, body?: unknown) => {
    const text = body === undefined ? null : JSON.stringify(body)
    const response = await handle(
      new Request(`http://administration/admin/v1/${path}`, {
        method,
        headers: {
          'accept-language': 'en',
          'x-operator': loginName(),
          // A request that goes through no network gets no length by itself, and would count as one without a body.
          ...(text !== null && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(text)),
          }),
        },
        body: text,
      }),
    )
    const answer = (await response.json()) as Body & Answer
    if (response.status < 400) return answer
    const fields = (answer.errors ?? []).map(
      ({ field, code, message }) =>
        `\n  ${field}: ${(code === 'invalid_value' && expectations[field]) || message}`,
    )
    throw new CommandFailure(1, `${answer.message}${fields.join('')}`)
  }
}

/** Says what these fields take, where the service says only that it does not accept the value. */
const expectations: Record<string, string> = {
  role_id: 'there is no such role: give its number, or a name of [roles] in the configuration',
}

interface Answer {
  message: string
  errors?: { field: string; code: string; message: string }[]
}

/** Read before root takes on the owner of a data directory: the audit trail names who ran the command. */
const uid = process.geteuid?.() ?? 0

/** It serves the audit trail only: somebody who may open the socket could also send another name. */
export function loginName(): string {
  const name = process.env.SUDO_USER || process.env.USER || nameOfUser(uid) || `uid ${uid}`
  return name.replace(/[^\x20-\x7e]/g, '?')
}

/** Every page of a list, up to `limit` items. */
export async function listAll<Item>(
  call: Call,
  path: string,
  query: Record<string, string | undefined>,
  limit: number,
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null && items.length < limit; ) {
    const page = new URLSearchParams({ limit: String(Math.min(200, limit - items.length)) })
    if (cursor) page.set('cursor', cursor)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) page.set(name, value)
    const answer = await call<{ items: Item[]; next_cursor: string | null }>('GET', `${path}?${page}`)
    items.push(...answer.items)
    cursor = answer.next_cursor
  }
  return items
}

/** The options of commands that print a list. */
export type ListOptions = Options & { limit?: string }

/** Lists what is at a path, which may have to be found out by a call: a table for people, the items for programs. */
export async function printList<Item>(
  { limit, json, ...options }: ListOptions,
  path: string | ((call: Call) => Promise<string>),
  { header, cells, empty }: { header: string[]; cells: (item: Item) => Cell[]; empty: string },
  query: Record<string, string | undefined> = {},
): Promise<void> {
  const most = readLimit(limit)
  const items = await callService(options, async (call) =>
    listAll<Item>(call, typeof path === 'string' ? path : await path(call), query, most),
  )
  if (json) printJson(items)
  else printTable(header, items.map(cells), { empty })
}

/** Reads the number of `--limit`. */
export function readLimit(text: string | undefined): number {
  const limit = text === undefined ? 1000 : parseWholeNumber(text, { minimum: 1 })
  if (limit !== null) return limit
  throw new CommandFailure(2, `--limit must be a number from 1, not ${text}`)
}

/** The account of an e-mail address, a phone number in any spelling, or a uuid. */
export async function findAccount(call: Call, name: string): Promise<ListedAccount> {
  const items = (await listAll<ListedAccount>(call, 'accounts', { query: name }, 20)).filter((account) =>
    isNamed(account, name),
  )
  const verified = items.filter((account) => account.email_verified_at ?? account.phone_verified_at)
  const [only, ...others] = verified.length > 0 ? verified : items
  if (only === undefined) throw new CommandFailure(1, `there is no account ${name}`)
  if (others.length === 0) return only
  const uuids = [only, ...others].map(({ uuid }) => uuid).join(', ')
  throw new CommandFailure(1, `several accounts have ${name}: name one by its uuid (${uuids})`)
}

/** The name by which sentences call an account. */
export const nameOf = ({ uuid, email, phone }: Pick<ListedAccount, 'uuid' | 'email' | 'phone'>) =>
  email ?? phone ?? uuid

/**
 * The uuid of the account that is meant. A uuid is taken as it is: one call is enough, and nobody looked at the person. An
 * account that is erased has no other name.
 */
export async function uuidOf(call: Call, name: string): Promise<string> {
  return isUuid(name) ? name : (await findAccount(call, name)).uuid
}

/** The commands that revoke a token or an invitation. */
export const revokeBy = (what: 'token' | 'invitation') => async (id: string, options: Options) => {
  await confirm(`Revoke the ${what} ${id}?`, options.yes)
  await callService(options, (call) => call('DELETE', `${what}s/${encodeURIComponent(id)}`))
  printResult(options, { id, revoked: true }, `${id} is revoked`)
}

/** Prints what was made, and on the terminal that its secret is shown this once. */
export function printOnce(options: Options, made: { expires_at: string }, secret: string) {
  if (options.json) return printJson(made)
  print(`${secret}\n`)
  process.stderr.write(`It is shown only here, and ends at ${made.expires_at}.\n`)
}

/** Does its work in the name of who runs the command. */
export function asOperator<T>(work: () => T): T {
  const name = loginName()
  return runAsRequest({ requestId: crypto.randomUUID(), actor: { type: 'operator', id: name, name } }, work)
}

/** An account whose name only begins so is another one. A phone number has many spellings, which end alike. */
function isNamed({ uuid, email, phone }: ListedAccount, name: string): boolean {
  if (name.includes('@')) return email?.toLowerCase() === name.trim().toLowerCase()
  const digits = name.replace(/\D/g, '').replace(/^0+/, '')
  return uuid === name.toLowerCase() || (digits.length > 5 && phone?.endsWith(digits) === true)
}

/** Asks for confirmation on a terminal; elsewhere `--yes` is required. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new CommandFailure(2, `${question} Say so with --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure(1, 'nothing was done')
}
