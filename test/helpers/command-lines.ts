/** Every command of the program, each with arguments that are complete. A test fails where one is missing here. */
import type { Command } from 'commander'
import { commands } from '../../src/operations/commands/commands.ts'
import { loadProgram } from '../../src/operations/commands/run.ts'

export interface Place {
  account: string
  token: string
  message: string
  session: string
  /** Files are written there. */
  directory: string
}

/** `needs`: "nothing" works anywhere, "configuration" without a database; "database": all others. */
export interface CommandLine {
  args: (place: Place) => string[]
  needs: 'nothing' | 'configuration' | 'database'
}

const line = (
  args: (place: Place) => string[] = () => [],
  needs: CommandLine['needs'] = 'database',
): CommandLine => ({ args, needs })
const named = line(({ account }) => [account])

/** The keys are the words that name a command, in an order in which each finds what it works on. */
export const commandLines: Record<string, CommandLine> = {
  'accounts list': line(),
  'accounts show': named,
  'accounts create': line(() => ['--email', `made-${crypto.randomUUID()}@example.com`]),
  'accounts verify': named,
  'accounts set': line(({ account }) => [account, '--role', '3']),
  'accounts export': named,
  'accounts invite': line(() => [`made-${crypto.randomUUID()}@example.com`]),
  'accounts resend-confirmation': named,
  'accounts change-contact': line(({ account }) => [account, '--phone', '+33612345678']),
  'accounts access-code': named,
  'accounts remove-two-factor': named,
  'accounts undo-contact': named,
  import: line(() => ['-', '--dry-run']),
  export: line(({ directory }) => [`${directory}/accounts-${crypto.randomUUID()}.jsonl`]),
  'admins add': line(({ account }) => [account, '--role', 'viewer']),
  'admins list': line(),
  'admins remove': named,
  'invitations create': line(() => ['--uses', '20', '--note', 'a course']),
  'invitations list': line(),
  'invitations revoke': line(({ token }) => [token]),
  'tokens create': line(() => ['--name', 'script', '--scopes', 'accounts:read']),
  'tokens list': line(),
  'tokens revoke': line(({ token }) => [token]),
  'sessions list': named,
  'sessions end': named,
  'messages list': line(),
  'messages show': line(({ message }) => [message]),
  'messages retry': line(({ message }) => [message]),
  'limits lift': named,
  'events list': line(),
  'events follow': line(() => ['--after', '0']),
  'keys list': line(),
  'keys rotate': line(),
  'keys revoke': line(() => ['no-such-key']),
  'apps list': line(),
  'apps show': line(() => ['web']),
  'apps secret': line(() => [], 'nothing'),
  'webhooks list': line(),
  'webhooks try': line(() => ['app']),
  'webhooks waiting': line(() => ['app']),
  'webhooks retry': line(() => ['app']),
  'webhooks replay': line(() => ['app', '--since', '2026-07-01']),
  'sms prefixes list': line(),
  'sms prefixes close': line(() => ['+3712', '--reason', 'pumping', '--expires', '7d']),
  'sms prefixes open': line(() => ['+3712']),
  'sms report': line(),
  'secret status': line(),
  'accounts lock': line(({ account }) => [account, '--reason', 'chargeback']),
  'accounts unlock': named,
  'accounts erase': named,
  'accounts forget-hashes': line(() => ['--unused-since', '2026-01-01']),
  secret: line(undefined, 'nothing'),
  'secret rotate': line(),
  'secret revoke': line(),
  migrate: line(),
  backup: line(({ directory }) => [`${directory}/auth.backup`]),
  'backup verify': line(({ directory }) => [`${directory}/none.backup`], 'configuration'),
  restore: line(({ directory }) => [`${directory}/none.backup`]),
  upgrade: line(() => ['--from', '/bin/true']),
  version: line(undefined, 'nothing'),
  // From source there is no inventory, and it fails.
  licenses: line(undefined, 'configuration'),
  health: line(),
  doctor: line(undefined, 'configuration'),
  'config check': line(undefined, 'configuration'),
  'config show': line(undefined, 'nothing'),
  'config example': line(undefined, 'nothing'),
  'texts init': line(({ directory }) => ['de', '--directory', directory, '--force'], 'nothing'),
  'texts check': line(undefined, 'nothing'),
  'texts preview': line(({ directory }) => ['--output', `${directory}/preview.html`], 'nothing'),
  'gateways try': line(() => ['main', '+33612345678'], 'configuration'),
  'mail try': line(() => ['ada@example.com'], 'configuration'),
}

/** It runs until it is ended, and is a service, not a question. */
const SERVICE = 'serve'

/** They do something by themselves, too. */
export const actingGroups = ['secret', 'backup']

/** The commands that do something, as the program has them. */
export async function everyCommand(): Promise<{ name: string; command: Command }[]> {
  const program = await loadProgram(commands)
  const leaves = (command: Command, before: string[]): { name: string; command: Command }[] => {
    const words = [...before, command.name()]
    const own = { name: words.join(' '), command }
    const below = command.commands.flatMap((each) => leaves(each, words))
    const acts = below.length === 0 || actingGroups.includes(command.name())
    return acts ? [own, ...below] : below
  }
  return program.commands
    .flatMap((command) => leaves(command, []))
    .filter(({ name }) => name !== SERVICE && name !== 'worker')
}
