/** argv to one command. No logic here: a command is a file in commands/ and a line below. Only the one that is called is loaded. */
import { run } from './commands/run.ts'

const commands = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  config: async () => (await import('./commands/config.ts')).configCommand(),
  accounts: async () => (await import('./commands/accounts.ts')).accountsCommand(),
  admins: async () => (await import('./commands/admins.ts')).adminsCommand(),
  tokens: async () => (await import('./commands/tokens.ts')).tokensCommand(),
  sessions: async () => (await import('./commands/sessions.ts')).sessionsCommand(),
  messages: async () => (await import('./commands/messages.ts')).messagesCommand(),
  limits: async () => (await import('./commands/messages.ts')).limitsCommand(),
  events: async () => (await import('./commands/events.ts')).eventsCommand(),
  keys: async () => (await import('./commands/keys.ts')).keysCommand(),
  sms: async () => (await import('./commands/sms.ts')).smsCommand(),
  texts: async () => (await import('./commands/texts.ts')).textsCommand(),
  gateways: async () => (await import('./commands/try.ts')).gatewaysCommand(),
  mail: async () => (await import('./commands/try.ts')).mailCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  move: async () => (await import('./commands/move.ts')).moveCommand(),
  upgrade: async () => (await import('./commands/upgrade.ts')).upgradeCommand(),
  health: async () => (await import('./commands/health.ts')).healthCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  secret: async () => (await import('./commands/secret.ts')).secretCommand(),
  version: async () => (await import('./commands/version.ts')).versionCommand(),
  worker: async () => (await import('./commands/worker.ts')).workerCommand(),
}

process.exitCode = await run(commands, process.argv.slice(2))
