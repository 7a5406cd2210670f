/** `poterne texts init | check | preview`, as an operator who writes a language runs them. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messagePurposes } from '../../src/domain/messages/outbox/message.ts'
import { checkTexts } from '../../src/domain/messages/rendering/check-texts.ts'
import { loadConfig } from '../../src/platform/config/load.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { builtInTags } from '../../src/texts/languages.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { runHere } from '../helpers/run-here.ts'

setDefaultTimeout(120_000)

function project(config = '[texts]\ndirectory = "texts"\nservice_name = "Acme"\n') {
  const directory = newDirectory('texts-commands')
  writeFileSync(join(directory, 'config.toml'), config)
  const file = join(directory, 'texts/de.toml')
  const load = () => {
    const loaded = loadConfig({ env: {}, directory, mustDeliver: false })
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    return loaded.config
  }
  return {
    directory,
    file,
    change(from: string | RegExp, to: string) {
      const text = readFileSync(file, 'utf8')
      expect(text).toMatch(from)
      writeFileSync(file, text.replace(from, to))
    },
    check(serviceName = 'Acme') {
      const config = load()
      const texts = { ...config.texts, serviceName }
      return checkTexts({ ...config, texts }, createCatalog({ language: 'fr', ...texts }))
    },
    poterne: (...argv: string[]) => runHere(['texts', ...argv], {}, directory),
  }
}

test('a language is begun, checked and looked at', async () => {
  const { directory, file, change, poterne } = project()
  expect(await poterne('init', 'de')).toMatchObject({ code: 0, error: '' })
  expect(readFileSync(file, 'utf8')).toContain(
    '[messages.codes.confirmation]\nsubject = "Confirm your account at {service}"',
  )
  expect(await poterne('init', 'de')).toMatchObject({ code: 1, error: expect.stringContaining('--force') })

  change('Enter this code where you created your account:', 'Hier ist Ihr Code für {service}:')
  change('{code} is your confirmation code', 'https://acme.example/{code} bestätigt')
  const checked = await poterne('check')
  expect(checked).toMatchObject({ code: 1, error: '' })
  expect(checked.out).toContain('de (German, with a file of yours)')
  expect(checked.out).toContain(
    'error: messages.codes.confirmation.sms: a message with a code must not hold a link',
  )
  expect(checked.out).toEndWith('1 errors, 6 warnings\n')

  const page = join(directory, 'page.html')
  expect((await poterne('preview', '--output', page)).code).toBe(0)
  const html = readFileSync(page, 'utf8')
  expect(html.match(/ data-mail=/g)).toHaveLength((builtInTags.length + 1) * messagePurposes.length)
  expect(html).toContain('&lt;p style=&quot;margin:0 0 16px&quot;&gt;Hier ist Ihr Code für ')
  expect(html).not.toMatch(/(src|href)="https?:/)

  change('https://acme.example/{code}', '{kode}')
  expect(await poterne('check')).toMatchObject({
    code: 2,
    error: expect.stringContaining('de.toml: messages.codes.confirmation.sms = "{service}: {kode} bestätigt'),
  })
})

test('of the built-in SMS only those with a link in Arabic are long, and all bear a name', () => {
  const { languages, findings } = project('').check()
  const links = [
    ...['email_changed', 'phone_changed', 'email_removed', 'phone_removed', 'two_factor_removal', 'invited'],
  ]
  expect(findings.map(({ language, level, key }) => [language, level, key])).toEqual(
    links.map((notice) => ['ar', 'warning', `messages.notices.${notice}.sms`]),
  )
  expect(languages.map(({ language }) => language)).toEqual([...builtInTags])
  for (const { language, longestName } of languages) {
    expect([language, longestName >= (language === 'ar' ? 6 : 16)]).toEqual([language, true])
  }
})

test('what is not wise is a warning: length and its price, texts that are missing, placeholders that are not used', () => {
  const { directory, check } = project()
  mkdirSync(join(directory, 'texts'))
  const file = `
[messages.codes.login_code]
sms = "{code}, “Acme”"
[messages.notices.recovery_code_used]
email = ["Ein Code wurde benutzt."]
`
  writeFileSync(join(directory, 'texts/de.toml'), file)
  const findings = check().findings.filter(({ language }) => language === 'de')
  expect(
    findings.map(({ language, level, key, message }) => `${language} ${level} ${key} ${message}`),
  ).toEqual([
    'de warning messages.codes.login_code.sms does not use {service}, {duration}',
    'de warning messages.notices.recovery_code_used.email does not use {left}',
    expect.stringMatching(
      /^de warning null \d+ texts are missing and come from English: errors\.malformed_json, /,
    ),
    'de warning messages.codes.login_code.sms 14 characters in UCS-2, since “ ” is not in the alphabet of SMS: 70 fit one segment, not 160',
  ])
  writeFileSync(join(directory, 'texts/de.toml'), file.replace('{code}', `{code} ${'x'.repeat(60)}`))
  expect(check().findings).toContainEqual({
    level: 'warning',
    language: 'de',
    key: 'messages.codes.login_code.sms',
    message:
      '75 characters in UCS-2, since “ ” is not in the alphabet of SMS: 2 segments, at 2 times the price',
  })
  const long = check('Association of Long Names, Ltd.').findings.filter(({ language }) => language === 'ar')
  expect(long.length).toBeGreaterThan(5)
})
