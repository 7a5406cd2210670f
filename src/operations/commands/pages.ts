/** `poterne pages preview`: for operators who want to see the pages in their colours. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { writePreview } from '../../pages/preview/write.ts'
import { createCatalog } from '../../texts/catalog.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import type { CommonOptions } from './option-values.ts'
import { printResult } from './print.ts'

export function pagesCommand(): Command {
  const command = new Command('pages').description('preview the pages for people')
  command
    .command('preview')
    .description('write every state of the pages in every language, light and dark')
    .option('--out <directory>', 'the directory to write to', 'pages-preview')
    .option(...configOption)
    .action(preview)
  return command
}

async function preview({ out, json, ...options }: CommandOptions & CommonOptions & { out: string }) {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const directory = resolve(out)
  const pages = await writePreview(
    config,
    createCatalog({ language: config.server.language, ...config.texts }),
    directory,
  )
  printResult({ json }, { directory, pages }, `${directory}/index.html leads to ${pages} pages.`)
}
