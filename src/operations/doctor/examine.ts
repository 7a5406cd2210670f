/** Runs checks of the list, all at the same time; `onDone` is called after each. One that throws, or takes too long, has failed. */
import { databaseCode } from '../../platform/postgres/failure.ts'
import { within } from '../../platform/waiting.ts'
import {
  type Check,
  type DatabaseContext,
  type Finding,
  failure,
  type NamedFinding,
  type OutsideContext,
  type RedisContext,
  type StoreContext,
  warning,
} from './check.ts'
import { explainFailure } from './explain.ts'

const TIMEOUT_MS = 20_000
/** There is no such table or column. */
const UNMIGRATED = new Set(['42P01', '42703'])

interface Contexts {
  database: DatabaseContext
  redis: RedisContext
  stores: StoreContext
  here: OutsideContext
}

/** A look into all stores has what a look at one of them needs. */
const isWithin = (where: Check['where'], look: keyof Contexts) =>
  where === look || (look === 'stores' && where !== 'here')

export async function examine<Look extends keyof Contexts>(
  checks: readonly Check[],
  look: Look,
  context: Contexts[Look],
  onDone: () => void = () => {},
): Promise<NamedFinding[]> {
  const found = new Map<string, Promise<Finding>>()
  for (const check of checks) {
    if (!isWithin(check.where, look)) continue
    const run = check.run as (context: Contexts[Look]) => Finding | Promise<Finding>
    found.set(
      check.name,
      runAfter(check.after ? found.get(check.after) : undefined, check, () => run(context)),
    )
  }
  return Promise.all(
    [...found].map(async ([name, finding]) => {
      const done = { name, ...(await finding) }
      onDone()
      return done
    }),
  )
}

async function runAfter(
  before: Promise<Finding> | undefined,
  { after }: Check,
  run: () => Finding | Promise<Finding>,
): Promise<Finding> {
  if ((await before)?.level === 'failure') return warning(`not checked, because ${after} failed`)
  try {
    return await within(TIMEOUT_MS, Promise.resolve(run()), failure('there was no answer within 20 s'))
  } catch (error) {
    return UNMIGRATED.has(databaseCode(error) ?? '')
      ? warning('not checked, because migrations are pending')
      : failure(explainFailure(error))
  }
}
