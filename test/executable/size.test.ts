/** What people download. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { statSync } from 'node:fs'
import { builtExecutable } from '../helpers/executable.ts'

setDefaultTimeout(60_000)

test('the executable has at most 140 MB', async () => {
  expect(statSync(await builtExecutable()).size).toBeLessThanOrEqual(140_000_000)
})
