/**
 * `[[test_identities]]` lists identifiers to which nothing is sent, and whose code is always the same. An entry that may not
 * be used counts as absent.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { endOfDay } from '../../../platform/config/schema-people.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { Logger } from '../../../platform/log/logging.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Identifier, maskDestination, parseIdentifier } from '../identifiers/identifier.ts'
import type { TestIdentityStore } from './store.ts'

export interface TestIdentity {
  /** The six digits. */
  code: string
}

interface Needs {
  clock: Clock
  config: Pick<Config, 'testIdentities' | 'accounts'>
  stores: { testIdentities: TestIdentityStore }
}

export type TestIdentities = ReturnType<typeof createTestIdentities>

export function createTestIdentities({ clock, config, stores }: Needs) {
  const entries = config.testIdentities.map((entry) => ({
    ...entry,
    parsed: parseIdentifier(entry.identifier, config.accounts.defaultCountry),
    end: endOfDay(entry.until)!,
  }))
  type Entry = (typeof entries)[number]

  const entryOf = (identifier: Identifier) => entries.find(({ parsed }) => parsed?.key === identifier.key)

  async function problemOf({ parsed, end, until }: Entry): Promise<string | null> {
    if (parsed === null) return 'it is neither an e-mail address nor a valid phone number'
    if (end <= clock.now()) return `it ended with ${until}`
    return (await stores.testIdentities.isOrdinary(parsed)) ? 'it belongs to an ordinary account' : null
  }

  async function find(identifier: Identifier): Promise<TestIdentity | null> {
    const entry = entryOf(identifier)
    return entry === undefined || (await problemOf(entry)) !== null ? null : entry
  }

  return {
    /** Tells whether an entry names it, usable or not. */
    isNamed: (identifier: Identifier): boolean => entryOf(identifier) !== undefined,
    /** Null unless an entry names it that may be used now. */
    find,
    /** It refuses an identifier to which nothing is ever sent. */
    async refuse(identifier: Identifier): Promise<void> {
      if ((await find(identifier)) !== null) throw new AppError('channel_not_available')
    },
    list: () =>
      Promise.all(
        entries.map(async (entry) => ({
          identifier: maskDestination(entry.identifier),
          until: entry.until,
          /** The reason why it may not be used; null if it may. */
          problem: await problemOf(entry),
        })),
      ),
  }
}

/** Digits of any length. */
export const isCodeOf = ({ code }: TestIdentity, digits: string): boolean =>
  digits.length === code.length && timingSafeEqual(Buffer.from(digits), Buffer.from(code))

/** At the start of the service. An entry that may not be used never stops it. */
export async function reportTestIdentities(
  identities: Pick<TestIdentities, 'list'>,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<void> {
  for (const { identifier, until, problem } of await identities.list()) {
    if (problem === null)
      logger.warn({ identifier, until }, 'a test identity is on: its code opens an account')
    else logger.error({ identifier, until }, `a test identity is ignored: ${problem}`)
  }
}
