/** `poterne texts init | check | preview`: for operators who write languages, see docs/texts.md. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import {
  type CheckedLanguage,
  checkTexts,
  type TextFinding,
} from '../../domain/messages/rendering/check-texts.ts'
import { previewPage } from '../../domain/messages/rendering/preview-page.ts'
import type { Config } from '../../platform/config/types.ts'
import { createCatalog, fallbackOf } from '../../texts/catalog.ts'
import { canonicalTag, isBuiltIn, languageName } from '../../texts/languages.ts'
import { textsFile } from '../../texts/write-file.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import type { CommonOptions } from './option-values.ts'
import { print, printJson, printResult } from './print.ts'

export function textsCommand(): Command {
  const command = new Command('texts').description(
    'write, check and preview the texts of messages and answers',
  )
  command
    .command('init')
    .description('write the file of a language, to translate or change it')
    .argument('<language>', 'its tag, such as de or pt-BR')
    .option('--directory <directory>', 'the directory to write to; default: texts.directory, else ./texts')
    .option('--from <language>', 'the language that the file begins with')
    .option('--force', 'overwrite a file that is there')
    .option(...configOption)
    .action(init)
  command
    .command('check')
    .description('report the errors and warnings of the texts in every language')
    .option('--service-name <name>', 'measure SMS with this name of the service')
    .option('--strict', 'fail on warnings, too')
    .option('--json', 'print JSON, for programs')
    .option(...configOption)
    .action(check)
  command
    .command('preview')
    .description('write a page with every message in every language')
    .option('--output <file>', 'the page', 'texts-preview.html')
    .option('--open', 'open it in the browser')
    .option(...configOption)
    .action(preview)
  return command
}

const readTexts = (options: CommandOptions, serviceName?: string) => {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const texts = { ...config.texts, ...(serviceName !== undefined && { serviceName }) }
  const catalog = createCatalog({ language: config.server.language, ...texts })
  return { config: { ...config, texts } satisfies Config, catalog }
}

type InitOptions = CommandOptions & CommonOptions & { directory?: string; from?: string; force?: boolean }

function init(name: string, { directory, from, force, json, ...options }: InitOptions): void {
  // The directory may not exist yet, and a wrong file in it keeps nobody from writing another one.
  const { config, catalog } = readTexts({ ...options, readTexts: false })
  const tag = canonicalTag(name)
  if (tag === null)
    throw new CommandFailure(2, `${name} is no tag of a language: expected one such as de or pt-BR`)
  const source = from ?? (isBuiltIn(tag) ? tag : fallbackOf(tag, config.texts.fallback))
  if (!catalog.has(source)) {
    throw new CommandFailure(2, `there is no language ${source}: there are ${catalog.tags.join(', ')}`)
  }
  const folder = resolve(directory ?? config.texts.directory ?? 'texts')
  const file = join(folder, `${tag}.toml`)
  if (existsSync(file) && !force) {
    throw new CommandFailure(
      1,
      `${file} is there already: --force overwrites it, and whatever was written in it`,
    )
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, textsFile(tag, source, catalog.of(source)))
  if (json) {
    printJson({ file, language: tag, from: source })
    return
  }
  print(`${file} holds every text, in ${languageName(source)}.\n`)
  if (config.texts.directory === null || resolve(config.texts.directory) !== folder) {
    print(`To use it, set texts.directory = ${JSON.stringify(folder)}.\n`)
  }
}

type CheckOptions = CommandOptions & { serviceName?: string; strict?: boolean; json?: boolean }

function check({ serviceName, strict, json, ...options }: CheckOptions): void {
  const { config, catalog } = readTexts(options, serviceName)
  const { languages, findings } = checkTexts(config, catalog)
  const count = (level: TextFinding['level']) => findings.filter((each) => each.level === level).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (json) {
    printJson({
      valid: errors === 0,
      languages: languages.map(({ language, isOwn, longestName }) => ({
        language,
        own: isOwn,
        longest_service_name: longestName,
      })),
      findings,
    })
  } else {
    for (const language of languages) {
      print(`${headingOf(language)}\n`)
      for (const { level, key, message } of findings.filter((each) => each.language === language.language)) {
        print(`  ${level}: ${key === null ? '' : `${key}: `}${message}\n`)
      }
    }
    print(`${errors} errors, ${warnings} warnings\n`)
  }
  if (errors > 0 || (strict && warnings > 0)) throw new CommandFailure(1, '')
}

function headingOf({ language, isOwn, longestName }: CheckedLanguage): string {
  const from = isOwn ? 'with a file of yours' : 'built in'
  const fits =
    longestName === 0
      ? 'not every SMS without a link fits one segment'
      : `every SMS without a link fits one segment if the name of the service has at most ${longestName} characters`
  return `${language} (${languageName(language)}, ${from}): ${fits}`
}

type PreviewOptions = CommandOptions & CommonOptions & { output: string; open?: boolean }

function preview({ output, open, json, ...options }: PreviewOptions): void {
  const { config, catalog } = readTexts(options)
  const file = resolve(output)
  writeFileSync(file, previewPage(config, catalog))
  printResult({ json }, { file }, `${file} shows every message.`)
  if (!open) return
  const [program, ...rest] = openers[process.platform] ?? ['xdg-open']
  try {
    Bun.spawn([program as string, ...rest, file], { stdio: ['ignore', 'ignore', 'ignore'] }).unref()
  } catch {
    throw new CommandFailure(
      1,
      `no browser could be opened (${program} is not there): open the file yourself`,
    )
  }
}

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
