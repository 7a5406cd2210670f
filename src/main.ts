/** argv to one command. No logic here: a command is a file in commands/ and a line below. */
import { accountsCommand } from './commands/accounts.ts'
import { adminsCommand } from './commands/admins.ts'
import { backupCommand } from './commands/backup.ts'
import { configCommand } from './commands/config.ts'
import { doctorCommand } from './commands/doctor.ts'
import { eventsCommand } from './commands/events.ts'
import { healthCommand } from './commands/health.ts'
import { keysCommand } from './commands/keys.ts'
import { limitsCommand, messagesCommand } from './commands/messages.ts'
import { migrateCommand } from './commands/migrate.ts'
import { moveCommand } from './commands/move.ts'
import { restoreCommand } from './commands/restore.ts'
import { run } from './commands/run.ts'
import { secretCommand } from './commands/secret.ts'
import { serveCommand } from './commands/serve.ts'
import { sessionsCommand } from './commands/sessions.ts'
import { smsCommand } from './commands/sms.ts'
import { textsCommand } from './commands/texts.ts'
import { tokensCommand } from './commands/tokens.ts'
import { gatewaysCommand, mailCommand } from './commands/try.ts'
import { versionCommand } from './commands/version.ts'
import { workerCommand } from './commands/worker.ts'

const commands = [
  serveCommand(),
  migrateCommand(),
  configCommand(),
  accountsCommand(),
  adminsCommand(),
  tokensCommand(),
  sessionsCommand(),
  messagesCommand(),
  limitsCommand(),
  eventsCommand(),
  keysCommand(),
  smsCommand(),
  textsCommand(),
  gatewaysCommand(),
  mailCommand(),
  backupCommand(),
  restoreCommand(),
  moveCommand(),
  healthCommand(),
  doctorCommand(),
  secretCommand(),
  versionCommand(),
  workerCommand(),
]

process.exitCode = await run(commands, process.argv.slice(2))
