/** The comparison of the documented error codes with those in the code. */
import { expect, test } from 'bun:test'
import { compareErrorTable } from '../../scripts/checks/error-table.ts'

const statuses = { invalid_code: 422, invalid_token: 401, token_expired: 401 }

test('a table with every code and its status is right, also with two codes in a row', () => {
  const text =
    '| code | status | when |\n|---|---|---|\n| `invalid_code` | 422 | wrong |\n| `invalid_token`, `token_expired` | 401 | `too_long` |\n'
  const pages = ['README.md', 'docs/errors.md'].map((path) => ({ path, text }))
  expect(compareErrorTable(pages, statuses, ['too_long'])).toEqual([])
})

test('a wrong status, an invented code, a missing code and a missing field error are named', () => {
  const text = '| `invalid_code` | 400 |\n| `nothing` | 404 |\n| `invalid_token` | 401 |\n'
  const whole = '| `invalid_code` | 422 |\n| `invalid_token`, `token_expired` | 401 |\n'
  const pages = [
    { path: 'README.md', text },
    { path: 'docs/errors.md', text: whole },
  ]
  expect(compareErrorTable(pages, statuses, ['too_long'])).toEqual([
    'README.md: invalid_code is 422, not 400',
    'README.md: nothing is no error code, not 404',
    'the table of README.md lacks the error code token_expired',
    'neither README.md nor docs/ names the field error too_long',
  ])
})
