/** The check of words: what it reads from the glossary, and where it finds a word. */
import { expect, test } from 'bun:test'
import { findUnwantedWords, readUnwantedWords } from '../../scripts/words.ts'

const glossary = `
| word | means |
|---|---|
| fruit | what grows on a tree |

## Words that are not used

| not used | instead | allowed in |
|---|---|---|
| pear, old pears | apple | \`src/garden\`, \`docs/trees.md\` |
| eat up (in sentences) | eat | |
`
const unwanted = readUnwantedWords(glossary)
const find = (text: string, path = 'src/a.ts') =>
  findUnwantedWords(path, text, unwanted).map(({ line, phrase }) => `${line} ${phrase}`)

test('the rows of the second table are read', () => {
  expect(unwanted).toEqual([
    {
      phrases: ['pear', 'old pears'],
      onlyInSentences: false,
      instead: 'apple',
      allowedIn: ['src/garden', 'docs/trees.md'],
    },
    { phrases: ['eat up'], onlyInSentences: true, instead: 'eat', allowedIn: [] },
  ])
})

test.each([
  ['A pear.', ['1 pear']],
  ['const onePear = readPear()', ['1 pear', '1 pear']],
  ['/**\n * Some old\n * pears.\n */', ['2 old pears']],
  ['`old` pears', ['1 old pears']],
  ['You eat up.', ['1 eat up']],
])('%p holds %p', (text, found) => {
  expect(find(text)).toEqual(found)
})

test.each([
  'It appears, and it is old. Pears are not.',
  'const pear_tree = 1',
  'const oldFruit = pears(old)',
  'eatUp(apple)',
])('%p holds none', (text) => {
  expect(find(text)).toEqual([])
})

test('names of files are read, and some files may have the word', () => {
  expect(find('', 'src/pear-tree.ts')).toEqual(['1 pear'])
  expect(find('A pear.', 'src/garden/tree.ts')).toEqual([])
})
