/** Comments are sentences that a colleague would say aloud, and every file begins with what it is for. */
import { errorStatus } from '../../src/errors.ts'
import { commentsOf, findPoorSentences, hasHead, isUnfinished } from '../prose.ts'
import { type Check, readFiles } from './source-files.ts'

const codes = Object.keys(errorStatus)

export const checkProse: Check = async () => {
  const files = await readFiles('{src,scripts,test}/**/*.{ts,js}')
  return files.flatMap(({ path, text: source }) => [
    ...(hasHead(source) ? [] : [`${path}: no comment says what the file is for`]),
    ...commentsOf(source).flatMap(({ line, text }) => [
      ...findPoorSentences(text, codes).map((problem) => `${path}:${line} ${problem}`),
      ...(isUnfinished(text) ? [`${path}:${line} does not end: "${text.slice(-70)}"`] : []),
    ]),
  ])
}
