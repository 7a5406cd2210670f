/**
 * All checks that do not run the service: prints one line for each, and exits with 1 if one of them failed. With `--quick`
 * without types and lint, which take two thirds of the time; with names of checks those alone.
 */
import { join } from 'node:path'
import { checkLayers } from './check-layers.ts'
import { checkArchitecture } from './checks/architecture.ts'
import { checkBrowsers } from './checks/browsers.ts'
import { checkConfigurationFiles } from './checks/configuration-files.ts'
import { checkDependencies } from './checks/dependencies.ts'
import { checkErrorTable } from './checks/error-table.ts'
import { checkLinks } from './checks/links.ts'
import { checkMigrations } from './checks/migrations.ts'
import { checkNames } from './checks/names.ts'
import { checkOpenOperations } from './checks/open-operations.ts'
import { checkOpenapi } from './checks/openapi.ts'
import { checkProfileFields } from './checks/profile-fields.ts'
import { checkRoutes } from './checks/routes.ts'
import { checkShadows } from './checks/shadows.ts'
import { asProblems, type Check, readFiles, root, runProgram, toolCommand } from './checks/source-files.ts'
import { checkWords } from './checks/words.ts'
import { checkTableOwners } from './table-owners.ts'

/** Version 7 checks quickly; the generators of tests need the programming interface of 5. */
const compiler = join(root, 'node_modules/typescript-7/bin/tsc')
const compile = [process.execPath, compiler, '--noEmit', '--pretty', 'false', '--project', '.']
/** The next check then compiles only what changed. */
const incremental = ['--incremental', '--tsBuildInfoFile', join(root, 'dist/types.tsbuildinfo')]
const lint = toolCommand('biome', 'check', '--diagnostic-level=error', '--colors=off', '.')

/** With the types of browsers, and of React, which change those of tests. */
const clientTypes = [process.execPath, compiler, '--noEmit', '--pretty', 'false', '--project', 'src/client']

const checks: Record<string, Check> = {
  types: async () => asProblems(await runProgram([...compile, ...incremental])),
  'types of the client': async () => asProblems(await runProgram(clientTypes)),
  lint: async () => asProblems(await runProgram(lint)),
  layers: async () => checkLayers(await readFiles('src/**/*.ts')),
  'table owners': async () => checkTableOwners(await readFiles('src/**/*.ts')),
  routes: checkRoutes,
  architecture: checkArchitecture,
  browsers: checkBrowsers,
  dependencies: checkDependencies,
  migrations: checkMigrations,
  'configuration files': checkConfigurationFiles,
  'error table': checkErrorTable,
  'interface description': checkOpenapi,
  'open operations': checkOpenOperations,
  links: checkLinks,
  names: checkNames,
  'profile fields': checkProfileFields,
  shadows: checkShadows,
  words: checkWords,
}

async function runCheck(name: string, check: Check): Promise<boolean> {
  const start = performance.now()
  const problems = await check()
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${name}: ${problems.length === 0 ? 'ok' : 'failed'} (${seconds} s)`)
  for (const problem of problems) console.log(problem.replace(/^/gm, '  '))
  return problems.length === 0
}

const named = process.argv.slice(2).filter((argument) => argument !== '--quick')
const unknown = named.filter((name) => !Object.hasOwn(checks, name))
if (unknown.length > 0) throw new Error(`no check is called ${unknown}: ${Object.keys(checks).join(', ')}`)
const chosen = Object.entries(checks).filter(([name]) =>
  named.length > 0 ? named.includes(name) : !process.argv.includes('--quick') || !/^(types|lint)/.test(name),
)
const results = await Promise.all(chosen.map(([name, check]) => runCheck(name, check)))
process.exitCode = results.every(Boolean) ? 0 : 1
