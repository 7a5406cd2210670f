/** scripts/test runs what failed once more, in a checkout that holds nothing but the script and a few tests. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

const root = join(import.meta.dir, '../..')

const files = {
  // It passes where it finds that it ran before.
  'busy.test.ts': `import { existsSync, writeFileSync } from 'node:fs'
    test('one', () => {})
    test('two', () => {
      const isAgain = existsSync('ran')
      writeFileSync('ran', '')
      expect(isAgain).toBe(true)
    })`,
  'broken.test.ts': "test('one', () => { expect(1).toBe(2) })",
  'silent.test.ts': "test('one', () => process.exit(0))",
  'sound.test.ts': "test('one', () => {})",
}

async function runTests(options: string[], names: (keyof typeof files)[]) {
  const checkout = newDirectory('second-try')
  mkdirSync(join(checkout, 'dist'))
  mkdirSync(join(checkout, 'node_modules'))
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true })
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(
    join(checkout, 'package.json'),
    `${JSON.stringify({ scripts: { check: 'true', build: 'true' }, devDependencies: { bun: devDependencies.bun } }, null, 2)}\n`,
  )
  writeFileSync(join(checkout, 'bun.lock'), '')
  // Nothing is to be installed.
  const { stdout: sum } = Bun.spawnSync(['bash', '-c', 'cat package.json bun.lock | cksum'], {
    cwd: checkout,
  })
  writeFileSync(join(checkout, 'node_modules/.installed-for'), sum)
  for (const name of names) {
    writeFileSync(join(checkout, name), `import { expect, test } from 'bun:test'\n${files[name]}\n`)
  }
  const { TEST_MEMORY_DIRECTORY: _, ...env } = process.env
  const run = Bun.spawn(['bash', join(checkout, 'scripts/test'), ...options, ...names], {
    env: { ...env, PATH: `${join(process.execPath, '..')}:${env.PATH}` },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const lines = (await run.stdout.text()).trimEnd().split('\n')
  return { code: await run.exited, last: lines.slice(-2) }
}

test('what passes alone is named, and the run is green', async () => {
  expect(await runTests([], ['busy.test.ts', 'sound.test.ts'])).toEqual({
    code: 0,
    last: ['passed only alone: busy.test.ts', '3 passed, 0 failed'],
  })
})

longTest('what fails twice is red, beside what passes alone', async () => {
  expect(await runTests([], ['busy.test.ts', 'broken.test.ts'])).toEqual({
    code: 1,
    last: ['passed only alone: busy.test.ts', '2 passed, 1 failed'],
  })
})

longTest('a file that ends the process without a report does not pass alone', async () => {
  const { code, last } = await runTests([], ['silent.test.ts'])
  expect(code).toBe(1)
  expect(last.join()).not.toContain('passed only alone')
})

longTest('--strict takes no second try', async () => {
  const { code, last } = await runTests(['--strict'], ['busy.test.ts', 'sound.test.ts'])
  expect({ code, last: last.at(-1) }).toEqual({ code: 1, last: '2 passed, 1 failed' })
})
