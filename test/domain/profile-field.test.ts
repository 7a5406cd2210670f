/** A field that is added to the list of the profile alone is taken, stored and shown wherever the others are. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'

setDefaultTimeout(90_000)

test('it is in every body, answer, export, page and claim', async () => {
  const child = Bun.spawn([process.execPath, 'test', './test/helpers/profile-field.ts'], {
    cwd: join(import.meta.dir, '../..'),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await new Response(child.stderr).text()
  expect(await child.exited, said).toBe(0)
  expect(said).toContain('1 pass')
})
