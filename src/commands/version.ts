/** `poterne version`: prints the version of this executable. */
import { Command } from 'commander'
import manifest from '../../package.json' with { type: 'json' }

export const versionLine = `${manifest.name} ${manifest.version}`

export function versionCommand(): Command {
  return new Command('version').description('print the version').action(() => {
    process.stdout.write(`${versionLine}\n`)
  })
}
