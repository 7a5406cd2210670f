/** All checks that do not run the service: prints one line for each, and exits with 1 if one of them failed. */
import { checkArchitecture } from './checks/architecture.ts'
import { checkConfigurationFiles } from './checks/configuration-files.ts'
import { checkDependencies } from './checks/dependencies.ts'
import { checkErrorTable } from './checks/error-table.ts'
import { checkFileNames } from './checks/file-names.ts'
import { checkImports } from './checks/layers.ts'
import { checkLinks } from './checks/links.ts'
import { checkLint } from './checks/lint.ts'
import { checkMigrations } from './checks/migrations.ts'
import { checkNames } from './checks/names.ts'
import { checkOpenapi } from './checks/openapi.ts'
import { checkProse } from './checks/prose.ts'
import { checkReadme } from './checks/readme.ts'
import { checkRoutes } from './checks/routes.ts'
import type { Check } from './checks/source-files.ts'
import { checkTables } from './checks/tables.ts'
import { checkTypes } from './checks/types.ts'
import { checkWords } from './checks/words.ts'

const checks: Record<string, Check> = {
  types: checkTypes,
  lint: checkLint,
  layers: checkImports,
  'table owners': checkTables,
  routes: checkRoutes,
  architecture: checkArchitecture,
  'file names': checkFileNames,
  dependencies: checkDependencies,
  migrations: checkMigrations,
  'configuration files': checkConfigurationFiles,
  'error table': checkErrorTable,
  'interface description': checkOpenapi,
  links: checkLinks,
  readme: checkReadme,
  prose: checkProse,
  names: checkNames,
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

const results = await Promise.all(Object.entries(checks).map(([name, check]) => runCheck(name, check)))
process.exitCode = results.every(Boolean) ? 0 : 1
