/** config.example.toml and docs/configuration.md are up to date with the table of the configuration. */
import { configExample, configPage } from '../../src/platform/config/example.ts'
import { type Check, readFiles } from './source-files.ts'

const made: Record<string, () => string> = {
  'config.example.toml': configExample,
  'docs/configuration.md': configPage,
}

export const checkConfigurationFiles: Check = async () => {
  const problems: string[] = []
  for (const [path, make] of Object.entries(made)) {
    const [file] = await readFiles(path)
    if (file?.text !== make())
      problems.push(`${path} is not what the table of keys says: bun run fix writes it`)
  }
  return problems
}
