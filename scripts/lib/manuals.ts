/** The man page and the completions of the shells, made from the commands themselves. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import manifest from '../../package.json'
import { commands } from '../../src/operations/commands/commands.ts'
import { loadProgram } from '../../src/operations/commands/run.ts'
import { run } from './shell.ts'

/** One command that can be typed: `accounts list`. */
interface Listed {
  words: string[]
  command: Command
}

const HIDDEN = new Set(['worker'])

export async function listCommands(): Promise<Listed[]> {
  const { commands: top } = await loadProgram(commands)
  return top.filter((command) => !HIDDEN.has(command.name())).flatMap((command) => descend([], command))
}

function descend(before: string[], command: Command): Listed[] {
  const words = [...before, command.name()]
  const below = command.commands.flatMap((each) => descend(words, each))
  return below.length > 0 ? below : [{ words, command }]
}

/** Writes poterne.1.gz, poterne.bash, _poterne (zsh) and poterne.fish into `folder`. */
export async function writeManuals(folder: string, date: Date): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const listed = await listCommands()
  writeFileSync(join(folder, 'poterne.1'), manPage(listed, date))
  run(['gzip', '-9nf', join(folder, 'poterne.1')])
  writeFileSync(join(folder, 'poterne.bash'), bashCompletion(listed))
  writeFileSync(join(folder, '_poterne'), zshCompletion(listed))
  writeFileSync(join(folder, 'poterne.fish'), fishCompletion(listed))
}

const usageOf = ({ words, command }: Listed) => {
  const args = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  )
  return ['poterne', ...words, ...args].join(' ')
}

/** A backslash, a dash and a dot at the beginning of a line mean something to roff. */
const roff = (text: string) => text.replace(/\\/g, '\\e').replace(/-/g, '\\-').replace(/^\./gm, '\\&.')

function manPage(listed: Listed[], date: Date): string {
  const described = listed.map((each) => {
    const options = each.command.options
      .filter(({ hidden }) => !hidden)
      .map(({ flags, description }) => `.RS\n.TP\n.B ${roff(flags)}\n${roff(description)}\n.RE`)
    return [`.TP\n.B ${roff(usageOf(each))}\n${roff(each.command.description())}`, ...options].join('\n')
  })
  return `.TH POTERNE 1 ${date.toISOString().slice(0, 10)} "poterne ${manifest.version}"
.SH NAME
poterne \\- registration, confirmation, login and two\\-factor sign\\-in
.SH SYNOPSIS
.B poterne
.I command
[options]
.SH DESCRIPTION
One executable that keeps accounts and signs people in. With nothing configured it uses an embedded database; with
.B database.url
and
.B redis.url
it uses PostgreSQL and Redis. Each command prints its options with
.BR \\-\\-help .
.SH COMMANDS
${described.join('\n')}
.SH FILES
.TP
.I /etc/poterne/config.toml
The configuration of the packaged service.
.TP
.I /run/poterne/admin.sock
The socket by which commands reach the running service.
.SH EXIT STATUS
0: done. 1: failed. 2: wrong usage or configuration.
`
}

/** The words that may follow those typed so far: `'' → accounts, backup …`, `accounts → list, show …`. */
function wordsAfter(listed: Listed[]): Map<string, string[]> {
  const after = new Map<string, Set<string>>()
  const add = (before: string, word: string) => {
    after.set(before, (after.get(before) ?? new Set()).add(word))
  }
  for (const { words, command } of listed) {
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(' '), word)
    for (const option of command.options) if (option.long) add(words.join(' '), option.long)
  }
  return new Map([...after].map(([before, words]) => [before, [...words].sort()]))
}

function bashCompletion(listed: Listed[]): string {
  const cases = [...wordsAfter(listed)].map(
    ([before, words]) => `    '${before}') words='${words.join(' ')}' ;;`,
  )
  return `# bash completion of poterne
_poterne() {
  local current=\${COMP_WORDS[COMP_CWORD]} before='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) break ;; *) before="\${before:+$before }$word" ;; esac
  done
  case $before in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _poterne poterne
`
}

function zshCompletion(listed: Listed[]): string {
  const cases = [...wordsAfter(listed)].map(
    ([before, words]) => `    '${before}') compadd -- ${words.join(' ')} ;;`,
  )
  return `#compdef poterne
# zsh completion of poterne
_poterne() {
  local before=''
  for word in \${words[2,CURRENT-1]}; do
    case $word in -*) break ;; *) before="\${before:+$before }$word" ;; esac
  done
  case $before in
${cases.join('\n')}
    *) _files ;;
  esac
}
_poterne "$@"
`
}

function fishCompletion(listed: Listed[]): string {
  const quoted = (text: string) => `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`
  const lines = listed.flatMap(({ words, command }) => {
    const [first = '', second] = words
    const condition = second
      ? `-n '__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}'`
      : `-n '__fish_seen_subcommand_from ${first}'`
    const options = command.options
      .filter(({ long }) => long)
      .map(
        ({ long, description }) =>
          `complete -c poterne ${condition} -l ${long?.slice(2)} -d ${quoted(description)}`,
      )
    const name = second
      ? `complete -c poterne -f -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(command.description())}`
      : `complete -c poterne -f -n __fish_use_subcommand -a ${first} -d ${quoted(command.description())}`
    return [name, ...options]
  })
  const groups = [
    ...new Set(listed.filter(({ words }) => words.length > 1).map(({ words }) => words[0] as string)),
  ]
  const tops = groups.map((name) => `complete -c poterne -f -n __fish_use_subcommand -a ${name}`)
  return `# fish completion of poterne\n${[...tops, ...lines].join('\n')}\n`
}
