/** `poterne migrate`: applies the pending migrations, or lists them. */
import { Command } from 'commander'
import { openDatabase } from '../compose/connections.ts'
import { applyMigrations, planMigrations } from '../platform/postgres/migrate.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply the pending migrations')
    .option(...configOption)
    .option('--plan', 'list them only')
    .action(migrate)
}

async function migrate({ plan, ...options }: CommandOptions & { plan?: boolean }): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const database = await openDatabase(config)
  try {
    const names = await (plan ? planMigrations(database) : applyMigrations(database, new Date()))
    if (names.length === 0) process.stdout.write('The database is up to date.\n')
    else process.stdout.write(names.map((name) => `${plan ? 'pending' : 'applied'} ${name}\n`).join(''))
  } finally {
    await database.close()
  }
}
