/** Finds words that docs/glossary.md does not want, in text and inside names of code and files. */

export interface UnwantedWords {
  /** Each is one or more words in lower case. */
  phrases: string[]
  /** The words may be part of a name. */
  onlyInSentences: boolean
  instead: string
  /** The files and folders in which the words have their own meaning. */
  allowedIn: string[]
}

const HEADING = '## Words that are not used'
const SENTENCES = '(in sentences)'

/** Reads the rows of the table below the heading. */
export function readUnwantedWords(glossary: string): UnwantedWords[] {
  const [, section = ''] = glossary.split(HEADING)
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, phrases]) => phrases !== 'not used')
    .map(([, phrases = '', instead = '', allowed = '']) => ({
      phrases: phrases
        .replace(SENTENCES, '')
        .split(',')
        .map((phrase) => phrase.trim()),
      onlyInSentences: phrases.includes(SENTENCES),
      instead: instead.replaceAll('*', ''),
      allowedIn: [...allowed.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    }))
}

/**
 * The words of a text or a name in lower case, each line for itself. Marks of punctuation stay, since a phrase does not
 * go on behind one. Names with an underscore stay whole: they belong to the interface or the database.
 */
const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/^[ \t]*(?:\*|\/\/)/gm, '')
    .replace(/[`"'’*)\]}>$/\\|=-]/g, ' ')
    .replace(/[.,:;!?([{<]/g, ' $& ')

const splitNames = (text: string): string => text.replace(/([a-z\d])([A-Z])/g, '$1 $2')

/** Returns the line, the words and what to write instead for each place. */
export function findUnwantedWords(
  path: string,
  text: string,
  unwanted: readonly UnwantedWords[],
): { line: number; phrase: string; instead: string }[] {
  const [name, sentences, parts] = [path, text, splitNames(text)].map(wordsOf) as [string, string, string]
  return unwanted
    .filter(({ allowedIn }) => !allowedIn.some((allowed) => path.startsWith(allowed)))
    .flatMap(({ phrases, onlyInSentences, instead }) => {
      const words = onlyInSentences ? sentences : parts
      const pattern = phrases.map((phrase) => phrase.replaceAll(' ', '\\s+')).join('|')
      const search = new RegExp(`(?<=^|\\s)(?:${pattern})(?=\\s|$)`, 'g')
      const inName = [...name.matchAll(search)].map(([phrase]) => ({ line: 1, phrase, instead }))
      const inText = [...words.matchAll(search)].map(({ 0: phrase, index }) => ({
        line: words.slice(0, index).split('\n').length,
        phrase: phrase.replace(/\s+/g, ' '),
        instead,
      }))
      return [...inName, ...inText]
    })
}
