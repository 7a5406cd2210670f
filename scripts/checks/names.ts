/** An exported name means one thing, in a word of the field. */
import { type Check, readFiles } from './source-files.ts'

const exported =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** Words that are fine in a sentence and say nothing in a name; docs/glossary.md lists those that are used nowhere. */
const ownWords = /(?:^|(?<=[a-z]))(?:Looks|Patient|Nobody)(?![a-z])/

export const checkNames: Check = async () => {
  const places = new Map<string, string[]>()
  for (const { path, text } of await readFiles('src/**/*.ts')) {
    // The client package stands apart, and calls things as its readers do.
    if (path.startsWith('src/client/')) continue
    for (const [, name = ''] of text.matchAll(exported)) {
      places.getOrInsertComputed(name, () => []).push(path)
    }
  }
  const names = [...places]
  return [
    ...names
      .filter(([, paths]) => new Set(paths).size > 1)
      .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}: give one of them another name`),
    ...names
      .filter(([name]) => ownWords.test(name[0]?.toUpperCase() + name.slice(1)))
      .map(([name, [path]]) => `${path}: ${name} is no word of the field`),
  ]
}
