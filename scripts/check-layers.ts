/**
 * The direction of imports in src/, checked from the import lines alone. A floor may import the floors that `floors`
 * lists before it. Inside a floor, a room may import only the rooms that `folders` lists before it. No files import
 * each other in a circle.
 */
import { dirname, join } from 'node:path'

export interface SourceFile {
  /** The path from the root of the checkout: `src/domain/messages/codes/store.ts`. */
  path: string
  text: string
}

/** Lowest first. Floors beside each other know nothing of each other. */
export const floors = [
  ['texts'],
  ['platform'],
  ['storage', 'domain'],
  ['administration', 'pages'],
  ['console'],
  ['operations'],
  ['compose'],
  ['commands'],
  ['main'],
]

/** The package that other people install: it knows nothing of the service, and the service nothing of it. */
const APART = 'client'

/** The folders of src/domain with their rooms, lowest first. */
export const domainFolders: Record<string, string[]> = {
  foundation: [
    'metrics',
    'decoys',
    'identifiers',
    'test-identities',
    'events',
    'hashing',
    'tickets',
    'limits',
  ],
  messages: ['codes', 'outbox', 'senders', 'smtp', 'sms-gateways', 'rendering', 'sms-funnel', 'delivery'],
  accounts: ['core', 'admission', 'account-codes', 'devices'],
  sessions: ['tokens', 'core', 'browser-sessions', 'application-log'],
  credentials: ['foreign-digests', 'authenticators', 'administrator-means', 'secrets', 'providers'],
  'sign-in': [
    'core',
    'identities',
    'passkeys',
    'registration',
    'login',
    'login-by-code',
    'two-factor',
    'undo',
    'passwords',
    'social',
  ],
  'self-service': ['contacts', 'me', 'invitations', 'two-factor-removals'],
}

/** The other floors that have rooms, each with its rooms, lowest first. */
const floorRooms: Record<string, string[]> = {
  platform: ['bundled', 'log', 'postgres', 'redis', 'config', 'look', 'http'],
  storage: ['embedded', 'backup'],
  administration: [
    'access',
    'idempotency',
    'administrators',
    'administrator-sessions',
    'api-tokens',
    'ended-tokens',
    'limit-lifts',
    'directory',
    'people',
    'imports',
    'factors',
    'audit',
    'message-log',
    'invitations',
    'overview',
    'signing-keys',
    'sms-prefixes',
    'applications',
  ],
  pages: ['frame', 'visits', 'ways-in', 'account', 'applications'],
  operations: [
    'housekeeping',
    'backups',
    'webhooks',
    'doctor',
    'health',
    'client-settings',
    'dev',
    'upgrade',
  ],
}

const { platform, storage, ...others } = floorRooms
export const folders: Record<string, string[]> = { platform, storage, ...domainFolders, ...others } as never

/** The path of a folder or a room, `accounts` or `accounts/core`, from the root of the checkout. */
export const pathOf = (name: string) =>
  (name.split('/')[0] as string) in domainFolders ? `src/domain/${name}` : `src/${name}`

/** Every room as `folder/room`, lowest first. */
export const roomOrder = Object.entries(folders).flatMap(([folder, rooms]) =>
  rooms.map((room) => `${folder}/${room}`),
)

interface PackageRule {
  packages: RegExp
  allowedIn: RegExp
  where: string
}

const packageRules: PackageRule[] = [
  {
    packages: /^(elysia|@elysiajs\/swagger)(\/|$)/,
    allowedIn:
      /^src\/(compose\/(admin-)?app\.ts|console\/routes\.ts|platform\/http\/.*|(.*\/)?(routes|[a-z-]+-schema)\.ts)$/,
    where: 'app.ts, platform/http/, routes.ts and *-schema.ts',
  },
  {
    packages: /^(drizzle-orm|drizzle-kit|postgres|@electric-sql\/pglite)(\/|$)/,
    allowedIn: /^src\/(platform\/postgres\/.*|storage\/.*|(.*[/-](store|store-postgres)|.*-sql)\.ts)$/,
    where: 'platform/postgres/, storage/, store.ts, store-postgres.ts and *-sql.ts',
  },
  {
    packages: /^ioredis(\/|$)/,
    allowedIn: /^src\/(platform\/redis\/.*|.*store-redis\.ts)$/,
    where: 'platform/redis/ and store-redis.ts',
  },
]

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*(['"])([^'"\n]+)\1/g

/** Returns one sentence for each problem. Looks only at files under src/. */
export function checkLayers(files: SourceFile[]): string[] {
  const source = files.filter(({ path }) => path.startsWith('src/'))
  return [
    ...circlesOf(source).map((circle) => `these files import each other in a circle: ${circle.join(', ')}`),
    ...source.flatMap(explainPlugins),
    ...source.flatMap(({ path, text }) =>
      importsOf(text)
        .map((target) => explain(path, target))
        .filter((problem) => problem !== null)
        .map((problem) => `${path}: ${problem}`),
    ),
  ]
}

/**
 * `login`, or `login-…` where the room has several: a name says where its code is. The plugin of a `core` has the name
 * of its folder.
 */
function explainPlugins({ path, text }: SourceFile): string[] {
  const [folder, name] = path.endsWith('/routes.ts') ? (roomOf(path)?.split('/') ?? []) : []
  if (name === undefined) return []
  const room = name === 'core' ? (folder as string) : name
  return [...text.matchAll(/new Elysia\(\{ name: '([^']+)'/g)]
    .map(([, plugin]) => plugin as string)
    .filter((plugin) => plugin !== room && !plugin.startsWith(`${room}-`))
    .map((plugin) => `${path}: the plugin ${plugin} does not have the name of its room, ${room}`)
}

/** The rooms that each room imports, both as `folder/room`. */
export function roomImports(files: SourceFile[]): Map<string, Set<string>> {
  const imports = new Map(roomOrder.map((room) => [room, new Set<string>()]))
  for (const { path, text } of files) {
    const from = roomOf(path)
    if (from === null) continue
    for (const target of importsOf(text)) {
      const to = roomOf(join(dirname(path), target))
      if (to !== null && to !== from) imports.get(from)?.add(to)
    }
  }
  return imports
}

/** Groups of files that import each other in a circle, types included. */
export function circlesOf(files: SourceFile[]): string[][] {
  const known = new Set(files.map(({ path }) => path))
  const targets = new Map(
    files.map(({ path, text }) => [
      path,
      importsOf(text)
        .map((target) => join(dirname(path), target))
        .filter((target) => known.has(target)),
    ]),
  )
  const reachedFrom = (start: string) => {
    const seen = new Set<string>()
    const open = [...(targets.get(start) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(targets.get(next) ?? []))
    }
    return seen
  }
  const reached = new Map(files.map(({ path }) => [path, reachedFrom(path)]))
  const inCircle = files.map(({ path }) => path).filter((path) => reached.get(path)?.has(path))
  const groups = Map.groupBy(inCircle, (path) =>
    inCircle.filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)).join(),
  )
  return [...groups.values()]
}

const importsOf = (text: string) => [...text.matchAll(importPattern)].map(([, , target]) => target as string)

function explain(path: string, target: string): string | null {
  if (!target.startsWith('.')) return explainPackage(path, target)
  const resolved = join(dirname(path), target)
  if (/^(package\.json|drizzle\/|node_modules\/)/.test(resolved)) return null
  if (!resolved.startsWith('src/')) return `imports ${resolved}, which is outside of src/`
  if (!/\.[a-z]+$/.test(target)) return `imports ${target} without its extension`
  return explainDirection(path, resolved)
}

function explainPackage(path: string, target: string): string | null {
  const broken = packageRules.find(
    ({ packages, allowedIn }) => packages.test(target) && !allowedIn.test(path),
  )
  return broken ? `imports ${target}, which belongs in ${broken.where}` : null
}

function explainDirection(path: string, target: string): string | null {
  const [from, to] = [floorOf(path), floorOf(target)]
  if (from === APART || to === APART)
    return from === to ? null : `${from} imports ${to} (${target}), and ${APART} stands apart`
  if (rankOf(from) === -1) return `${from} is not a floor of src/ (${floors.flat().join(', ')})`
  if (rankOf(to) > rankOf(from)) return `${from} imports ${to} (${target}), which is above it`
  if (from !== to)
    return rankOf(from) === rankOf(to) ? `${from} imports ${to} (${target}), which is beside it` : null
  return explainRooms(roomOf(path), roomOf(target))
}

function explainRooms(from: string | null, to: string | null): string | null {
  if (from === null || to === null) return null
  const unknown = [from, to].find((room) => !roomOrder.includes(room))
  if (unknown !== undefined) return `room ${unknown} is missing in the order of scripts/check-layers.ts`
  return roomOrder.indexOf(to) > roomOrder.indexOf(from) ? `room ${from} imports ${to}, a later room` : null
}

const floorOf = (path: string) =>
  path.startsWith('src/operations/commands/')
    ? 'commands'
    : (path.split('/')[1] as string).replace(/\.ts$/, '')
/** `src/domain/sign-in/login/routes.ts` → `sign-in/login`; null for a file that lies in no room. */
export function roomOf(path: string): string | null {
  const [folder, room, file] = path.replace(/^src\/(domain\/)?/, '').split('/')
  const hasRooms = (folder as string) in folders || path.startsWith('src/domain/')
  return file === undefined || floorOf(path) === 'commands' || !hasRooms ? null : `${folder}/${room}`
}
const rankOf = (floor: string) => floors.findIndex((names) => names.includes(floor))
