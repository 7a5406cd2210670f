/** One word means one thing: what docs/glossary.md refuses is in no name, comment or document. */
import { findUnwantedWords, readUnwantedWords } from '../words.ts'
import { type Check, readFiles } from './source-files.ts'

const GLOSSARY = 'docs/glossary.md'

/** Measurements of before and published migrations are never rewritten. */
const FIXED = /^(?:scripts\/bench\/results|test\/helpers\/earlier-migrations)\//

export const checkWords: Check = async () => {
  const patterns = ['{src,scripts,test}/**/*.{ts,js,html}', '{docs,test}/**/*.md', '*.md', 'docs/**/*.ts']
  const files = (await Promise.all(patterns.map(readFiles))).flat()
  const glossary = files.find(({ path }) => path === GLOSSARY)
  const unwanted = readUnwantedWords(glossary?.text ?? '')
  if (unwanted.length === 0) return [`${GLOSSARY} has no table of words that are not used`]
  return files
    .filter(({ path }) => path !== GLOSSARY && !FIXED.test(path))
    .flatMap(({ path, text }) =>
      findUnwantedWords(path, text, unwanted).map(
        ({ line, phrase, instead }) => `${path}:${line} says "${phrase}" instead of: ${instead}`,
      ),
    )
}
