/** `poterne version` and `poterne licenses`: what this executable is, and what it consists of. */
import { Command } from 'commander'
import { inventoryPaths } from '../../platform/bundled/paths.ts'
import { readAsset } from '../../platform/bundled/read.ts'
import { version } from '../../platform/version.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson } from './print.ts'

export const versionLine = `poterne ${version.version} (${version.commit})`

export function versionCommand(): Command {
  return new Command('version')
    .description('print the version and the commit')
    .option('--json', 'print JSON, for programs')
    .option('--sbom', 'print the parts of the executable, as CycloneDX 1.6')
    .action(async ({ json, sbom }: { json?: boolean; sbom?: boolean }) => {
      if (sbom) print(await readInventory('billOfMaterials'))
      else if (json) printJson(version)
      else print(`${versionLine}\n`)
    })
}

export function licensesCommand(): Command {
  return new Command('licenses')
    .description('print the licences of everything that the executable contains')
    .action(async ({ json }: { json?: boolean }) => {
      const text = new TextDecoder().decode(await readInventory('licences'))
      print(json ? `${JSON.stringify({ text })}\n` : text)
    })
}

function readInventory(part: 'billOfMaterials' | 'licences'): Promise<Uint8Array> {
  if (inventoryPaths === null) {
    throw new CommandFailure(
      1,
      'only the built executable knows what it consists of: run `bun run build` first',
    )
  }
  return readAsset(inventoryPaths[part])
}
