/** A Database on a PostgreSQL server, by postgres.js. */
import postgres from 'postgres'
import { StoreUnreachable } from '../failure.ts'
import { readDatabaseUrl } from './address.ts'
import { announceInserts, camelCase, createExecutor, type Database, type RunStatement } from './database.ts'
import { DatabaseReadOnly, retryConflicts } from './failure.ts'
import { inTransaction } from './in-transaction.ts'
import { createPool, whilePlansAreStale } from './pool.ts'
import { MIXED, mixesSessions } from './pooler.ts'
import { countGiven, describePool } from './server-fitness.ts'
import { settingsSql } from './session-settings.ts'

interface ServerOptions {
  url: string
  poolSize: number
}

/**
 * Together they are below the 5 s within which a caller must get its 503. The server ends a slow statement first; if it
 * cannot even do that, the pool cuts the connection.
 */
const STATEMENT_TIMEOUT_MS = 2500
const CONNECT_TIMEOUT_SECONDS = 2.5
const WORK_MS = 3000
const WAIT_MS = 1500

/**
 * Prepared plans are cached (docs/decisions/sequential-scans-off.md): a plan made while a table was empty would read the
 * whole table once it has thousands of rows. All our statements find their rows by an index, and none is worth compiling.
 */
const PLANS = { enable_seqscan: 'off', jit: 'off' }

const SETTINGS = settingsSql({ statement_timeout: `${STATEMENT_TIMEOUT_MS}ms`, ...PLANS })

const types = {
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  json: {
    to: 3802,
    from: [114, 3802],
    // A parameter that is a text is JSON already.
    serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
    parse: (text: string) => JSON.parse(text),
  },
}

/**
 * By itself postgres.js would repeat a statement whose plan is stale, with its parameters serialized twice. It would
 * write it between the statements of others on the same connection, so that callers got each other's rows. It
 * recognises such an error by its `routine`. Without one it reports the error, and the pool repeats the statement.
 */
Object.defineProperty(postgres.PostgresError.prototype, 'routine', { set() {} })

export const openServer = (options: ServerOptions): Database => openPool(options).database

function openPool({ url, poolSize }: ServerOptions) {
  const { connection, ...place } = readDatabaseUrl(url).options
  const pool = createPool({
    size: poolSize,
    waitMs: WAIT_MS,
    workMs: WORK_MS,
    settings: SETTINGS,
    connect: (onclose) =>
      postgres({
        ...place,
        max: 1,
        connect_timeout: CONNECT_TIMEOUT_SECONDS,
        idle_timeout: 0,
        max_lifetime: 3600,
        fetch_types: false,
        onnotice: () => {},
        onclose,
        types,
        transform: { column: { from: camelCase } },
        connection: { application_name: 'poterne', ...connection },
      }),
  })

  const run: RunStatement = (text, values) => retryConflicts(() => pool.run(text, values))

  const database = announceInserts({
    kind: 'postgres',
    ...createExecutor(run),
    // In a transaction one statement cannot be repeated: the whole is.
    transaction: (work, options) =>
      pool.use(
        (connection) =>
          whilePlansAreStale(() => inTransaction(connection.run, () => work(createExecutor(connection.run)))),
        options,
      ),
    session: (work) =>
      pool.use((connection) => work(createExecutor(connection.run)), {
        noDeadline: true,
        cutAfterError: true,
      }),
    ping: async () => {
      const [row] = await run(`select current_setting('transaction_read_only') as "readOnly"`, [])
      // A standby, or a primary that an operator made read-only: nobody can register or sign in there.
      if (row?.readOnly !== 'off') throw new DatabaseReadOnly('read-only')
    },
    close: pool.close,
  })
  return { database, pool }
}

/**
 * Throws StoreUnreachable if nothing answers at `database.url`, if the server does not let us in, or if a pooler stands
 * before it that mixes the sessions of its clients. Warns where the server gives fewer connections than the pool may take.
 */
export async function connectServer(
  options: ServerOptions,
  warn: (message: string) => void = () => {},
): Promise<Database> {
  const { database, pool } = openPool(options)
  try {
    const given = await countGiven(database)
    const shortage = describePool(options.poolSize, given)
    if (shortage !== null) warn(shortage)
    // One is left for commands, such as `poterne backup`.
    pool.keepTo(given - 1)
    const isAlone = Math.min(options.poolSize, given - 1) <= 1
    const probed = isAlone ? openPool({ ...options, poolSize: 2 }).pool : pool
    const isMixed = await mixesSessions(probed).finally(() => isAlone && probed.close())
    if (isMixed) throw new Error(MIXED)
    return database
  } catch (error) {
    await database.close()
    throw new StoreUnreachable('database.url', error)
  }
}
