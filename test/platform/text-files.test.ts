/** Texts that an operator wrote: what is taken from a file, from where the rest comes, and what is refused. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalog } from '../../src/texts/catalog.ts'
import { builtInTags, languages } from '../../src/texts/languages.ts'
import { createTemplates } from '../../src/texts/messages.ts'
import { type ConfigDirectory, createConfigDirectory } from '../helpers/config.ts'
import { poterneCommand } from '../helpers/executable.ts'

let directory: ConfigDirectory
beforeEach(() => {
  directory = createConfigDirectory()
  mkdirSync(join(directory.path, 'texts'))
})
afterEach(() => directory.remove())

const withTexts = (files: Record<string, string>, more = '') => {
  directory.write('config.toml', `[texts]\ndirectory = "texts"\n${more}`)
  for (const [name, text] of Object.entries(files)) directory.write(`texts/${name}`, text)
}
const catalogOf = () => {
  const { server, texts } = directory.configOf()
  return createCatalog({ language: server.language, ...texts })
}
/** The problems, with the directory of the test cut off. */
const problems = () =>
  directory.problemsOf().map((problem) => problem.replace(`${join(directory.path, 'texts')}/`, ''))

const german = `
[errors]
invalid_credentials = "Kennung oder Passwort ist falsch."
[messages]
greeting = "Guten Tag,"
duration = { one = "eine Minute", other = "{minutes} Minuten" }
[messages.codes.confirmation]
sms = "{service}: {code} bestätigt Ihr Konto. Gültig {duration}."
`

describe('a pipe that nobody writes to', () => {
  test.each(['texts/de.toml', 'layout.html'])(
    'is refused as %s instead of being waited for',
    (name) => {
      withTexts({}, name === 'layout.html' ? 'layout = "layout.html"\n' : '')
      const made = Bun.spawnSync(['mkfifo', join(directory.path, name)])
      expect(made.exitCode).toBe(0)
      // It runs in a process of its own: a read that hangs could not be stopped here.
      const { stdout, stderr, exitCode } = Bun.spawnSync(
        [...poterneCommand(), 'config', 'check', '--config', join(directory.path, 'config.toml')],
        { timeout: 30_000, cwd: directory.path },
      )
      expect(exitCode).toBe(2)
      expect(`${stdout}${stderr}`).toContain('this is no ordinary file')
    },
    60_000,
  )
})

describe('a file', () => {
  test('adds a language, whose other texts come from the fallback', () => {
    withTexts({ 'de.toml': german, 'README.md': 'not a language' })
    const catalog = catalogOf()
    expect(catalog.tags).toEqual([...builtInTags, 'de'])
    expect(catalog.pick('de-AT, en;q=0.5')).toBe('de')
    const { errors, messages, sentences } = catalog.of('de')
    expect(errors.invalid_credentials).toBe('Kennung oder Passwort ist falsch.')
    expect(errors.invalid_token).toBe(languages.en.errors.invalid_token)
    expect(sentences).toEqual(languages.en.sentences)
    expect(messages.codes.confirmation.subject).toBe(languages.en.messages.codes.confirmation.subject)
    const { confirmation } = createTemplates(messages, 'de').messages
    expect(confirmation.sms({ service: 'Acme', minutes: 1 }, '012345')).toBe(
      'Acme: 012345 bestätigt Ihr Konto. Gültig eine Minute.',
    )
  })

  test('changes a built-in language and keeps the rest of it; a region has the rest from its language', () => {
    withTexts(
      {
        'fr.toml': '[messages]\ngreeting = "Salut,"',
        'pt-BR.toml': '[mailbox]\ntitle = "Caixa de entrada"',
        'de.toml': '',
      },
      'fallback = "es"',
    )
    const catalog = catalogOf()
    expect(catalog.of('fr').messages).toEqual({ ...languages.fr.messages, greeting: 'Salut,' })
    expect(catalog.of('fr').errors).toEqual(languages.fr.errors)
    expect(catalog.of('pt-BR').mailbox).toEqual({ ...languages.pt.mailbox, title: 'Caixa de entrada' })
    expect(catalog.of('de')).toEqual(languages.es)
    expect(['pt-br', 'pt-PT', 'pt-BR-x'].map((tag) => catalog.pick(tag))).toEqual(['pt-BR', 'pt', 'pt-BR'])
    expect(catalog.of('it')).toEqual(catalog.of('fr'))
  })

  test('makes its language one that the service can speak by default', () => {
    withTexts({ 'de.toml': german }, '[server]\nlanguage = "de"\n')
    expect(catalogOf().pick(null)).toBe('de')
  })
})

test('the examples of docs/texts.md can be used', async () => {
  const page = await Bun.file(join(import.meta.dir, '../../docs/texts.md')).text()
  const blocks = (language: string) =>
    [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
      .filter(([, each]) => each === language)
      .map(([, , text]) => text!)
  const texts = blocks('toml').filter((block) => block.includes('[messages]'))
  expect(texts).toHaveLength(1)
  withTexts({ 'de.toml': texts[0]! }, 'layout = "layout.html"\n')
  directory.write('layout.html', blocks('html')[0]!)
  expect(catalogOf().of('de').messages.greeting).toBe('Guten Tag,')
})

describe('what is wrong in a file', () => {
  test.each([
    ['[errors]\ninvalid_token = 5', 'errors.invalid_token: expected a text'],
    [
      '[errors]\ninvalid_tokens = "x"',
      'errors.invalid_tokens = "x": there is no such text; did you mean invalid_token?',
    ],
    ['[error]\na = "x"', 'error: there is no such text; did you mean errors?'],
    ['errors = "x"', 'errors = "x": expected a table'],
    ['[messages]\ngreeting = " "', 'messages.greeting = " ": must not be empty'],
    ['[messages]\nquotes = ["x"]', 'messages.quotes: expected two quotation marks'],
    ['[messages]\nbelow_code = "x"', 'messages.below_code = "x": expected a list of texts'],
    [
      '[messages]\nbelow_code = ["a", "b\\nc"]',
      'messages.below_code[1]: must be one line: a list has one text for each paragraph',
    ],
    [
      '[messages.duration]\none = "x"',
      'messages.duration.other: must be there: it is used for all numbers without a form of their own',
    ],
    [
      '[messages.duration]\nsome = "x"\nother = "y"',
      'messages.duration.some = "x": expected one of zero, one, two, few, many, other',
    ],
    [
      '[messages.codes.step_up]\nsms = "{kode}"',
      'messages.codes.step_up.sms = "{kode}": unknown placeholder {kode}; expected {service}, {minutes}, {duration}, {code}',
    ],
    [
      '[messages.codes.step_up]\nsms = "{service}"',
      'messages.codes.step_up.sms = "{service}": must hold {code}',
    ],
    [
      '[messages.codes.step_up]\nemail = ["{code}"]',
      'messages.codes.step_up.email[0] = "{code}": unknown placeholder {code}; expected {service}, {minutes}, {duration}',
    ],
    [
      '[messages]\ngreeting = "{service}"',
      'messages.greeting = "{service}": unknown placeholder {service}; this text has none',
    ],
    [
      '[messages]\nfooter = "[a"',
      'messages.footer = "[a": there is a [ without its ]; write {{, }}, [[ or ]] for a brace or a bracket itself',
    ],
  ])('%j is named with file and key', (toml, problem) => {
    withTexts({ 'de.toml': toml })
    expect(problems()).toEqual([`de.toml: ${problem}`])
  })

  test('is named for all files at once, with what is wrong about the files themselves', () => {
    withTexts({ 'german.toml': '', 'it.toml': '[messages', 'nl.toml': '[errors]\na = ""' })
    directory.write('texts/de.toml', new Uint8Array([0xff]))
    expect(problems()).toEqual([
      'de.toml: the file is not UTF-8',
      'german.toml: the file must be named after its language, such as de.toml or pt-BR.toml',
      expect.stringContaining('it.toml: line 1, column'),
      expect.stringContaining('nl.toml: errors.a = "": there is no such text'),
    ])
  })

  test('is a second file of one language', () => {
    withTexts({ 'pt-BR.toml': '', 'pt-br.toml': '' })
    expect(problems()).toEqual(['pt-br.toml: there is another file of this language, pt-BR.toml'])
  })

  test('a directory, a fallback or a layout that cannot be used', () => {
    directory.write('layout.html', '<p>{contents}</p>')
    const of = (keys: string) => {
      directory.write('config.toml', `[texts]\n${keys}\n`)
      return directory.problemsOf().map((problem) => problem.replace(/ = "[^"]*"/, ''))
    }
    expect(of('directory = "nowhere"')).toEqual(['texts.directory: there is no such file or directory'])
    expect(of('fallback = "de"')).toEqual([
      `texts.fallback: expected one of ${builtInTags.map((tag) => `"${tag}"`).join(', ')}, or a language with a file in texts.directory`,
    ])
    expect(of('fallback = "EN"')).toEqual(['texts.fallback: expected a language, such as "fr" or "pt-BR"'])
    expect(of('layout = "layout.html"')).toEqual([
      expect.stringContaining('texts.layout: unknown placeholder {contents}; expected {content}, {header}'),
    ])
    directory.write('layout.html', '<style>p{color:red}</style>')
    expect(of('layout = "layout.html"')).toEqual([
      'texts.layout: must hold {content}, in whose place the message goes',
    ])
    for (const support of [
      'help',
      'http://example.com',
      'Ada <a@example.com>',
      "o'neil@example.com",
      'https://u:p@example.com',
    ])
      expect(of(`support = "${support}"`)).toEqual([
        'texts.support: expected an e-mail address or an https URL, at most 100 ASCII characters',
      ])
    for (const support of ['help@example.com', 'https://example.com/help?a=1'])
      expect(of(`support = "${support}"`)).toEqual([])
    expect(of('logo_url = "http://example.com/a.png"\ncolour = "red"')).toEqual([
      'texts.logo_url: expected an https URL without user and password',
      'texts.colour: expected a colour such as "#0f5f6b"',
    ])
  })
})
