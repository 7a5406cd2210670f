/** `bun run bench` works: its arguments, and in a soak one cheap row of it to its table and its file. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

const script = join(import.meta.dir, '../../scripts/bench/run.ts')

async function bench(...parameters: string[]) {
  const child = Bun.spawn([process.execPath, script, ...parameters], { stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

longTest('a row is measured, printed as a table and kept with its machine', async () => {
  const results = newDirectory('results')
  const { out, err, code } = await bench(
    ...['--quick', '--only', 'size', '--executable', await builtExecutable(), '--results', results],
  )
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(out).toMatch(/executable +[\d.]+ MB +bare Elysia: [\d.]+ MB/)
  const [file] = readdirSync(results)
  const kept = JSON.parse(readFileSync(join(results, file as string), 'utf8'))
  expect(kept).toMatchObject({
    quick: true,
    machine: { processors: expect.any(Number) },
    lines: [{ row: 'size' }],
  })
  expect(kept.machine.versions).toMatchObject({ bun: Bun.version })
})

test('a row that is not there is said so, with those that are', async () => {
  const { err, code } = await bench('--only', 'speed')
  expect(code).toBe(2)
  expect(err).toContain('no row speed; there are: logins')
})
