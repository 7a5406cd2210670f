/**
 * The migrations in drizzle/ lead to the schema in the code, so that nothing is left to generate, and do only what the
 * version before survives. Needs no database.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkMigration } from '../migration-rules.ts'
import { type Check, readFiles, root, runProgram, toolCommand } from './source-files.ts'

const countSql = (directory: string) => readdirSync(directory).filter((file) => file.endsWith('.sql')).length

export const checkMigrations: Check = async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'poterne-migrations-'))
  try {
    cpSync(join(root, 'drizzle'), scratch, { recursive: true })
    const schema = join(root, 'src/platform/postgres/schema.ts')
    const failure = await runProgram(
      toolCommand(
        'drizzle-kit',
        'generate',
        '--dialect=postgresql',
        `--schema=${schema}`,
        `--out=${scratch}`,
      ),
    )
    if (failure !== null) return [failure]
    const pending = countSql(scratch) - countSql(join(root, 'drizzle'))
    const files = await readFiles('drizzle/*.sql')
    return [
      ...(pending === 0 ? [] : ['the schema has changes without a migration: bun run migration']),
      ...files.flatMap(({ path, text }) => checkMigration(path.replace('drizzle/', ''), text)),
    ]
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
