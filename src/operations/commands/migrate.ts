/** `poterne migrate`: applies the pending migrations, or lists them. */
import { Command } from 'commander'
import { openDatabase } from '../../compose/connections.ts'
import { migrateDatabase } from '../../compose/migrating.ts'
import { ownMigrations, planMigrations } from '../../platform/postgres/migrate.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import type { CommonOptions } from './option-values.ts'
import { print, printJson } from './print.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply the pending migrations')
    .option(...configOption)
    .option('--plan', 'only list the pending migrations')
    .option('--own', 'list the migrations of this executable as JSON, without asking a database')
    .action(migrate)
}

interface MigrateOptions extends CommandOptions, CommonOptions {
  plan?: boolean
  own?: boolean
}

async function migrate({ plan, own, json, ...options }: MigrateOptions): Promise<void> {
  if (own) {
    return printJson(
      ownMigrations.map(({ name, oldestVersion }) => ({ name, oldest_version: oldestVersion })),
    )
  }
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const database = await openDatabase(config)
  try {
    if (plan) return printMigrations('pending', await planMigrations(database), json)
    printMigrations('applied', await migrateDatabase(database, config, new Date()), json)
  } finally {
    await database.close()
  }
}

function printMigrations(what: 'pending' | 'applied', names: string[], json = false): void {
  if (json) printJson({ [what]: names })
  else if (names.length === 0) print('The database is up to date.\n')
  else print(names.map((name) => `${what} ${name}\n`).join(''))
}
