/**
 * `bun run test:soak [options of bun test] [file…]` runs at full length what is reduced otherwise: the folders of long ways,
 * files called *.soak.test.ts, and each file that names what a soak changes. That is `soaking` of test/helpers/soak.ts and what
 * helpers make of it, one of another.
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
  const isLong = (path: string) => folders.test(path) || path.endsWith('.soak.test.ts')
  return tests.filter(({ path, text }) => isLong(path) || named.test(text)).map(({ path }) => path)
}

if (import.meta.main) {
  const isFile = (argument: string) => argument.endsWith('.test.ts')
  const [chosen, options] = [
    process.argv.slice(2).filter(isFile),
    process.argv.slice(2).filter((one) => !isFile(one)),
  ]
  const files = (chosen.length > 0 ? chosen : await soakFiles()).map((path) => `./${path}`)
  const env = { ...process.env, TEST_SOAK: '1' }
  // In place of the pattern of bunfig.toml, which leaves the files of a soak out.
  const command = [process.execPath, 'test', '--path-ignore-patterns=dist/**', ...options, ...files]
  process.exitCode = await Bun.spawn(command, { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit'] })
    .exited
}
