/** The README is read in five minutes: it has at most 1,200 words. The rest belongs in `docs/`. */
import { type Check, readFiles } from './source-files.ts'

const MOST_WORDS = 1200

export function findLongReadme(text: string): string[] {
  const words = text.trim().split(/\s+/).length
  return words > MOST_WORDS
    ? [`README.md has ${words} words, and may have ${MOST_WORDS}: shorten a sentence`]
    : []
}

export const checkReadme: Check = async () =>
  (await readFiles('README.md')).flatMap(({ text }) => findLongReadme(text))
