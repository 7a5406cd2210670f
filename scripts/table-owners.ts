/**
 * Names the room that writes each table. One room owns each table, and only its files insert, update or delete rows;
 * other rooms use the SQL fragments that it offers in its `*-sql.ts`. Any room may read a table.
 */
import { pathOf, roomOf, type SourceFile } from './check-layers.ts'

/** The keys are the tables' names in src/platform/postgres/schema.ts. */
export const tableOwners: Record<string, string> = {
  accountCodes: 'accounts/account-codes',
  accounts: 'accounts/core',
  administrationTokens: 'credentials/administrator-means',
  administratorSessions: 'administration/administrator-sessions',
  administrators: 'administration/administrators',
  authorizationCodes: 'pages/applications',
  backChannels: 'messages/outbox',
  backups: 'operations/backups',
  codeBudgets: 'messages/codes',
  codeFailures: 'messages/codes',
  codes: 'messages/codes',
  contactChanges: 'sign-in/undo',
  earlyReceipts: 'messages/sms-funnel',
  erasedAccounts: 'operations/backups',
  eventDetails: 'foundation/events',
  events: 'foundation/events',
  housekeeping: 'operations/housekeeping',
  idempotencyKeys: 'administration/idempotency',
  identities: 'sign-in/identities',
  identityKeys: 'sessions/tokens',
  invitations: 'accounts/admission',
  knownDevices: 'accounts/devices',
  lastingKeys: 'credentials/secrets',
  limits: 'foundation/limits',
  messages: 'messages/outbox',
  passkeys: 'sign-in/passkeys',
  recoveryCodes: 'credentials/authenticators',
  refusedAddresses: 'messages/delivery',
  registrationClaims: 'accounts/core',
  replacedContacts: 'sign-in/undo',
  serverSecrets: 'credentials/secrets',
  sessions: 'sessions/core',
  signingKeys: 'sessions/tokens',
  smsFunnel: 'messages/sms-funnel',
  smsClosings: 'messages/sms-funnel',
  smsPrefixes: 'messages/sms-funnel',
  spentChallenges: 'sign-in/passkeys',
  spentIdTokens: 'sign-in/identities',
  tickets: 'foundation/tickets',
  totpEnrolments: 'credentials/authenticators',
  totpFactors: 'credentials/authenticators',
  trustedDevices: 'accounts/devices',
  twoFactorRemovals: 'credentials/authenticators',
  undoLinks: 'sign-in/undo',
  usernameKeys: 'accounts/core',
  usernames: 'accounts/core',
  webhookEndpoints: 'operations/webhooks',
  webhookRetries: 'operations/webhooks',
}

/** More files than these would mean that the changes of the table are scattered again. */
const mostWriters: Record<string, number> = { accounts: 5, sessions: 2 }

const schemaPath = 'src/platform/postgres/schema.ts'
const verbs = String.raw`(?:insert\s+into|delete\s+from|update)`
/** `update ${accounts}`, and `table: accounts` or `createAgeSweep(accounts, …)` of a sweep. */
const named = new RegExp(
  String.raw`\b${verbs}\s+(?:only\s+)?\$\{(\w+)\}|(?:^\s+table: |\bcreate(?:Age|Expiry)Sweep\(\s*)(\w+),`,
  'gim',
)
/** `.update(accounts)`, as drizzle's query builder would write it. */
const built = /\.(?:insert|update|delete)\((\w+)\)/g
/** `update "accounts"`, by the name that the database knows. */
const plain = new RegExp(String.raw`\b${verbs}\s+(?:only\s+)?"?(\w+)"?`, 'gi')

/** The files that change rows of a table, by the table's name in schema.ts. */
export function writersOf(files: SourceFile[]): Map<string, Set<string>> {
  const schema = files.find(({ path }) => path === schemaPath)?.text ?? ''
  const byName = new Map(
    [...schema.matchAll(/export const (\w+) = (?:pgTable|table)\(\s*'(\w+)'/g)].map(([, name, table]) => [
      table as string,
      name as string,
    ]),
  )
  const tables = new Set(byName.values())
  const writers = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (path === schemaPath) continue
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    const found = [
      ...[...code.matchAll(named)].map(([, inSql, inSweep]) => inSql ?? inSweep),
      ...[...code.matchAll(built)].map(([, table]) => table).filter((table) => tables.has(table as string)),
      ...[...code.matchAll(plain)].map(([, table]) => byName.get(table as string)),
    ]
    for (const table of found)
      if (table !== undefined) writers.set(table, (writers.get(table) ?? new Set()).add(path))
  }
  return writers
}

/** Returns one sentence for each problem. Looks only at files under src/. */
export function checkTableOwners(files: SourceFile[]): string[] {
  const source = files.filter(({ path }) => path.startsWith('src/'))
  const writers = [...writersOf(source)]
  return [
    ...writers.flatMap(([table, paths]) =>
      [...paths]
        .filter((path) => roomOf(path) !== null && !/^src\/(platform|storage)\//.test(path))
        .map((path) => explain(table, path))
        .filter((problem) => problem !== null),
    ),
    ...writers
      .filter(([table, paths]) => paths.size > (mostWriters[table] ?? Number.POSITIVE_INFINITY))
      .map(
        ([table, paths]) =>
          `${table} is written by ${paths.size} files, more than ${mostWriters[table]}: ${[...paths].join(', ')}`,
      ),
    ...source
      .filter(({ text }) =>
        /import \{[^}]*\b\w+ as \w+[^}]*\} from '[./]*platform\/postgres\/schema\.ts'/.test(text),
      )
      .map(({ path }) => `${path}: imports a table by another name, which hides who writes it`),
  ]
}

function explain(table: string, path: string): string | null {
  const owner = tableOwners[table]
  if (owner === undefined) return `${path}: writes ${table}, which has no owner in scripts/table-owners.ts`
  return path.startsWith(`${pathOf(owner)}/`)
    ? null
    : `${path}: writes ${table}, which belongs to ${owner}; use one of its SQL fragments`
}
