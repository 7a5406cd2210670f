/**
 * The direction of imports in src/, from the import lines alone:
 * platform and texts <- core <- features <- app <- compose <- commands <- main. Everybody may import errors.ts.
 */
import { dirname, join } from 'node:path'

export interface SourceFile {
  /** From the root of the checkout: `src/core/codes/store.ts`. */
  path: string
  text: string
}

/** Lowest first; the same place: may import each other. */
const order = [
  ['errors'],
  ['platform', 'texts'],
  ['core'],
  ['features'],
  ['app'],
  ['compose'],
  ['commands'],
  ['main'],
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
    allowedIn: /^src\/(platform\/postgres\/.*|.*store-postgres\.ts)$/,
    where: 'platform/postgres/ and store-postgres.ts',
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
      [...text.matchAll(importPattern)]
        .map(([, , target]) => explain(path, target as string))
        .filter((problem) => problem !== null)
        .map((problem) => `${path}: ${problem}`),
    )
}

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
  const [from, to] = [roomOf(path), roomOf(target)]
  const [fromRank, toRank] = [rankOf(from), rankOf(to)]
  if (fromRank === -1) return `stands in no room that there is (${order.flat().join(', ')})`
  if (toRank > fromRank) return `${from} imports ${to} (${target}), which stands above it`
  if (from === 'features' && to === 'features' && featureOf(path) !== featureOf(target))
    return `feature ${featureOf(path)} imports feature ${featureOf(target)}`
  return null
}

const roomOf = (path: string) => (path.split('/')[1] as string).replace(/\.ts$/, '')
const featureOf = (path: string) => path.split('/')[2] as string
const rankOf = (room: string) => order.findIndex((rooms) => rooms.includes(room))
