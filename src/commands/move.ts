/** `poterne move --to …`: from the embedded database to a PostgreSQL server, and back. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { embeddedName, type Moved, move } from '../compose/move.ts'
import { BackupRefused } from '../platform/backup/refused.ts'
import { readMigration } from '../platform/backup/write.ts'
import { explainDatabaseUrl, isDatabaseUrl } from '../platform/config/database-url.ts'
import type { Config } from '../platform/config/types.ts'
import { startGuard } from '../platform/own-process.ts'
import { type CopySession, openServerCopy } from '../platform/postgres/copy.ts'
import { isEmbeddedThere, NoDatabase, openEmbeddedCopy } from '../platform/postgres/embedded.ts'
import { readNewestMigration } from '../platform/postgres/rebuild.ts'
import {
  type AllowJob,
  allowAgain,
  allowWrites,
  forbidWrites,
  readMark,
  removeMark,
} from '../platform/postgres/relocation.ts'
import { previousFileIn } from '../platform/secret-file.ts'
import type { CommonOptions } from './common-options.ts'
import { configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { print, printResult } from './print.ts'
import { abortable, createProgressBar } from './progress.ts'
import { asOperator, callRunningService, type ServiceCallOptions, socketOption } from './service-call.ts'

type Options = ServiceCallOptions & CommonOptions & { to?: string; undo?: boolean }

const EMBEDDED = 'embedded'

export function moveCommand(): Command {
  return new Command('move')
    .description('move all data between the embedded database and a PostgreSQL server')
    .option('--to <place>', 'postgres://…, or "embedded": the database in storage.data_dir')
    .option('--undo', 'remove the mark from data that was moved, so that poterne uses it again')
    .option(...configOption)
    .option(...socketOption)
    .action(run)
}

async function run(options: Options): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  if ((options.to === undefined) === (options.undo !== true))
    throw new CommandFailure(2, 'expected either --to or --undo')
  try {
    await (options.undo ? undo(config, options) : moveTo(options.to!, config, options))
  } catch (error) {
    if (error instanceof BackupRefused) throw new CommandFailure(1, error.message)
    throw error
  }
}

async function moveTo(to: string, config: Config, options: Options): Promise<void> {
  const isServer = to !== EMBEDDED
  if (isServer && !isDatabaseUrl(to))
    throw new CommandFailure(
      2,
      `--to: ${explainDatabaseUrl(to, '') ?? `expected "${EMBEDDED}" or a URL that begins with postgres://`}`,
    )
  if (isServer !== (config.database.url === null))
    throw new CommandFailure(
      2,
      isServer
        ? 'the data is on a PostgreSQL server already (database.url): move it with the tools of PostgreSQL'
        : 'the data is in the embedded database already: database.url is not set',
    )
  const { dataDir } = config.storage
  requireEmbedded(config)
  if (!isServer) await requireServerData(config.database.url!)
  const bar = createProgressBar()
  const target = isServer ? await openServerCopy(to, '--to') : await openEmbeddedCopy(dataDir)
  const guards: ReturnType<typeof startGuard>[] = []
  const dismissGuards = () => Promise.all(guards.map((guard) => guard.dismiss()))
  try {
    const movedTo = isServer ? withoutPassword(to) : embeddedName(resolve(dataDir))
    const takeSource = async (): Promise<CopySession> => {
      if (isServer) {
        const call = await callRunningService(options, config)
        await call?.('POST', 'backups/release')
        return openEmbeddedCopy(dataDir, undefined, {})
      }
      const url = config.database.url!
      const server = await openServerCopy(url)
      guards.push(startGuard({ task: 'allow', url } satisfies AllowJob))
      await forbidWrites(server)
      return server
    }
    const moved = await abortable((signal) =>
      move({ target, movedTo, takeSource, now: new Date(), onProgress: bar.show, signal }),
    ).catch(async (error: unknown) => {
      if (guards.length > 0) await allowAgain(config.database.url!)
      throw error
    })
    bar.end()
    await dismissGuards()
    const lines = isServer ? linesForServer(config, to) : linesForEmbedded(config)
    if (!options.json) report(moved, lines, isServer)
    const { rows } = await asOperator(() => moved.finish(bar.show))
    bar.end()
    printResult(
      options,
      { rows: moved.rows, held_ms: moved.heldMs, later_rows: rows, configuration: lines },
      `${rows} events and finished messages followed. The move is complete.`,
    )
  } finally {
    bar.end()
    await dismissGuards()
    await target.close()
  }
}

function requireEmbedded({ database, storage }: Config): void {
  if (database.url === null && !isEmbeddedThere(storage.dataDir)) throw new NoDatabase(storage.dataDir)
}

/** It comes before the embedded database is made: a server without data would leave an empty one. */
async function requireServerData(url: string): Promise<void> {
  const session = await openServerCopy(url)
  try {
    await readMigration(session)
  } finally {
    await session.close()
  }
}

function report({ rows, heldMs }: Moved, lines: string[], isServer: boolean): void {
  const held =
    heldMs === null
      ? 'The data was moved before.'
      : `${rows} rows were moved; no write was accepted for ${(heldMs / 1000).toFixed(1)} s.`
  print(
    `${held}\nThe old data is marked, and whoever still runs with it answers 503. Start poterne with these lines${isServer ? ' now' : ' once this command has ended'}:\n\n${lines.join('\n')}\n\n`,
  )
}

function linesForServer({ server, storage }: Config, to: string): string[] {
  const url = withoutPassword(to)
  const directory = resolve(storage.dataDir)
  const previous = existsSync(previousFileIn(directory))
    ? [`previous_secrets = ["\${PREVIOUS_SECRET}"]   # each line of ${previousFileIn(directory)}`]
    : []
  const secret =
    server.secret === null
      ? ['[server]', `secret = "\${SERVER_SECRET}"   # what ${directory}/secret holds`, ...previous, '']
      : []
  return [
    ...secret,
    '[database]',
    `url = "${url}"${url === to && process.env.PGPASSWORD === undefined ? '' : '   # with its password'}`,
  ]
}

const linesForEmbedded = ({ storage }: Config): string[] => [
  '[storage]',
  `data_dir = "${resolve(storage.dataDir)}"`,
  '',
  '# without [database] url and [redis]; server.secret stays',
]

function withoutPassword(url: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@/]*@/, '$1@')
}

async function requireTables(session: CopySession): Promise<void> {
  if ((await readNewestMigration(session)) === undefined)
    throw new CommandFailure(1, 'database.url: poterne has no data in this database')
}

async function undo(config: Config, options: Options): Promise<void> {
  const { url } = config.database
  requireEmbedded(config)
  const session =
    url === null ? await openEmbeddedCopy(config.storage.dataDir, undefined, {}) : await openServerCopy(url)
  try {
    if (url !== null) await requireTables(session)
    if (url !== null) await session.query('set default_transaction_read_only = off')
    const mark = await readMark(session)
    if (mark !== null) await removeMark(session)
    await allowWrites(session)
    printResult(
      options,
      { moved_to: mark?.movedTo ?? null },
      mark === null
        ? 'The data is not marked.'
        : `The data is in use again. What was written to ${mark.movedTo} since is not in it.`,
    )
  } finally {
    await session.close()
  }
}
