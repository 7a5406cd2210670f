/** `poterne version`: prints the version of this executable and the commit it was built from. */
import { Command } from 'commander'
import { version } from '../platform/version.ts'

export const versionLine = `poterne ${version.version} (${version.commit})`

export function versionCommand(): Command {
  return new Command('version')
    .description('print the version and the commit')
    .option('--json', 'print for programs')
    .action(({ json }: { json?: boolean }) => {
      process.stdout.write(`${json ? JSON.stringify(version, null, 2) : versionLine}\n`)
    })
}
