/**
 * The rules for a migration that runs while the version before it still serves (CONTRIBUTING.md has the reasons). The
 * file is checked by its text, without a database.
 */

/** Tables of a few rows, where every lock is short. */
const SMALL_TABLES = new Set(['signing_keys', 'identity_keys', 'housekeeping', 'poterne_migrations'])

const NAME = '(?:"?public"?\\.)?"?(\\w+)"?'
const matches = (text: string, pattern: string) => [...text.matchAll(new RegExp(pattern, 'gi'))]

/** One sentence for each problem of the file; `name` begins with its number. */
export function checkMigration(name: string, source: string): string[] {
  // It meets an empty database.
  if (name.startsWith('0000_')) return []
  const isConcurrent = source.startsWith('-- concurrently\n')
  const namesOldestVersion = /^-- oldest version beside it: \d+\.\d+\.\d+$/m.test(source)
  const statements = source
    .replace(/--(?!> statement-breakpoint).*$/gm, '')
    .split('--> statement-breakpoint')
    .map((text) => text.replace(/\s+/g, ' ').trim())
  const created = new Set(
    statements.flatMap((text) =>
      matches(text, `create (?:unlogged )?table (?:if not exists )?${NAME}`).map((match) => match[1]!),
    ),
  )
  const check = (text: string) => [
    ...(isConcurrent ? checkConcurrent(text) : checkIndex(text, created)),
    ...(namesOldestVersion ? [] : checkRemoval(text)),
    ...checkColumns(text),
    ...(isConcurrent ? [] : checkWork(text, created)),
    ...checkConstraints(text, created),
    ...checkTimeouts(text),
  ]
  return statements.flatMap(check).map((problem) => `drizzle/${name}: ${problem}`)
}

function checkConcurrent(text: string): string[] {
  return /^(create (unique )?index concurrently if not exists|drop index concurrently if exists) [^;]+;?$/i.test(
    text,
  )
    ? []
    : [
        'a concurrent migration holds only CREATE INDEX CONCURRENTLY IF NOT EXISTS and DROP INDEX CONCURRENTLY IF EXISTS, one in each part, because it may be repeated',
      ]
}

function checkIndex(text: string, created: Set<string>): string[] {
  if (/\bindex concurrently\b/i.test(text))
    return ['an index is made concurrently in a file of its own whose first line is "-- concurrently"']
  return matches(text, `create (?:unique )?index .*? on (?:only )?${NAME}`)
    .map((match) => match[1]!)
    .filter((table) => !created.has(table) && !SMALL_TABLES.has(table))
    .map((table) => `CREATE INDEX on ${table} makes every writer wait: make it CONCURRENTLY`)
}

function checkRemoval(text: string): string[] {
  const removal =
    /\b(drop column|drop table|rename (?:column|to)|alter column \S+ (?:set data )?type|rename (?!constraint)\S+ to)\b/i.exec(
      text,
    )
  return removal
    ? [
        `${removal[1]!.toUpperCase()} breaks the version before: do it a release later, with the line "-- oldest version beside it: 1.2.3"`,
      ]
    : []
}

function checkColumns(text: string): string[] {
  return matches(text, 'add column (?:if not exists )?"?(\\w+)"?([^;]*)')
    .filter(([, , rest]) => /\bnot null\b/i.test(rest!) && !/\b(default|generated)\b/i.test(rest!))
    .map(
      (match) =>
        `ADD COLUMN ${match[1]} is NOT NULL without a default: rows that are there have no value for it`,
    )
}

/** Reading or changing every row of a table keeps what was locked before it, and what it changes, from everybody. */
function checkWork(text: string, created: Set<string>): string[] {
  const isLarge = (table: string) => !created.has(table) && !SMALL_TABLES.has(table)
  // The body of a function does nothing yet.
  const own = text.replace(/\$(\w*)\$.*?\$\1\$/g, '')
  const changed = matches(own, `(?:^|\\()\\s*(update|delete from) (?:only )?${NAME}`).map(
    (match) => match[2]!,
  )
  const read = /^insert into\b.*\bselect\b/i.test(own)
    ? matches(own, `\\b(?:from|join) ${NAME}`).map((match) => match[1]!)
    : []
  return [...changed, ...read]
    .filter(isLarge)
    .map(
      (table) =>
        `it goes through ${table} row by row: do that in batches after the start, or when a row is next written`,
    )
}

function checkConstraints(text: string, created: Set<string>): string[] {
  const [, table, rest] = new RegExp(`alter table (?:only )?${NAME} (.*)`, 'i').exec(text) ?? []
  if (table === undefined || created.has(table) || SMALL_TABLES.has(table)) return []
  const problems = []
  if (/\badd (constraint \S+ )?(foreign key|check)\b/i.test(rest!) && !/\bnot valid\b/i.test(rest!))
    problems.push(`a constraint on ${table} is checked row by row: add it as NOT VALID`)
  if (/\balter column \S+ set not null\b/i.test(rest!))
    problems.push(`SET NOT NULL reads every row of ${table}: let the service refuse null instead`)
  if (/\bdefault [^,;]*\b(random\w*|gen_random_uuid|uuidv\w+|clock_timestamp|nextval)\s*\(/i.test(rest!))
    problems.push(`a default that differs from row to row makes ${table} anew`)
  return problems
}

/** The runner gives every statement half a second to get its lock. */
function checkTimeouts(text: string): string[] {
  const lifted =
    /\bset (session |local )?lock_timeout\s*(=|to)\s*('?0\w*'?|default)(?!\w)|\breset (lock_timeout|all)\b|\bset_config\('lock_timeout', *'0/i
  return lifted.test(text) ? ['it lifts lock_timeout: a migration must never wait for a lock for long'] : []
}
