/** An exported name means one thing, in a word of the field, and the subjects of commits are short. */
import { type Check, readFiles, root } from './source-files.ts'

const exported =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** Words that are fine in a sentence and say nothing in a name; docs/glossary.md lists those that are used nowhere. */
const ownWords = /(?:^|(?<=[a-z]))(?:Looks|Patient|Nobody)(?![a-z])/

const SUBJECT_LENGTH = 72
/** Subjects are checked from the commit after this one on. */
const FIRST_CHECKED = 'f06a58f'

async function longSubjects(): Promise<string[]> {
  const command = ['git', 'log', '--format=%h %s', `${FIRST_CHECKED}..HEAD`]
  const git = Bun.spawn(command, { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  // A copy of the sources without this history has no subjects to check.
  const lines = (await new Response(git.stdout).text()).split('\n')
  if ((await git.exited) !== 0) return []
  return lines
    .filter((line) => line.length - line.indexOf(' ') - 1 > SUBJECT_LENGTH)
    .map(
      (line) =>
        `the subject of ${line.slice(0, line.indexOf(' '))} has more than ${SUBJECT_LENGTH} characters`,
    )
}

export const checkNames: Check = async () => {
  const places = new Map<string, string[]>()
  for (const { path, text } of await readFiles('src/**/*.ts')) {
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
    ...(await longSubjects()),
  ]
}
