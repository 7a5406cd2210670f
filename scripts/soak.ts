/**
 * `bun run test:soak [options of bun test]` runs at full length what is reduced otherwise: the folders of long ways, and each
 * file that names what a soak changes. That is `soaking` of test/helpers/soak.ts and what helpers make of it, one of another.
 */
import { readFiles, root } from './checks/source-files.ts'

const folders = /^test\/(attacks|contract|executable|faults|random)\//

/** The names that helpers export and that mean another thing in a soak. */
export async function soakNames(): Promise<string[]> {
  const helpers = await readFiles('test/helpers/**/*.ts')
  const declarations = helpers.flatMap(({ text }) => text.split(/^(?=export |\/\*\*)/m))
  const exported = declarations.map((text) => ({ name: /^export \w+ (\w+)/.exec(text)?.[1] ?? '', text }))
  const names = ['soaking']
  for (const known of names)
    for (const { name, text } of exported)
      if (name && !names.includes(name) && new RegExp(`\\b${known}\\b`).test(text)) names.push(name)
  return names
}

export async function soakFiles(): Promise<string[]> {
  const named = new RegExp(`\\b(${(await soakNames()).join('|')})\\b`)
  const tests = await readFiles('test/**/*.test.ts')
  return tests.filter(({ path, text }) => folders.test(path) || named.test(text)).map(({ path }) => path)
}

if (import.meta.main) {
  const files = (await soakFiles()).map((path) => `./${path}`)
  const env = { ...process.env, POTERNE_SOAK: '1' }
  const command = [process.execPath, 'test', ...process.argv.slice(2), ...files]
  process.exitCode = await Bun.spawn(command, { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit'] })
    .exited
}
