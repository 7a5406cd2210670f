/**
 * The direction of imports in src/, checked from the import lines alone. Between the floors:
 * texts <- platform <- domain <- app <- compose <- commands <- main; everybody may import errors.ts.
 * Inside the domain, a room may import only the rooms that `domainOrder` lists before it.
 */
import { dirname, join } from 'node:path'

export interface SourceFile {
  /** From the root of the checkout: `src/domain/codes/store.ts`. */
  path: string
  text: string
}

/** Lowest first. */
export const floors = [
  ['errors'],
  ['texts'],
  ['platform'],
  ['domain'],
  ['app'],
  ['compose'],
  ['commands'],
  ['main'],
]

/** The rooms of src/domain, lowest first. */
export const domainOrder = [
  'identifiers',
  'hashing',
  'tickets',
  'tokens',
  'limits',
  'codes',
  'delivery',
  'accounts',
  'sessions',
  'authenticators',
  'sign-in',
  'providers',
  'identities',
  'registration',
  'login',
  'login-by-code',
  'two-factor',
  'passwords',
  'contacts',
  'me',
  'social',
  'housekeeping',
  'health',
  'dev',
]

interface PackageRule {
  packages: RegExp
  allowedIn: RegExp
  where: string
}

const packageRules: PackageRule[] = [
  {
    packages: /^(elysia|@elysiajs\/swagger)(\/|$)/,
    allowedIn: /^src\/(app\.ts|platform\/http\/.*|(.*\/)?routes\.ts)$/,
    where: 'app.ts, platform/http/ and routes.ts',
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

/** What is wrong, one sentence each; empty: nothing. Looks only at files under src/. */
export function checkLayers(files: SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .map((target) => explain(path, target))
        .filter((problem) => problem !== null)
        .map((problem) => `${path}: ${problem}`),
    )
}

/** The rooms that each room imports, both as `domainOrder` names them. */
export function roomImports(files: SourceFile[]): Map<string, Set<string>> {
  const imports = new Map(domainOrder.map((room) => [room, new Set<string>()]))
  for (const { path, text } of files) {
    if (!path.startsWith('src/domain/')) continue
    for (const target of importsOf(text).map((each) => join(dirname(path), each))) {
      if (!target.startsWith('src/domain/') || roomOf(target) === roomOf(path)) continue
      imports.get(roomOf(path))?.add(roomOf(target))
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
  const unknown = [from, to].find((room) => !domainOrder.includes(room))
  if (unknown !== undefined) return `room ${unknown} is missing in the order of scripts/check-layers.ts`
  return domainOrder.indexOf(to) > domainOrder.indexOf(from)
    ? `room ${from} imports ${to}, a later room`
    : null
}

const floorOf = (path: string) => (path.split('/')[1] as string).replace(/\.ts$/, '')
const roomOf = (path: string) => path.split('/')[2] as string
const rankOf = (floor: string) => floors.findIndex((names) => names.includes(floor))
