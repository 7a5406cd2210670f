/** A soak runs every file that does something else in it. */
import { expect, test } from 'bun:test'
import { readFiles } from '../../scripts/checks/source-files.ts'
import { soakFiles, soakNames } from '../../scripts/soak.ts'

test('a soak is asked for in one place, from which its files are found', async () => {
  const helpersAndTests = await readFiles('test/**/*.ts')
  const asking = helpersAndTests.filter(({ text }) => /env\.TEST_SOAK/.test(text)).map(({ path }) => path)
  expect(asking).toEqual(['test/helpers/soak.ts'])
  const names = await soakNames()
  expect(names).toEqual(expect.arrayContaining(['longTest', 'reduced', 'racingShapes', 'testsOn']))
  const files = await soakFiles()
  // By a length, by a list of shapes, by kinds of tests, and by their folder.
  for (const path of ['domain/doctor', 'domain/login', 'domain/sessions', 'attacks/confirmations'])
    expect(files).toContain(`test/${path}.test.ts`)
  // They are read as they are used: a value behind another name would hide its files.
  for (const { path, text } of helpersAndTests) {
    const renamed = new RegExp(`\\b(${names.join('|')}) as \\w`).exec(text)?.[0]
    expect([path, renamed]).toEqual([path, undefined])
  }
})
