/** The output of scripts/test while it runs and at its end. */
import { expect, test } from 'bun:test'
import { countOf, createCounter, lastOutcomes, outcomesOf, summaryOf } from '../../scripts/lib/test-report.ts'

test('a failure and an error outside of a test are shown at once, with their file', () => {
  const { counted, failedFiles, read } = createCounter()
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
  expect([...failedFiles]).toEqual(['test/a.test.ts', 'test/b.test.ts'])
  expect(counted).toEqual({ passed: 2, failed: 1, file: 'test/b.test.ts' })
})

test('what was still running when the time was over is shown', () => {
  const { failedFiles, read } = createCounter()
  const lines = ['Interrupted while still running:', '  test/a.test.ts (9s)']
  expect(lines.map(read)).toEqual(lines)
  expect([...failedFiles]).toEqual(['test/a.test.ts'])
})

test('a file that ended its process has failed', () => {
  const { counted, failedFiles, read } = createCounter()
  const lines = ['test/a.test.ts:', '✗ test/a.test.ts (worker crashed: exit code 3)']
  expect(lines.map(read)).toEqual([null, `test/a.test.ts: ${lines[1]}`])
  expect([...failedFiles]).toEqual(['test/a.test.ts'])
  expect(counted.failed).toBe(1)
})

test('of a file that ran twice the second run counts', () => {
  const run = (file: string, inside: string) =>
    `<testcase name="one" classname="" time="1" file="${file}" />
     <testcase name="two" classname="" time="1" file="${file}">
       <${inside} />
     </testcase>`
  const first = run('test/a.test.ts', 'failure') + run('test/b.test.ts', 'skipped')
  expect(countOf(lastOutcomes([first]))).toEqual({ passed: 2, failed: 1, skipped: 1 })
  const again = '<testcase name="one" classname="" time="1" file="test/a.test.ts" />'
  expect(countOf(lastOutcomes([first, again]))).toEqual({ passed: 2, failed: 0, skipped: 1 })
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
