/** `poterne migrate`: applies the pending migrations, or lists them. */
import { Command } from 'commander'
import { openDatabase } from '../compose/connections.ts'
import { isEmbeddedThere } from '../platform/postgres/embedded.ts'
import { applyMigrations, migrationNames, planMigrations } from '../platform/postgres/migrate.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply the pending migrations')
    .option(...configOption)
    .option('--plan', 'only list them')
    .action(migrate)
}

async function migrate({ plan, ...options }: CommandOptions & { plan?: boolean }): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  // A new embedded database is created with all migrations applied. A plan must not create it.
  const isNew = config.database.url === null && !isEmbeddedThere(config.storage.dataDir)
  if (isNew && plan) return print('pending', migrationNames)
  const database = await openDatabase(config)
  try {
    if (plan) return print('pending', await planMigrations(database))
    const applied = await applyMigrations(database, new Date())
    print('applied', isNew ? migrationNames : applied)
  } finally {
    await database.close()
  }
}

function print(what: 'pending' | 'applied', names: string[]): void {
  if (names.length === 0) process.stdout.write('The database is up to date.\n')
  else process.stdout.write(names.map((name) => `${what} ${name}\n`).join(''))
}
