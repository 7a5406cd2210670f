/** The sentences, and which language a client gets. */
import { describe, expect, test } from 'bun:test'
import { readFiles } from '../../scripts/checks/source-files.ts'
import { pickLanguage } from '../../src/texts/accept-language.ts'
import { errorStatus, fieldErrorCodes, weakPasswordReasons } from '../../src/texts/errors.ts'
import { builtInTags, languages } from '../../src/texts/languages.ts'
import { pagesFr } from '../../src/texts/pages/fr.ts'
import type { Texts } from '../../src/texts/texts.ts'
import { cheapest } from '../helpers/timing.ts'

const everySentence = ({ errors, fields, weak_password, sentences }: Texts) =>
  [errors, fields, weak_password, sentences].flatMap((part) => Object.values(part))

describe('the sentences', () => {
  test.each(builtInTags)('there is one for every code in %s', (language) => {
    const { errors, fields, weak_password } = languages[language]
    expect(Object.keys(errors).sort()).toEqual(Object.keys(errorStatus).sort())
    expect(Object.keys(fields).sort()).toEqual([...fieldErrorCodes].sort())
    expect(Object.keys(weak_password).sort()).toEqual([...weakPasswordReasons].sort())
  })

  test.each(builtInTags)('each is a whole sentence in %s', (language) => {
    for (const sentence of everySentence(languages[language]))
      expect(sentence).toMatch(/^[\p{Lu}\p{Lo}].*[.]$/u)
  })

  test('French has its own apostrophe and a no-break space before a colon', () => {
    for (const sentence of everySentence(languages.fr)) {
      expect(sentence).not.toContain("'")
      expect(sentence).not.toMatch(/(?<![\u00a0\u202f])[:;!?]/)
    }
  })

  test('each is said somewhere', async () => {
    const source = (await readFiles('src/**/*.ts')).filter(
      ({ path }) => !/\/texts\/(pages\/)?..\.ts$/.test(path),
    )
    const words = new Set(source.flatMap(({ text }) => text.match(/\w+/g) ?? []))
    const names = [...Object.keys(pagesFr), ...Object.keys(languages.fr.sentences)]
    // The name of an event's sentence is made of the event.
    const unsaid = names.filter((name) => !words.has(name) && !name.startsWith('event_'))
    expect(unsaid).toEqual([])
  })

  test('the channel of the code is named', () => {
    expect(languages.fr.sentences.code_sent_by_email).toBe(
      'Un code à 6 chiffres vous a été envoyé par e-mail.',
    )
    expect(languages.fr.sentences.code_sent_by_sms).toBe('Un code à 6 chiffres vous a été envoyé par SMS.')
  })
})

describe('the language', () => {
  test.each([
    [null, 'fr'],
    ['', 'fr'],
    ['en', 'en'],
    ['EN-us', 'en'],
    ['es-419, en;q=0.5', 'es'],
    ['pt-BR', 'pt'],
    ['ar-MA', 'ar'],
    ['fr-CA, en', 'fr'],
    ['en, fr', 'en'],
    ['en;q=0.4, fr;q=0.5', 'fr'],
    ['en;q=0.5;x=1, fr;q=0.4', 'en'],
    ['de, en;q=0.1', 'en'],
    ['de, *;q=0.5', 'fr'],
    ['*', 'fr'],
    ['fr;q=0, *', 'en'],
    ['en;q=0', 'fr'],
    ['fr;q=0, en;q=0, *', 'es'],
    [`${builtInTags.map((tag) => `${tag};q=0`).join(', ')}, *`, 'fr'],
    ['fr;q=0, de', 'fr'],
    ['en_US', 'en'],
    ['pt-BR_x', 'pt'],
    ['de_DE,es_419;q=.9,en;q=.8', 'es'],
    ['en;q=1., es;q=.9', 'en'],
    ['es ; q = 0.5', 'es'],
    ['fr;q=0, *;q=.1', 'en'],
    ['en;q=., de', 'fr'],
    ['en;q=2', 'fr'],
    ['en;q=x, de', 'fr'],
    ['constructor, __proto__', 'fr'],
    [`${'de,'.repeat(32)}en`, 'fr'],
  ] as const)('%p is answered in %s where French is the default', (header, language) => {
    expect(pickLanguage(header, builtInTags, 'fr')).toBe(language)
  })

  test.each([
    ['iw_IL', 'he'],
    ['in-ID', 'id'],
    ['no', 'nb'],
    ['nb_NO', 'nb'],
    ['zh_Hant_TW', 'zh-Hant'],
    ['zh-CN', 'zh'],
  ])('%p is answered in %s where that was added', (header, language) => {
    expect(pickLanguage(header, ['en', 'he', 'id', 'nb', 'zh', 'zh-Hant'], 'en')).toBe(language)
    if (language === 'nb') expect(pickLanguage(header, ['en', 'no'], 'en')).toBe('no')
  })

  test('the default is configuration', () => {
    expect(pickLanguage('de', builtInTags, 'en')).toBe('en')
    expect(pickLanguage('*', builtInTags, 'en')).toBe('en')
    expect(pickLanguage('fr', builtInTags, 'en')).toBe('fr')
  })

  test('64 KB of header cost no time', () => {
    const header = `${';q='.repeat(20_000)},${' '.repeat(20_000)}`
    expect(cheapest(() => pickLanguage(header, builtInTags, 'fr'), 20)).toBeLessThan(20)
  })
})
