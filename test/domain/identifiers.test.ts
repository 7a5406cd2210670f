/** The forms of e-mail addresses and phone numbers, and which of them are one identifier. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { type CountryCode, getCountries, getExampleNumber, type PhoneNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { parseEmail } from '../../src/domain/foundation/identifiers/email.ts'
import { maskDestination, parseIdentifier } from '../../src/domain/foundation/identifiers/identifier.ts'
import { parsePhone } from '../../src/domain/foundation/identifiers/phone.ts'
import { cheapest } from '../helpers/timing.ts'
import { seed } from '../random/seed.ts'

setDefaultTimeout(20_000)

describe('an e-mail address', () => {
  const accepted: [input: string, destination: string, key: string][] = [
    ['alice@example.com', 'alice@example.com', 'alice@example.com'],
    ['  Alice.Smith@Example.COM \r\n', 'Alice.Smith@Example.COM', 'alice.smith@example.com'],
    ["o'brien+tag@sub.example.co.uk", "o'brien+tag@sub.example.co.uk", "o'brien+tag@sub.example.co.uk"],
    ['x%0d%0aBcc@example.com', 'x%0d%0aBcc@example.com', 'x%0d%0abcc@example.com'],
    ['a@münchen.de', 'a@xn--mnchen-3ya.de', 'a@xn--mnchen-3ya.de'],
    ['a@XN--MNCHEN-3YA.de', 'a@XN--MNCHEN-3YA.de', 'a@xn--mnchen-3ya.de'],
    ['a@ｅxample。com', 'a@example.com', 'a@example.com'],
    ['a@1and1.com', 'a@1and1.com', 'a@1and1.com'],
    [`${'l'.repeat(64)}@example.com`, `${'l'.repeat(64)}@example.com`, `${'l'.repeat(64)}@example.com`],
  ]
  test.each(accepted)('%p is compared in one form and kept for sending', (input, destination, key) => {
    expect(parseEmail(input)).toEqual({ kind: 'email', destination, key })
  })

  const refused: [why: string, input: string][] = [
    ['empty', ''],
    ['no at', 'example.com'],
    ['no local part', '@example.com'],
    ['no domain', 'a@'],
    ['two addresses', 'a@example.com,b@example.com'],
    ['two addresses by semicolon', 'a@example.com;b@example.com'],
    ['two addresses by space', 'a@example.com b@example.com'],
    ['two at', 'a@b@example.com'],
    ['a display name', 'Alice <a@example.com>'],
    ['angle brackets', '<a@example.com>'],
    ['a quoted local part', '"a b"@example.com'],
    ['a quoted local part without need', '"a"@example.com'],
    ['an escaped local part', 'a\\@b@example.com'],
    ['a comment', 'a(comment)@example.com'],
    ['a comment in the domain', 'a@(comment)example.com'],
    ['a header line', 'a@example.com\r\nBcc: evil@example.org'],
    ['a header line in percent', 'a@example.com%0d%0aBcc:b@example.com'],
    ['a header line in the local part', 'a\r\nBcc:b@example.com'],
    ['a line break in the domain', 'a@exa\nmple.com'],
    ['a tab', 'a\t@example.com'],
    ['NUL', 'a\0@example.com'],
    ['NUL at the end', 'a@example.com\0'],
    ['DEL', 'a\x7f@example.com'],
    ['a leading dot', '.a@example.com'],
    ['a trailing dot', 'a.@example.com'],
    ['two dots', 'a..b@example.com'],
    ['a URI', 'mailto:a@example.com'],
    ['a fragment', 'a@example.com#b'],
    ['an at sign in quotation marks', '"a@b"@example.com'],
    ['a space in the domain', 'a@exam ple.com'],
    ['a Kelvin sign', '\u212aelvin@example.com'],
    ['a Cyrillic letter', '\u0430lice@example.com'],
    ['a long s', 'al\u017fice@example.com'],
    ['a right-to-left mark', '\u202ealice@example.com'],
    ['a no-break space inside', 'al\u00a0ice@example.com'],
    ['a dotless i', '\u0131an@example.com'],
    ['a capital I with dot', '\u0130an@example.com'],
    ['full-width letters', '\uff41lice@example.com'],
    ['a combining letter', 'e\u0301lise@example.com'],
    ['a precomposed letter', '\u00e9lise@example.com'],
    ['a soft hyphen in the local part', 'al\u00adice@example.com'],
    ['a zero-width space', 'al\u200bice@example.com'],
    ['a lone surrogate', '\ud800@example.com'],
    ['a lone surrogate in the domain', 'a@\ud800.com'],
    ['full-width at', 'a\uff20example.com'],
    ['one label', 'a@localhost'],
    ['a trailing dot of the domain', 'a@example.com.'],
    ['an empty label', 'a@example..com'],
    ['a leading dot of the domain', 'a@.example.com'],
    ['a leading hyphen', 'a@-example.com'],
    ['a trailing hyphen', 'a@example-.com'],
    ['an underscore', 'a@ex_ample.com'],
    ['an IPv4 address', 'a@127.0.0.1'],
    ['a short IPv4 address', 'a@127.1'],
    ['a hexadecimal IPv4 address', 'a@0x7f.1'],
    ['a full-width IPv4 address', 'a@１２７.0.0.1'],
    ['an IP literal', 'a@[127.0.0.1]'],
    ['an IPv6 literal', 'a@[IPv6:::1]'],
    ['a port', 'a@example.com:25'],
    ['a path', 'a@example.com/b'],
    ['a look-alike slash', 'a@example.com\u2100b.org'],
    ['a backslash', 'a@example.com\\b'],
    ['a query', 'a@example.com?x=1'],
    ['percent in the domain', 'a@exa%6dple.com'],
    ['broken punycode', 'a@xn--a.com'],
    ['a joiner', 'a@b\u200dc.com'],
    ['a local part of 65', `${'l'.repeat(65)}@example.com`],
    ['250 in a domain', `a@${'b'.repeat(250)}.com`],
    ['a label of 64', `a@${'l'.repeat(64)}.com`],
    ['255 in all', `a@${`${'l'.repeat(61)}.`.repeat(4)}${'l'.repeat(5)}`],
    ['more than 254 once in ASCII', `${'l'.repeat(40)}@${`${'é'.repeat(50)}.`.repeat(4)}com`],
  ]
  test.each(refused)('with %s is refused', (_, input) => {
    expect(parseEmail(input)).toBeNull()
  })

  test('reading its own destination and key again changes nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.emailAddress(),
          fc.string({ unit: 'binary' }).map((s) => `a@${s}.com`),
        ),
        (input) => {
          const email = parseEmail(input)
          if (email === null) return
          expect(parseEmail(email.destination)).toEqual(email)
          expect(parseEmail(email.key)?.key).toBe(email.key)
          expect(email.destination).toMatch(/^[!-~]+@[A-Za-z0-9.-]+$/)
        },
      ),
      { seed, numRuns: 2000 },
    )
  })
})

describe('a phone number', () => {
  const spellings: [input: string, country: string, key: string][] = [
    ['+33612345678', 'FR', '+33612345678'],
    ['06 12 34 56 78', 'FR', '+33612345678'],
    ['06.12.34.56.78', 'FR', '+33612345678'],
    ['06-12-34-56-78', 'FR', '+33612345678'],
    ['+33 (0)6 12 34 56 78', 'FR', '+33612345678'],
    ['(+33) 6 12 34 56 78', 'FR', '+33612345678'],
    ['0033612345678', 'FR', '+33612345678'],
    ['0033 6 12 34 56 78', 'US', '+33612345678'],
    ['011 33 6 12 34 56 78', 'US', '+33612345678'],
    ['０６１２３４５６７８', 'FR', '+33612345678'],
    ['＋３３ ６ １２ ３４ ５６ ７８', 'FR', '+33612345678'],
    ['٠٦١٢٣٤٥٦٧٨', 'FR', '+33612345678'],
    ['+۳۳۶۱۲۳۴۵۶۷۸', 'FR', '+33612345678'],
    ['\u202a+33 6 12 34 56 78\u202c', 'FR', '+33612345678'],
    ['06\u00a012\u202f34\u200956\u00a078', 'FR', '+33612345678'],
    ['+49 170 1234567', 'FR', '+491701234567'],
    ['0049 170 1234567', 'FR', '+491701234567'],
    ['0170 1234567', 'DE', '+491701234567'],
    ['+225 07 07 12 34 56', 'FR', '+2250707123456'],
    ['07 07 12 34 56', 'CI', '+2250707123456'],
    ['011 15 2345 6789', 'AR', '+5491123456789'],
    ['06 698 12345', 'IT', '+390669812345'],
    ['(201) 555-0123', 'US', '+12015550123'],
    ['০৬ ১২ ৩৪ ৫৬ ৭৮', 'FR', '+33612345678'],
    ['०६१२३४५६७८', 'FR', '+33612345678'],
    ['« 06 12 34 56 78 ».', 'FR', '+33612345678'],
    ['"+33 6 12 34 56 78"', 'FR', '+33612345678'],
    ['\ufeff06\u200b12\u200b34\u200b56\u200b78\ufe0e', 'FR', '+33612345678'],
    ["079'123'45'67", 'CH', '+41791234567'],
    ['tel:+33-6-12-34-56-78', 'US', '+33612345678'],
    ['TEL:0612345678', 'FR', '+33612345678'],
    ['06·12·34·56·78', 'FR', '+33612345678'],
    ['(+49) 1512 3456789', 'DE', '+4915123456789'],
    ['0692 12 34 57', 'FR', '+262692123457'],
    ['٠٦٩٢ ١٢ ٣٤ ٥٧', 'RE', '+262692123457'],
    ['+33 692 12 34 59', 'FR', '+262692123459'],
    ['+33 (0)692 12 34 59', 'US', '+262692123459'],
    ['0033 692 12 34 59', 'FR', '+262692123459'],
    ['0639 01 23 45', 'FR', '+262639012345'],
    ['0690 30 12 34', 'FR', '+590690301234'],
    ['0690 30 12 34', 'MF', '+590690301234'],
    ['0691 30 12 34', 'MQ', '+590691301234'],
    ['0694 20 12 34', 'BL', '+594694201234'],
    ['0696 12 34 56', 'GF', '+596696123456'],
    ['0709 30 12 34', 'FR', '+594709301234'],
    ['0612345678', 'RE', '+33612345678'],
    ['0612345678', 'PM', '+33612345678'],
    ['+262 6 12 34 56 78', 'FR', '+33612345678'],
    ['0690301234', 'RE', '+590690301234'],
    ['0590 20 12 34', 'RE', '+590590201234'],
    ['0262 20 12 34', 'FR', '+262262201234'],
    ['0269 61 12 34', 'FR', '+262269611234'],
    ['0508 55 12 34', 'FR', '+508551234'],
    ['55 12 34', 'PM', '+508551234'],
    ['0970 12 34 56', 'FR', '+33970123456'],
    ['0596 30 12 34', 'YT', '+596596301234'],
    ['+52 1 55 1234 5678', 'FR', '+525512345678'],
    ['0052 1 55 1234 5678', 'FR', '+525512345678'],
    ['+52 55 1234 5678', 'FR', '+525512345678'],
    ['044 55 1234 5678', 'MX', '+525512345678'],
    ['045 55 1234 5678', 'MX', '+525512345678'],
    ['01 55 1234 5678', 'MX', '+525512345678'],
    ['1 55 1234 5678', 'MX', '+525512345678'],
    ['55 1234 5678', 'MX', '+525512345678'],
  ]
  test.each(spellings)('%p read in %s is %s', (input, country, key) => {
    expect(parsePhone(input, country)).toMatchObject({ kind: 'phone', destination: key, key })
  })

  test.each([
    ['empty', ''],
    ['an extension', '+33612345678 ext. 12'],
    ['an extension by x', '+33612345678x12'],
    ['an RFC 3966 extension', 'tel:+33612345678;ext=12'],
    ['a pause', '+33612345678,12'],
    ['a hash', '+33612345678#12'],
    ['letters', '+33 6 FLOWERS'],
    ['letters behind', '+33612345678 home'],
    ['a header line', '+33612345678\r\nto: +33600000000'],
    ['a fraction', '½½½½½½½½½½'],
    ['zeros', '0000000000'],
    ['letters before', 'tel +33612345678'],
    ['two numbers', '+33612345678/+33612345679'],
    ['two plus signs', '++33612345678'],
    ['a plus in the middle', '06+12345678'],
    ['too few digits', '+336123'],
    ['too many digits', '+3361234567890'],
    ['an emergency number', '112'],
    ['an unknown country code', '+99912345678'],
    ['no such range', '+33012345678'],
    ['NUL', '+336123\x0045678'],
    ['a line break and a header', '+33612345678\r\nX: y'],
    ['Roman numerals', '+33Ⅵ12345678'],
    ['superscript digits', '+3361234567⁸'],
    ['mathematical digits', '+3361234567𝟠'],
  ])('with %s is refused', (_, input) => {
    expect(parsePhone(input, 'FR')).toBeNull()
  })

  test('without a country we know, only the international forms are read', () => {
    expect(parsePhone('0612345678', 'ZZ')).toBeNull()
    expect(parsePhone('+33612345678', 'ZZ')?.key).toBe('+33612345678')
    expect(parsePhone('0033612345678', 'ZZ')?.key).toBe('+33612345678')
  })

  test('names its country', () => {
    expect(parsePhone('+2250707123456', 'FR')?.country).toBe('CI')
    expect(parsePhone('+80012345678', 'FR')?.country).toBeNull()
  })

  test('in every spelling, of every country, meets in one form', () => {
    const numbers = getCountries()
      .map((country) => getExampleNumber(country, examples))
      .filter((number): number is PhoneNumber => number?.isValid() === true)
    expect(numbers.length).toBeGreaterThan(200)
    const zeros = [0x30, 0x660, 0x6f0, 0xff10, 0x9e6, 0x966, 0xe50, 0x1040, 0x1e950]
    const separator = fc.constantFrom('', ' ', '-', '.', '\u00a0', '\u202f', '\u2011', '\u200b', '/', ')')
    const spelling = fc.record({
      number: fc.constantFrom(...numbers),
      form: fc.constantFrom('plus', 'zeros', 'national', 'trunk', 'bracket'),
      zero: fc.constantFrom(...zeros),
      separators: fc.array(separator, { minLength: 20, maxLength: 20 }),
    })
    fc.assert(
      fc.property(spelling, ({ number, form, zero, separators }) => {
        const written = {
          plus: number.number,
          zeros: `00${number.number.slice(1)}`,
          national: number.formatNational(),
          trunk: number.formatNational().replace(/[^0-9]/g, ''),
          bracket: `(+${number.countryCallingCode}) ${number.nationalNumber}`,
        }[form]
        const text = Array.from(written, (character, index) =>
          /[0-9]/.test(character)
            ? String.fromCodePoint(zero + Number(character)) + separators[index % 20]
            : character,
        ).join('')
        const country = number.country as CountryCode
        expect([text, country, parsePhone(text, country)?.key]).toEqual([text, country, number.number])
        expect(parsePhone(number.number, 'FR')?.key).toBe(number.number)
      }),
      { seed, numRuns: 5000 },
    )
  })
})

describe('an identifier', () => {
  test('with an at sign is an e-mail address, else a phone number', () => {
    expect(parseIdentifier('Alice@example.com', 'FR')).toMatchObject({
      kind: 'email',
      key: 'alice@example.com',
    })
    expect(parseIdentifier('06 12 34 56 78', 'FR')).toMatchObject({ kind: 'phone', key: '+33612345678' })
    expect(parseIdentifier('alice＠example.com', 'FR')).toBeNull()
    expect(parseIdentifier('0612345678@', 'FR')).toBeNull()
    expect(parseIdentifier('', 'FR')).toBeNull()
  })

  test('of 64 KB is refused in under 20 ms, whatever it is made of', () => {
    const size = 64 * 1024
    const pieces = [
      'a',
      '1',
      '@',
      '.',
      ' ',
      '-',
      '+',
      '(',
      'a.',
      'a@',
      '\u202a',
      '\u00e9',
      '\ud800',
      'xn--',
      '1 ',
      'é.',
    ]
    parseIdentifier('warm@example.com', 'FR')
    parseIdentifier('0612345678', 'FR')
    for (const piece of pieces) {
      const long = piece.repeat(size / piece.length)
      for (const input of [long, `a@${long}`, `${long}@example.com`, `+33${long}x`, `a${long}@`]) {
        expect(parseIdentifier(input, 'FR')).toBeNull()
        expect(cheapest(() => parseIdentifier(input, 'FR'), 20)).toBeLessThan(20)
      }
    }
  })
})

describe('a masked destination', () => {
  test.each([
    ['alice@example.com', 'a•••@example.com'],
    ['a@example.com', 'a•••@example.com'],
    ['+33612345678', '+33 • •• •• •• 78'],
    ['+12015550123', '+1 ••• ••• ••23'],
    ['nothing known', '•••'],
  ])('%s is shown as %s', (destination, shown) => {
    expect(maskDestination(destination)).toBe(shown)
  })

  test('shows of every number the country code and two digits', () => {
    for (const country of getCountries()) {
      const number = getExampleNumber(country, examples)
      if (!number) continue
      const shown = maskDestination(number.number)
      expect(shown.replace(/[^0-9+]/g, '')).toBe(`+${number.countryCallingCode}${number.number.slice(-2)}`)
    }
  })
})
