/** The check of src against variables that hide a function. */
import { expect, test } from 'bun:test'
import { findShadows } from '../../scripts/checks/shadows.ts'

const whole = (inside: string) => `import { inTurn } from './in-turn.ts'
const read = () => 1
export function copy() {
  ${inside}
  return inTurn(read())
}`

test.each([
  ['const inTurn = 1', 'inTurn'],
  ['const { inTurn } = given', 'inTurn'],
  ['for (const [, read] of list) use()', 'read'],
  ['function read() {}', 'read'],
])('%j hides what is called', (inside, name) => {
  expect(findShadows('a.ts', whole(inside))).toEqual([{ name, line: 4 }])
})

test('a parameter, another name, and a value that nobody calls are as they should be', () => {
  for (const inside of ['list.map((read) => read)', 'const other = 1', 'const copied = { read, inTurn }'])
    expect(findShadows('a.ts', whole(inside))).toEqual([])
})
