/** Comments are sentences that a colleague would say aloud, and every file begins with what it is for. */
import { errorStatus } from '../../src/errors.ts'
import { commentsOf, findPoorSentences, hasHead, isUnfinished, riddles } from '../prose.ts'
import { type Check, readFiles } from './source-files.ts'

const codes = Object.keys(errorStatus)

async function checkPages(): Promise<string[]> {
  const pages = [...(await readFiles('*.md')), ...(await readFiles('{docs,test}/**/*.md'))]
  return pages.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        riddles.test(line) ? [`${path}:${index + 1} is a riddle: "${line.slice(0, 70)}…"`] : [],
      ),
  )
}

export const checkProse: Check = async () => {
  const files = await readFiles('{src,scripts,test}/**/*.{ts,js}')
  const problems = files.flatMap(({ path, text: source }) => [
    ...(hasHead(source) ? [] : [`${path}: no comment says what the file is for`]),
    ...commentsOf(source).flatMap(({ line, text }) => [
      ...findPoorSentences(text, codes).map((problem) => `${path}:${line} ${problem}`),
      ...(isUnfinished(text) ? [`${path}:${line} does not end: "${text.slice(-70)}"`] : []),
    ]),
  ])
  return [...problems, ...(await checkPages())]
}
