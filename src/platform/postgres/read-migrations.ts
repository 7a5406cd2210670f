/** A Bun macro: it runs while the code is bundled or loaded and embeds drizzle/, so that the program reads no file. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Migration {
  number: number
  name: string
  hash: string
  statements: string[]
  /** The oldest version that may run beside it, from its line `-- oldest version beside it: 1.2.3`; null: any. */
  oldestVersion: string | null
  /** Its first line is `-- concurrently`: it runs alone, outside a transaction, and may be repeated. */
  concurrent: boolean
}

export const readMigrations = (): Migration[] => readFolder(join(import.meta.dir, '../../../drizzle'))

/** The migrations that the journal of a folder lists. */
export function readFolder(folder: string): Migration[] {
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { idx: number; tag: string }[]
  }
  return journal.entries.map(({ idx, tag }) => {
    const text = readFileSync(join(folder, `${tag}.sql`), 'utf8')
    return {
      number: idx,
      name: tag,
      hash: createHash('sha256').update(text).digest('hex'),
      oldestVersion: /^-- oldest version beside it: (\d+\.\d+\.\d+)$/m.exec(text)?.[1] ?? null,
      concurrent: text.startsWith('-- concurrently\n'),
      // drizzle-kit names the schema in foreign keys alone. Ours is the one that search_path names first.
      statements: text
        .replaceAll('"public".', '')
        .split('--> statement-breakpoint')
        .map((part) => part.trim()),
    }
  })
}
