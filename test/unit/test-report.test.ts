/** The output of scripts/test while it runs and at its end. */
import { expect, test } from 'bun:test'
import { createCounter, outcomesOf, summaryOf } from '../../scripts/lib/test-report.ts'

test('a failure and an error outside of a test are shown at once, with their file', () => {
  const { counted, read } = createCounter()
  const shown = [
    'test/a.test.ts:',
    '(pass) one [1.00ms]',
    'error: expected 1',
    '(fail) two [1.00ms]',
    'test/b.test.ts:',
    '# Unhandled error between tests',
    '(pass) three [1.00ms]',
    '1 tests failed:',
    '(fail) two [1.00ms]',
  ].map(read)
  expect(shown.filter((line) => line !== null)).toEqual([
    'test/a.test.ts: (fail) two [1.00ms]',
    'test/b.test.ts: # Unhandled error between tests',
  ])
  expect(counted).toEqual({ passed: 2, failed: 1, file: 'test/b.test.ts' })
})

test('what was still running when the time was over is shown', () => {
  const { read } = createCounter()
  const lines = ['Interrupted while still running:', '  test/a.test.ts (9s)']
  expect(lines.map(read)).toEqual(lines)
})

test('the slowest tests and the failed ones are named with their file and groups', () => {
  const outcomes = outcomesOf(`
    <testcase name="is &quot;quick&quot;" classname="" time="0.5" file="test/a.test.ts" line="1" assertions="1" />
    <testcase name="a &lt; b" classname="inner &gt; outer" time="12.34" file="test/b.test.ts" line="2" assertions="1">
      <failure type="Error" message="no">no</failure>
    </testcase>`)
  expect(summaryOf(outcomes)).toEqual([
    '== the slowest tests',
    '  12.3 s  test/b.test.ts: outer > inner > a < b',
    '   0.5 s  test/a.test.ts: is "quick"',
    '== failed tests',
    '  test/b.test.ts: outer > inner > a < b',
  ])
})
