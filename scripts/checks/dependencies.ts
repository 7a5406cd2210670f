/** Versions are exact, bun.lock agrees with package.json and is the only lock file. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { type Check, root, runProgram } from './source-files.ts'

const foreignLocks = ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lockb']

export const checkDependencies: Check = async () => {
  const problems = foreignLocks
    .filter((file) => existsSync(join(root, file)))
    .map((file) => `${file}: bun.lock is the only lock file`)
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
  for (const [name, version] of versions)
    if (!/^(npm:[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      problems.push(`package.json: ${name} ${version} is not one exact version`)
  if (manifest.devDependencies.bun !== manifest.devDependencies['bun-types'])
    problems.push('package.json: bun and bun-types are of two versions')
  const frozen = await runProgram([process.execPath, 'install', '--frozen-lockfile', '--dry-run'])
  if (frozen !== null) problems.push(`bun.lock does not agree with package.json: ${frozen}`)
  return problems
}
