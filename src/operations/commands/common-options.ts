/** The options that every command takes; `run` adds them where a command does not describe its own. */

export const jsonOption = ['--json', 'print JSON, for programs'] as const
export const yesOption = ['--yes', 'do not ask for confirmation'] as const

export interface CommonOptions {
  json?: boolean
  yes?: boolean
}
