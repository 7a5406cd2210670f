/**
 * Builds the package `@poterne/client` in dist/client: readable modules and declarations by the compiler alone, with the
 * version of package.json. `npm pack` there makes the file that is published.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json'

const root = join(import.meta.dir, '..')
const directory = join(root, 'dist/client')

const entries = { '.': 'index', './react': 'react', './server': 'server' }

rmSync(directory, { recursive: true, force: true })
const compiler = join(root, 'node_modules/typescript-7/bin/tsc')
const compiled = Bun.spawnSync([process.execPath, compiler, '--project', join(root, 'src/client')], {
  stdio: ['ignore', 'inherit', 'inherit'],
})
if (compiled.exitCode !== 0) process.exit(1)

const description = {
  name: '@poterne/client',
  version: manifest.version,
  description:
    'Signs people in with poterne, and keeps them signed in: browsers, React Native, React, servers',
  license: manifest.license,
  type: 'module',
  sideEffects: false,
  exports: Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [
      name,
      { types: `./${file}.d.ts`, default: `./${file}.js` },
    ]),
  ),
  engines: { node: '>=20' },
  dependencies: { jose: manifest.dependencies.jose },
  peerDependencies: { react: '>=18' },
  peerDependenciesMeta: { react: { optional: true } },
}
writeFileSync(join(directory, 'package.json'), `${JSON.stringify(description, null, 2)}\n`)
// The other pages are not in the package: of a link to one its words stay.
const page = readFileSync(join(root, 'docs/client-package.md'), 'utf8')
writeFileSync(join(directory, 'README.md'), page.replace(/\[([^\]]+)\]\([\w-]+\.md[^)]*\)/g, '$1'))
cpSync(join(root, 'LICENSE'), join(directory, 'LICENSE'))
console.log(`${directory}: ${description.name} ${description.version}`)
