/** What `poterne serve --dev` does besides: who can be signed in as, and what the developer is told at the start. */
import { describeRefusal } from '../../administration/imports/line.ts'
import type { Service } from '../../compose/compose.ts'
import type { Logger } from '../../platform/log/logging.ts'
import type { DevPerson } from '../dev/people.ts'
import { type SeedLine, seedPeople } from '../dev/seed.ts'
import { CommandFailure } from './failure.ts'
import { readJsonLines, requireReadable } from './json-lines.ts'

export interface DevOptions {
  dev?: boolean | undefined
  seed?: true | string
  devHost?: string
  fast?: true
}

const DEV_HOST =
  '--dev-host: whoever reaches this address can read every code and administer, with the key that is printed here: they are asked for it at every call'

/** Nothing of the sort exists in a service for the public. */
export function requireDev({ dev, seed, devHost, fast }: DevOptions): void {
  const given = { '--seed': seed, '--dev-host': devHost, '--fast': fast }
  const [option] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (option !== undefined && !dev) throw new CommandFailure(2, `${option} works only together with --dev`)
}

/** The people of `--seed FILE`; - is standard input. */
export async function readPeople(file: string): Promise<SeedLine[]> {
  requireReadable(file, '--seed: ')
  const people: SeedLine[] = []
  const problems: string[] = []
  for await (const read of readJsonLines(file))
    if ('record' in read) people.push(read)
    else problems.push(describeRefusal(read.line, read))
  if (problems.length === 0) return people
  throw new CommandFailure(2, `--seed: ${file}\n${indented(problems.join('\n'))}`)
}

const indented = (text: string) => text.replace(/^/gm, '  ')

/** Before anybody is answered: who waits for the service finds the people there. Those of a file; null: our own. */
export async function makePeople(
  { services, devPeople, close }: Service,
  { seed }: DevOptions,
  lines: SeedLine[] | null,
): Promise<void> {
  if (seed === undefined) return
  try {
    devPeople.push(...(await seedPeople(services, lines)))
  } catch (error) {
    await close()
    const { message } = error as Error
    throw new CommandFailure(2, `--seed: ${seed === true ? message : `${seed}\n${indented(message)}`}`)
  }
}

/** The service listens already. */
export function tellDeveloper(service: Service, options: DevOptions, url: string, logger: Logger): void {
  logger.info(devAddresses(url, service.devKey?.value ?? ''), 'open these')
  if (options.fast) logger.info('--fast: passwords are hashed as cheaply as can be, and limits are off')
  else if (service.services.config.limits.enabled) logger.info('limits are on, here too: --fast lifts them')
  if (options.devHost !== undefined) logger.info({ host: options.devHost }, DEV_HOST)
  for (const person of service.devPeople) logger.info(describe(person), 'you can sign in as')
}

/** Names the host `localhost`: passkeys do not work on a bare address, and a cookie belongs to one name. */
export const byName = (url: string) => url.replace(/\/\/(127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):/, '//localhost:')

function devAddresses(url: string, key: string) {
  return {
    start: `${url}/?key=${key}`,
    mailbox: `${url}/dev/mailbox?key=${key}`,
    documentation: `${url}/swagger`,
  }
}

const describe = ({ identifier, password, about, appSecret, isOwner }: DevPerson) => ({
  [identifier.includes('@') ? 'email' : 'phone']: identifier,
  ...(password !== null && { password }),
  about,
  ...(appSecret && { appSecret }),
  ...(isOwner && { administration: 'owner' }),
})
