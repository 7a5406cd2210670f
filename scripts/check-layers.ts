/**
 * The direction of imports in src/, checked from the import lines alone. Between the floors:
 * texts <- platform <- domain <- app <- compose <- commands <- main; everybody may import errors.ts.
 * Inside the domain, a room may import only the rooms that `domainFolders` lists before it, and pick only their
 * services and stores from domain/services.ts.
 */
import { dirname, join } from 'node:path'

export interface SourceFile {
  /** From the root of the checkout: `src/domain/messages/codes/store.ts`. */
  path: string
  text: string
}

/** Lowest first. */
export const floors = [
  ['errors'],
  ['texts'],
  ['platform'],
  ['domain'],
  ['app', 'admin-app'],
  ['compose'],
  ['commands'],
  ['main'],
]

/** The folders of src/domain with their rooms, lowest first. */
export const domainFolders: Record<string, string[]> = {
  foundation: ['metrics', 'decoys', 'identifiers', 'events', 'hashing', 'tickets'],
  limits: ['limits', 'attempts'],
  messages: ['codes', 'outbox', 'senders', 'smtp', 'sms-gateways', 'rendering', 'sms-funnel', 'delivery'],
  accounts: ['accounts', 'account-codes', 'devices'],
  sessions: ['tokens', 'sessions'],
  credentials: ['authenticators', 'secrets', 'providers'],
  'sign-in': [
    'sign-in',
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
  'self-service': ['contacts', 'me', 'two-factor-removals'],
  administration: [
    'access',
    'idempotency',
    'administrators',
    'administrator-sessions',
    'api-tokens',
    'page',
    'directory',
    'people',
    'factors',
    'audit',
    'message-log',
    'limit-lifts',
    'overview',
    'signing-keys',
  ],
  operations: ['housekeeping', 'backups', 'doctor', 'health', 'dev'],
}

/** Every room as `folder/room`, lowest first. */
export const domainOrder = Object.entries(domainFolders).flatMap(([folder, rooms]) =>
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
    allowedIn: /^src\/((admin-)?app\.ts|platform\/http\/.*|(.*\/)?(routes|[a-z-]+-schema)\.ts)$/,
    where: 'app.ts, platform/http/, routes.ts and *-schema.ts',
  },
  {
    packages: /^(drizzle-orm|drizzle-kit|postgres|@electric-sql\/pglite)(\/|$)/,
    allowedIn: /^src\/(platform\/postgres\/.*|.*(store-postgres|-sql)\.ts)$/,
    where: 'platform/postgres/, store-postgres.ts and *-sql.ts',
  },
  {
    packages: /^ioredis(\/|$)/,
    allowedIn: /^src\/(platform\/redis\/.*|.*store-redis\.ts)$/,
    where: 'platform/redis/ and store-redis.ts',
  },
]

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*(['"])([^'"\n]+)\1/g

/** Lists the services and the stores, and belongs to no room. */
const SERVICES = 'src/domain/services.ts'

/** Returns one sentence for each problem. Looks only at files under src/. */
export function checkLayers(files: SourceFile[]): string[] {
  const rooms = readServiceRooms(files)
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      [
        ...importsOf(text).map((target) => explain(path, target)),
        ...picksOf(path, text, rooms).map((room) => explainRooms(roomOf(path), room)),
      ]
        .filter((problem) => problem !== null)
        .map((problem) => `${path}: ${problem}`),
    )
}

/** `Services.limits` → the room whose type it has. What belongs to no room (the clock) is not in the map. */
function readServiceRooms(files: SourceFile[]): Map<string, string> {
  const text = files.find(({ path }) => path === SERVICES)?.text ?? ''
  const roomOfType = new Map<string, string>()
  for (const [, names, room] of text.matchAll(/import type \{([^}]*)\} from '\.\/([a-z-]+\/[a-z-]+)\//g)) {
    for (const name of (names as string).split(',')) roomOfType.set(name.trim(), room as string)
  }
  const rooms = new Map<string, string>()
  for (const [, bag, body] of text.matchAll(/export interface (Services|Stores) \{([^}]*)\}/g)) {
    for (const [, name, type] of (body as string).matchAll(/^ {2}(\w+): (\w+)/gm)) {
      const room = roomOfType.get(type as string)
      if (room) rooms.set(`${bag}.${name}`, room)
    }
  }
  return rooms
}

/** The rooms of the services and stores that a file of the domain picks. */
function picksOf(path: string, text: string, rooms: Map<string, string>): string[] {
  if (!path.startsWith('src/domain/') || path === SERVICES) return []
  return [...text.matchAll(/Pick<\s*(Services|Stores),([^>]*)>/g)].flatMap(([, bag, names]) =>
    [...(names as string).matchAll(/'(\w+)'/g)]
      .map(([, name]) => rooms.get(`${bag}.${name}`))
      .filter((room) => room !== undefined),
  )
}

/** The rooms that each room imports or picks from, both as `folder/room`. */
export function roomImports(files: SourceFile[]): Map<string, Set<string>> {
  const rooms = readServiceRooms(files)
  const imports = new Map(domainOrder.map((room) => [room, new Set<string>()]))
  for (const { path, text } of files) {
    if (!path.startsWith('src/domain/') || path === SERVICES) continue
    const targets = importsOf(text).map((each) => join(dirname(path), each))
    const imported = targets.filter((target) => target.startsWith('src/domain/') && target !== SERVICES)
    for (const room of [...imported.map(roomOf), ...picksOf(path, text, rooms)]) {
      if (room !== roomOf(path)) imports.get(roomOf(path))?.add(room)
    }
  }
  return imports
}

const importsOf = (text: string) => [...text.matchAll(importPattern)].map(([, , target]) => target as string)

function explain(path: string, target: string): string | null {
  if (path === 'src/errors.ts') return `errors.ts imports nothing, here ${target}`
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
  if (rankOf(from) === -1) return `${from} is not a floor of src/ (${floors.flat().join(', ')})`
  if (rankOf(to) > rankOf(from)) return `${from} imports ${to} (${target}), which is above it`
  return from === 'domain' && to === 'domain' ? explainRooms(roomOf(path), roomOf(target)) : null
}

function explainRooms(from: string, to: string): string | null {
  if ([from, to].includes('services.ts')) return null
  const unknown = [from, to].find((room) => !domainOrder.includes(room))
  if (unknown !== undefined) return `room ${unknown} is missing in the order of scripts/check-layers.ts`
  return domainOrder.indexOf(to) > domainOrder.indexOf(from)
    ? `room ${from} imports ${to}, a later room`
    : null
}

const floorOf = (path: string) => (path.split('/')[1] as string).replace(/\.ts$/, '')
/** `src/domain/sign-in/login/routes.ts` → `sign-in/login`; a file that lies in no room: its own name. */
const roomOf = (path: string) => {
  const [folder, room, file] = path.split('/').slice(2)
  return file === undefined ? (room ?? (folder as string)) : `${folder}/${room}`
}
const rankOf = (floor: string) => floors.findIndex((names) => names.includes(floor))
