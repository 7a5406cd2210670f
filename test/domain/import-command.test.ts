/** `poterne import`: a file of whatever content, line by line, into the configured database. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSocket } from '../../src/platform/admin-socket.ts'
import { newEmail } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { poterneCommand, runPoterne } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const service = useService()
const directory = newDirectory('import')
const socket = join(directory, 'a.sock')
const run = async (...args: string[]) => {
  await openSocket(socket, service.inside.administration.handle)
  return runPoterne(['import', ...args, '--socket', socket], { directory })
}
const line = (fields = {}) => JSON.stringify({ email: newEmail(), email_verified_at: true, ...fields })

test('a hostile file is read to its end, and what is good in it comes in', async () => {
  const [email, late] = [newEmail(), newEmail()]
  const lines: (string | Uint8Array)[] = [
    `\ufeff${line({ email })}`,
    '',
    line({ email: email.toUpperCase() }),
    '{"email": ',
    '[1, 2]',
    'null',
    new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    line({ metadata: { big: 1 } }).replace('"big":1', '"big":12345678901234567890'),
    line({ metadata: { huge: 1 } }).replace('"huge":1', '"huge":1e999'),
    line({ metadata: { text: 'a' } }).replace('"a"', '"\\u0000"'),
    line({ metadata: { text: 'a' } }).replace('"a"', '"\\ud800"'),
    line({ __proto: 1 }).replace('__proto', '__proto__'),
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    line({ metadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) }),
    line({ metadata: { a: 'x'.repeat(70_000) } }),
    'x'.repeat(3_000_000),
    `${line({ email: late })}\r`,
  ]
  const file = join(directory, 'people.jsonl')
  writeFileSync(
    file,
    Buffer.concat(lines.flatMap((each) => [Buffer.from(each as string), Buffer.from('\n')])),
  )
  const report = join(directory, 'report.jsonl')
  const before = await countRows(service, 'accounts')
  const dry = await run(file, '--dry-run', '--json')
  expect([dry.code, await countRows(service, 'accounts')]).toEqual([1, before])
  const { code, out } = await run(file, '--report', report, '--json')
  const totals = JSON.parse(out)
  expect([code, totals.imported, totals.present, totals.refused]).toEqual([1, 2, 0, 14])
  expect(JSON.parse(dry.out)).toMatchObject({ imported: 2, refused: 14 })
  expect(totals.wrong_password_ms).toEqual({ before: expect.any(Number), now: expect.any(Number) })
  const reported = readFileSync(report, 'utf8')
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each))
  expect(reported.map((each) => [each.line, each.code ?? each.outcome])).toEqual([
    [1, 'imported'],
    [3, 'twice_in_file'],
    ...[4, 5, 6, 7].map((number) => [number, 'not_json']),
    ...[8, 9, 10, 11, 12].map((number) => [number, 'invalid_value']),
    [13, 'not_json'],
    [14, 'invalid_value'],
    [15, 'too_long'],
    [16, 'too_long'],
    [17, 'imported'],
  ])
  expect(reported[1]).toEqual({
    line: 3,
    outcome: 'refused',
    code: 'twice_in_file',
    field: 'email',
    other_line: 1,
  })
  expect(statSync(report).mode & 0o777).toBe(0o600)
  // Run again, everybody is there; and no report is overwritten.
  expect(JSON.parse((await run(file, '--json')).out)).toMatchObject({ imported: 0, present: 2, refused: 14 })
  const again = await run(file, '--report', report)
  expect([again.code, again.error]).toEqual([2, expect.stringContaining('is there already')])
})

test('lines of one name are found across calls, the one under way among them', async () => {
  const [email, free] = [newEmail(), newEmail()]
  const others = (length: number) => Array.from({ length }, () => line())
  const refused = line({ email: free, emial: free })
  // The first call takes 50 lines.
  const lines = [
    line({ email }),
    refused,
    ...others(48),
    line({ email }),
    line({ email: free }),
    ...others(70),
  ]
  const [file, report] = [join(directory, 'many.jsonl'), join(directory, 'many-report.jsonl')]
  writeFileSync(file, [...lines, line({ email: free })].join('\n'))
  const { code, out } = await run(file, '--report', report)
  expect([code, out.split('\n')[0]]).toEqual([1, 'imported 120, present 0, refused 3'])
  const reported = readFileSync(report, 'utf8').trim().split('\n')
  const all = reported.map((each): Record<string, unknown> => JSON.parse(each))
  expect(all.map((each) => each.line)).toEqual(all.map((_, at) => at + 1))
  const twice = { outcome: 'refused', code: 'twice_in_file', field: 'email' }
  expect(all.filter(({ outcome }) => outcome === 'refused')).toEqual([
    { line: 2, outcome: 'refused', code: 'unknown_field', field: 'email' },
    { line: 51, ...twice, other_line: 1 },
    { line: 123, ...twice, other_line: 52 },
  ])
})

test('a file that is not there is wrong usage', async () => {
  const { code, error } = await run(join(directory, 'nothing.jsonl'))
  expect([code, error]).toEqual([2, expect.stringContaining('cannot be read (ENOENT)')])
})

test('a folder is no file, and a report of nothing does not stay', async () => {
  const { code, error } = await run(directory)
  expect([code, error]).toEqual([2, expect.stringContaining('cannot be read (EISDIR)')])
  const [file, report] = [join(directory, 'one.jsonl'), join(directory, 'nothing-was-read.jsonl')]
  writeFileSync(file, line())
  const nowhere = ['import', file, '--report', report, '--socket', join(directory, 'nobody.sock')]
  expect((await runPoterne(nowhere, { directory })).code).toBe(1)
  expect(existsSync(report)).toBe(false)
})

test('an import that is killed and run again is complete, and has nobody twice', async () => {
  await openSocket(socket, service.inside.administration.handle)
  const emails = Array.from({ length: 1500 }, () => newEmail())
  const file = join(directory, 'killed.jsonl')
  writeFileSync(file, emails.map((email) => line({ email })).join('\n'))
  const before = await countRows(service, 'accounts')
  const args = [...poterneCommand(), 'import', file, '--socket', socket]
  for (let killed = 0; killed < 3; killed++) {
    const sofar = await countRows(service, 'accounts')
    const child = Bun.spawn(args, { cwd: directory, stdout: 'ignore', stderr: 'ignore' })
    await waitFor(async () => (await countRows(service, 'accounts')) > sofar, { what: 'the first call' })
    child.kill('SIGKILL')
    await child.exited
  }
  const { code, out } = await run(file, '--json')
  const { imported, present } = JSON.parse(out)
  expect([code, imported + present]).toEqual([0, emails.length])
  expect(await countRows(service, 'accounts')).toBe(before + emails.length)
})

test('a terminal is shown how far it is, how fast, and how long it takes; a pipe is shown nothing', async () => {
  await openSocket(socket, service.inside.administration.handle)
  const file = join(directory, 'shown.jsonl')
  writeFileSync(file, [...Array.from({ length: 60 }, () => line()), '{'].join('\n'))
  const pieces: Uint8Array[] = []
  const child = Bun.spawn([...poterneCommand(), 'import', file, '--socket', socket], {
    terminal: { cols: 80, data: (_, bytes) => void pieces.push(bytes.slice()) },
  })
  expect(await child.exited).toBe(1)
  const printed = () => Buffer.concat(pieces).toString()
  await waitFor(() => printed().includes('a wrong password takes'))
  const shown = printed()
  const bars = shown.split('\r\x1b[K').filter((each) => each.startsWith('['))
  expect(bars[0]).toMatch(/^\[#{23,25} *\] {2}\d\d % {2}50 lines, \d+\/s, \d+ s left$/)
  expect(bars.at(-1)).toMatch(/100 % {2}61 lines, \d+\/s, 0 s left$/)
  // Neither the refusal nor the result stands behind a bar.
  expect(shown).toContain('\r\x1b[Kline 61: not_json\r\n')
  expect(shown).toContain('\r\x1b[Kimported 60, present 0, refused 1\r\n')
  expect((await run(file)).error).toBe('line 61: not_json\n')
})

test('a report that takes no more ends the import with one line', async () => {
  await openSocket(socket, service.inside.administration.handle)
  const [file, report] = [join(directory, 'long.jsonl'), join(directory, 'short.jsonl')]
  writeFileSync(file, Array.from({ length: 60 }, () => line()).join('\n'))
  const limited = ['prlimit', '--fsize=1000', ...poterneCommand(), 'import', file, '--report', report]
  const child = Bun.spawn([...limited, '--socket', socket], { stdout: 'ignore', stderr: 'pipe' })
  expect([await new Response(child.stderr).text(), await child.exited]).toEqual([
    `--report: ${report} takes no more (EFBIG), and nothing further is read. Run the import again with another report: whoever is in is present\n`,
    1,
  ])
})
