/**
 * The migrations in drizzle/ lead to the schema in the code, so that nothing is left to generate, and do only what the
 * version before survives. Needs no database.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { checkMigration } from '../migration-rules.ts'
import { type Check, readFiles, root, toolCommand } from './source-files.ts'

export const checkMigrations: Check = async () => {
  const files = await readFiles('drizzle/*.sql')
  return [
    ...(await findPendingChanges(join(root, 'src/platform/postgres/schema.ts'))),
    ...files.flatMap(({ path, text }) => checkMigration(path.replace('drizzle/', ''), text)),
  ]
}

/** Returns a problem if the migrations do not lead to this schema. */
export async function findPendingChanges(schema: string): Promise<string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'poterne-migrations-'))
  try {
    cpSync(join(root, 'drizzle'), scratch, { recursive: true })
    // drizzle-kit takes the folder for a relative one, and exits with 0 after a failure.
    const out = `--out=${relative(root, scratch)}`
    const { stdout, stderr } = Bun.spawn(
      toolCommand('drizzle-kit', 'generate', '--dialect=postgresql', `--schema=${schema}`, out),
      { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    )
    const printed = (await Promise.all([stdout.text(), stderr.text()])).join('')
    if (printed.includes('No schema changes')) return []
    const isWritten = printed.includes('Your SQL migration file')
    return [
      isWritten
        ? 'the schema has changes without a migration: bun run migration --name what_it_does'
        : printed,
    ]
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
