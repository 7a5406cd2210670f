/** The commands and options that a help names are there. */
import { expect, test } from 'bun:test'
import type { Command } from 'commander'
import { commands } from '../../src/operations/commands/commands.ts'
import { loadProgram } from '../../src/operations/commands/run.ts'
import { actingGroups } from '../helpers/command-lines.ts'

const program = await loadProgram(commands)
const within = (command: Command): Command[] => [command, ...command.commands.flatMap(within)]
const all = program.commands.flatMap(within)

/** Each says what one command of its group does. */
const otherWords: Record<string, string> = {
  change: 'set',
  close: 'prefixes',
  count: 'report',
  find: 'list',
  let: 'access-code',
  print: 'example',
  read: 'list',
  send: 'retry',
  write: 'init',
}

/** "list, rotate or revoke the keys" names three: the first word of each part. */
const namedBy = (description: string) =>
  description
    .replace(/ (?:of|that|with) .*?(?=,|$)/g, '')
    .split(/, and |, or |, | and | or |; /)
    .map((part) => part.split(' ')[0] as string)

test('a group of commands names none that it has not', () => {
  const groups = all.filter(
    (command) => command.commands.length > 0 && !actingGroups.includes(command.name()),
  )
  for (const group of groups) {
    const known = group.commands.map((command) => command.name())
    const missing = namedBy(group.description()).filter(
      (word) => !known.includes(word) && !known.includes(otherWords[word] ?? word),
    )
    expect([group.name(), missing]).toEqual([group.name(), []])
  }
})

const textsOf = (command: Command) => [
  command.description(),
  ...command.options.map(({ description }) => description),
  ...command.registeredArguments.map(({ description }) => description),
]

const hasOption = (command: Command | undefined, long: string) =>
  command?.options.some((option) => option.long === long) === true

/** `poterne serve --dev`, or `messages list`. */
function isThere(words: string): boolean {
  let command: Command | undefined = program
  for (const word of words.split(' ').filter((each) => !each.startsWith('--')))
    command = command?.commands.find((each) => each.name() === word)
  const options = words.match(/--[a-z-]+/g) ?? []
  return command !== undefined && options.every((option) => hasOption(command, option))
}

function lackingIn(command: Command): string[] {
  const texts = textsOf(command)
  const named = texts.flatMap((text) => [...text.matchAll(/`(?:poterne )?([a-z][a-z -]*)`/g)])
  const commandsNamed = named.map(([, words = '']) => words).filter((words) => !isThere(words))
  const bare = texts.map((text) => text.replace(/`[^`]*`/g, ''))
  const optionsNamed = bare.flatMap((text) => text.match(/--[a-z-]+/g) ?? [])
  return [...commandsNamed, ...optionsNamed.filter((option) => !hasOption(command, option))]
}

test('every command and option that a help names in backticks or by its dashes is there', () => {
  expect(isThere('messages list')).toBe(true)
  expect(isThere('config explain')).toBe(false)
  expect(isThere('serve --devil')).toBe(false)
  expect(
    all.map((command) => [command.name(), lackingIn(command)]).filter(([, lacking]) => lacking?.length),
  ).toEqual([])
})
