/** The sentences that the check of comments accepts and refuses. */
import { expect, test } from 'bun:test'
import {
  commentsOf,
  findPoorSentences,
  hasHead,
  isFragment,
  isUnfinished,
  sentencesOf,
} from '../../scripts/prose.ts'

test.each([
  'Of the access token.',
  'For tests: another addon than that of the executable.',
  'Null for a command.',
  'Null where no service of this configuration runs on this machine.',
  'As `POST refresh`, for the application of the session.',
  'Where the browser was sent.',
  'In whole hours, from two days on in whole days.',
  'Who calls.',
  'By what administrators act beside their own session.',
  'Not for a code that was used.',
])('"%s" is no sentence', (text) => {
  expect(isFragment(text)).toBe(true)
})

test.each([
  'The session that the access token names.',
  'With HS256, everybody who can read the public key could sign.',
  'If all are busy, it queues one job ahead for each thread.',
  'For a registration, the sender accepted them.',
  'Until then, and while it has them open, every statement throws.',
  'In a transaction it is undone with everything else.',
  'Those that wait at the same moment are done as one.',
  'It is null for a command.',
  'Null removes a field.',
])('"%s" is one', (text) => {
  expect(isFragment(text)).toBe(false)
})

test('long sentences, riddles and lists of thrown codes are named, and so is each sentence of a comment', () => {
  const find = (text: string) => findPoorSentences(text, ['invalid_code', 'too_many_attempts'])
  expect(find(`It ${'very '.repeat(30)}long.`)[0]).toContain('has 32 words')
  expect(find('It lets in whoever may open it.')[0]).toContain('riddle')
  expect(find('What the page shows.')[0]).toContain('instead of its noun')
  expect(find('Whether nothing is left.')[0]).toContain('instead of its noun')
  expect(find('The text that the page shows. It tells whether something is left.')).toEqual([])
  expect(find('Uses up the code. Throws `invalid_code` in any case.')[0]).toContain('thrown codes')
  expect(find('It may refuse. Null for others.')).toEqual(['is no sentence: "Null for others."'])
  expect(find('A plain sentence, and a second one. See docs/errors.md.')).toEqual([])
  expect(sentencesOf('One (of two). Two.\n\nThree')).toEqual(['One (of two).', 'Two.', 'Three'])
})

test('comments are read as blocks, lines and after code, without tables, lists and instructions', () => {
  const source = `/**
 * One
 * sentence.
 *
 * | a | table |
 * - an item
 */
const a = 'https://example.com' // It is behind code.
  // Two
  // lines.
// biome-ignore lint/x: y
`
  expect(commentsOf(source).map(({ line, text }) => [line, text])).toEqual([
    [1, 'One\nsentence.'],
    [8, 'It is behind code.'],
    [9, 'Two\nlines.'],
  ])
})

test('a comment that goes on in the next one, and a file without a head, are found', () => {
  expect(isUnfinished('An app that is stored nowhere,')).toBe(true)
  expect(isUnfinished('It is stored.')).toBe(false)
  expect(hasHead("import { a } from 'b'\n\n/** What it is for. */\nconst c = 1\n")).toBe(true)
  expect(hasHead("import { a } from 'b'\nconst c = 1\n/** Later. */\n")).toBe(false)
})
