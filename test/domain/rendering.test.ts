/** The sentences of every message, in every language and on both channels. */
import { describe, expect, test } from 'bun:test'
import { accountCodeKinds, codePurposes } from '../../src/domain/messages/codes/store.ts'
import { type NoticePurpose, noticePurposes } from '../../src/domain/messages/outbox/message.ts'
import type { PersonMessage } from '../../src/domain/messages/outbox/store.ts'
import { createRenderer } from '../../src/domain/messages/rendering/render.ts'
import type { RenderedMessage } from '../../src/domain/messages/senders/sender.ts'
import { undoRefused } from '../../src/domain/sign-in/undo/page.ts'
import { createLinkPages } from '../../src/platform/http/link-page.ts'
import { type Catalog, createCatalog } from '../../src/texts/catalog.ts'
import { builtInTags as languages, languages as texts } from '../../src/texts/languages.ts'
import { smsLength } from '../../src/texts/sms-length.ts'

const purposes = [...codePurposes, ...noticePurposes]
const every = languages.flatMap((language) => purposes.map((purpose) => ({ language, purpose })))

interface Given {
  autofillDomain?: string | null
  serviceName?: string | null
  texts?: object
  catalog?: Catalog
}

const noTexts = { serviceName: null, logoUrl: null, support: null, colour: '#0f5f6b', layoutHtml: null }

function renderer(baseUrl = 'https://auth.example.com', from: string | null = null, given: Given = {}) {
  const smtp = from === null ? null : { from }
  const { autofillDomain = null, serviceName = null } = given
  const server = { baseUrl }
  const texts = { ...noTexts, serviceName, ...given.texts }
  return createRenderer(
    { server, smtp, sms: { autofillDomain }, texts } as never,
    given.catalog ?? createCatalog({ language: 'fr' }),
  )
}

function queued(values: Partial<PersonMessage>): PersonMessage {
  return {
    id: 7,
    channel: 'email',
    destination: 'ada@example.com',
    purpose: 'confirmation',
    language: 'fr',
    values: {},
    lane: 0,
    requestId: null,
    accountUuid: null,
    codeSubject: null,
    codePurpose: null,
    codeGroup: 'stranger',
    codeSeed: null,
    createdAt: new Date(0),
    attempts: 1,
    firstAttemptAt: new Date(0),
    detail: null,
    ...values,
  }
}

const codesOfAll = [...codePurposes, ...accountCodeKinds]
const codeOf = (purpose: string) => (codesOfAll.some((known) => known === purpose) ? '012345' : null)
const render = (values: Partial<PersonMessage>, from = renderer()): RenderedMessage => {
  const message = queued(values)
  return from(message, codeOf(message.purpose), 10)
}

describe.each(every)('$purpose in $language', ({ language, purpose }) => {
  test('has a subject, the same sentences in text and HTML, and the code where there is one', () => {
    const mail = render({ language, purpose })
    expect(mail).toMatchObject({ id: 7, to: 'ada@example.com', purpose, language })
    expect(mail.subject.length).toBeGreaterThan(10)
    expect(mail.html).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`)
    for (const written of [mail.text, mail.html as string, mail.subject]) {
      expect(written).not.toMatch(/undefined|null|\[object|\{\w+\}|NaN/)
    }
    const digits = /(?<!\d)\d{6}(?!\d)/g
    const expected = codeOf(purpose) === null ? [] : ['012345']
    const found = (written: string): string[] => written.match(digits) ?? []
    expect(found(mail.text)).toEqual(expected)
    // It stands in two groups, and a copy of them has no space.
    expect(found((mail.html as string).replaceAll(/<[^>]+>/g, ''))).toEqual(expected)
    expect(mail.subject).not.toMatch(digits)
  })

  test('says how long the code lives, and that others may ignore it', () => {
    const { text } = render({ language, purpose, codeGroup: 'stranger' })
    const duration = {
      fr: '10 minutes',
      en: '10 minutes',
      es: '10 minutos',
      pt: '10 minutos',
      ar: '10 دقائق',
    }
    if (codeOf(purpose) === null) return expect(text).not.toContain(duration[language])
    expect(text).toContain(duration[language])
    expect(text).toContain(texts[language].messages.below_code[1]?.replaceAll("'", '’') as string)
  })

  test('fits one segment of an SMS, for a service with a name of 16 characters', () => {
    const values = { provider: 'Microsoft', left: '9', about: '+3361' }
    const sent = { language, purpose, channel: 'sms', destination: '+33612345678', values } as const
    const { text, subject, html } = render(sent, renderer('https://auth.example.com'))
    expect({ subject, html }).toEqual({ subject: '', html: null })
    const { alphabet, foreign, ...length } = smsLength(text)
    expect({ alphabet, foreign: language === 'ar' ? [] : foreign, text, ...length }).toEqual({
      alphabet: language === 'ar' ? 'UCS-2' : 'GSM-7',
      foreign: [],
      text,
      segments: 1,
    })
  })
})

describe('an SMS', () => {
  const sms = { channel: 'sms', destination: '+33612345678' } as const

  test('ends with the line that binds the code to the site on which people type it', () => {
    const { text } = render(sms, renderer(undefined, null, { autofillDomain: 'app.example.com' }))
    expect(text.split('\n').at(-1)).toBe('@app.example.com #012345')
  })

  test('has no such line where no site is configured, nor without a code', () => {
    expect(render(sms).text).not.toMatch(/@|\n/)
    const bound = renderer(undefined, null, { autofillDomain: 'app.example.com' })
    expect(render({ ...sms, purpose: 'password_changed' }, bound).text).not.toMatch(/@|\n/)
  })
})

test('Arabic counts minutes in its own plurals, in the digits of the code', () => {
  const lives = (minutes: number) =>
    renderer()(queued({ language: 'ar' }), '012345', minutes).text.match(/صالح لمدة (.*?) ويُستخدم/)?.[1]
  expect([1, 2, 3, 11, 60].map(lives)).toEqual(['دقيقة واحدة', 'دقيقتين', '3 دقائق', '11 دقيقة', '60 دقيقة'])
})

describe('a name that somebody chose', () => {
  const shownAs = (name: string, language = 'en') => {
    const about = { language, values: { device: name, passkey: name } }
    const mail = render({ ...about, purpose: 'passkey_added' }).text
    const sms = render({ ...about, purpose: 'passkey_added', channel: 'sms' }).text
    const nameless = render({ ...about, values: {}, purpose: 'passkey_added', channel: 'sms' }).text
    expect(sms).toBe(nameless)
    return mail.match(/sign in with (?:“(.*?)”|it)\./)?.[1]
  }

  test.each([
    ['Alerte! https://evil.example/a?b=c#d', 'Alerte https evil example a b c d'],
    ['evil。example ／ ｅｖｉｌ．example eve@ex.example', 'evil example evil example eve ex example'],
    ['⒈evil․example…', '1 evil example'],
    ['Call +33 6 12 34 56 78 or 0800-123-456 now', 'Call + or now'],
    ['Call ٠٦١٢٣٤٥٦٧٨', 'Call'],
    ['<a href="//x">*_[x](y)`', 'a href x _ x (y)'],
    ["Ada's Pixel 8 (SM-G991B), iOS 17.4.1", 'Ada’s Pixel 8 (SM-G991B) iOS 17 4 1'],
    ['Zoë’s Phone & Cie', 'Zoë’s Phone & Cie'],
    ['गूगल हिन्दी ไทยที่นี่', 'गूगल हिन्दी ไทยที่นี่'],
    [`Z\u0335${'\u0300\u0316\u0323'.repeat(9)}ed \u0300x`, undefined],
    ['://.?!', undefined],
    ['\u202Ehttps://a.example', 'https a example'],
  ])('%s', (name, expected) => {
    const shown = shownAs(name)
    if (name.startsWith('Z\u0335')) expect(shown).toMatch(/^Z\p{M}{4}ed x$/u)
    else expect(shown).toBe(expected)
  })

  test('reads in its own letters from right to left', () => {
    const about = { language: 'ar', purpose: 'passkey_added' } as const
    expect(render({ ...about, values: { passkey: 'هاتفي https://evil.example' } }).text).toContain(
      '\u2068هاتفي https evil example\u2069',
    )
  })

  test('an SMS stays in its alphabet and one part', () => {
    const values = { passkey: '电话' }
    const { text } = render({ purpose: 'passkey_added', channel: 'sms', values })
    expect(smsLength(text)).toMatchObject({ alphabet: 'GSM-7', segments: 1 })
  })
})

describe('a value', () => {
  const hostile = '<b>{code}</b>\r\nBcc: eve@example.com\u2028"\'&\u202E{device}{{to}}'
  const values = { device: hostile, provider: hostile }

  test('is escaped in HTML, and is never read as a template', () => {
    const { html, text } = render({ purpose: 'refresh_token_reused', values })
    expect(html).not.toContain('<b>')
    expect(html).toContain('«\u00a0b code b Bcc eve example com ’&amp; device t\u00a0»')
    expect(text).toContain('«\u00a0b code b Bcc eve example com ’& device t\u00a0»')
    expect(text).not.toMatch(/^Bcc/m)
  })

  test('breaks no line and has a bounded length', () => {
    const plain = render({ purpose: 'identity_linked', values: { provider: 'x' }, channel: 'sms' }).text
    const long = render({
      purpose: 'identity_linked',
      values: { provider: 'é\n'.repeat(9000) },
      channel: 'sms',
    })
    expect(long.text.length).toBeLessThan(plain.length + 60)
    expect(long.text).not.toContain('\n')
  })
})

describe('a code that somebody asked for with the password, in a session or as an administrator', () => {
  test.each(['two_factor', 'step_up', 'recovery', 'invitation'] as const)(
    'says what an unasked one of %s means',
    (purpose) => {
      for (const language of languages) {
        const { unasked, below_code } = texts[language].messages
        const { text } = render({ language, purpose, codeGroup: 'password' })
        const said = unasked[purpose].replaceAll("'", '’').replace(' :', '\u00a0:')
        expect(text).toContain(said.replace('{service}', 'auth.example.com'))
        expect(text).not.toContain(below_code[1]?.replaceAll("'", '’') as string)
      }
    },
  )
})

test('a code says once what it is for, and when and from where it was asked for', () => {
  const createdAt = new Date('2026-11-22T05:57:00Z')
  const values = { address: '203.0.113.9' }
  const { text } = render({ language: 'en', purpose: 'two_factor', codeGroup: 'password', createdAt, values })
  expect(text).toContain(
    'Enter this code where you are signing in:\n\n    012345\n\nGood for 10 minutes, once\n\n' +
      'When: November 22, 2026 at 5:57 AM UTC\nIP address: 203.0.113.9\n\nDo not share this code',
  )
})

describe('a notice', () => {
  const createdAt = new Date('2026-11-22T05:57:00Z')

  test('says when it happened and on which device, in quotation marks and at most 40 characters', () => {
    const values = { device: `“Ada's phone” ${'x'.repeat(60)}` }
    const [french, english] = languages.map(
      (language) => render({ purpose: 'password_changed', language, createdAt, values }).text,
    )
    expect(french).toContain(
      `Date\u00a0: 22 novembre 2026 à 05:57 UTC\nAppareil\u00a0: «\u00a0Ada’s phone ${'x'.repeat(28)}\u00a0»`,
    )
    expect(english).toContain(
      `When: November 22, 2026 at 5:57 AM UTC\nDevice: “Ada’s phone ${'x'.repeat(28)}”`,
    )
  })

  test('names a browser in its own words, and the name of another device as it is', () => {
    const deviceIn = (language: string, device: string) =>
      render({ purpose: 'password_changed', language, values: { device } }).text.match(/[«“].*[»”]/)?.[0]
    expect(deviceIn('en', 'Firefox on Linux')).toBe('“Firefox on Linux”')
    expect(deviceIn('fr', 'Firefox on Linux')).toBe('«\u00a0Firefox sur Linux\u00a0»')
    expect(deviceIn('ar', 'Firefox on Linux')).toBe('«Firefox على Linux»')
    expect(deviceIn('ar', 'Phone on my desk')).toBe('«\u2068Phone on my desk\u2069»')
  })

  test('names no device where none is known', () => {
    expect(render({ purpose: 'password_changed', language: 'en', createdAt }).text).not.toContain('Device')
  })

  const noLink = renderer()
  const withLink = createRenderer(
    { server: { baseUrl: 'https://auth.example.com' }, smtp: null, sms: {}, texts: { ...noTexts } } as never,
    createCatalog({ language: 'fr' }),
    () => 'https://auth.example.com/undo?t=x&y',
  )
  const anchor = '<a dir="ltr" href="https://auth.example.com/undo?t=x&amp;y"'
  const button = /<a class="button" href="https:\/\/auth\.example\.com\/undo\?t=x&amp;y"[^>]*>([^<]*)<\/a>/

  test.each(languages)(
    'in %s does by a button what its link does, which stands below it once',
    (language) => {
      const words = texts[language].messages.actions
      for (const [purpose, label] of [
        ['email_changed', words.undo],
        ['phone_changed', words.undo],
        ['email_removed', words.undo],
        ['phone_removed', words.undo],
        ['two_factor_removal', words.keep],
        ['invited', words.accept],
      ] as const) {
        const { html, text } = render({ purpose, language }, withLink)
        expect(html?.match(button)?.[1]).toBe(label.replaceAll("'", '’'))
        expect(html?.split(anchor)).toHaveLength(2)
        // No sentence says what the button below it says.
        const seen = html?.replace(/<div style="display:none.*?<\/div>/, '')
        expect(seen?.split(label.replaceAll("'", '’'))).toHaveLength(2)
        expect(text.split('https://')).toHaveLength(2)
        expect(render({ purpose, language }, noLink).html).not.toContain('class="button"')
      }
    },
  )

  test('whose own text has the link within a sentence keeps it there', () => {
    const own = {
      en: { messages: { notices: { email_changed: { email: ['Gone.', 'At {link} you undo it.'] } } } },
    }
    const from = createRenderer(
      {
        server: { baseUrl: 'https://auth.example.com' },
        smtp: null,
        sms: {},
        texts: { ...noTexts },
      } as never,
      createCatalog({ language: 'en', own: own as never }),
      () => 'https://auth.example.com/undo?t=x&y',
    )
    const { html } = render({ purpose: 'email_changed', language: 'en' }, from)
    expect(html).toMatch(/>At <a dir="ltr"[^>]*>[^<]*<\/a> you undo it\.<\/p>/)
    expect(html).toMatch(button)
  })
})

describe('below a message', () => {
  test('stands why it was sent and where it comes from, but not below one to the operator', () => {
    const footerOf = (values: Partial<PersonMessage>) =>
      render({ language: 'en', ...values })
        .text.split('-- ')
        .at(-1)
    expect(footerOf({})).toContain('\nSent because somebody entered this address at auth.example.com.')
    expect(footerOf({ purpose: 'password_changed' })).toContain(
      '\nSent because your account at auth.example.com has this address.',
    )
    expect(footerOf({ purpose: 'operator_wrong_codes' })).not.toContain('because')
  })

  test('stands to which address it was sent, as it is, and in the plain part no address', () => {
    const destination = "o'hara-123456@example.com"
    for (const purpose of ['confirmation', 'password_changed']) {
      const { text, html } = render({ language: 'en', purpose, destination })
      expect(html).toContain('Sent to o&#39;hara-123456@example.com, because')
      expect(text).not.toContain('123456')
      expect(render({ language: 'ar', purpose, destination }).html).toContain(
        '\u2068o&#39;hara-123456@example.com\u2069',
      )
    }
  })

  const config = {
    server: { baseUrl: 'https://auth.example.com' },
    smtp: null,
    sms: {},
    pages: { enabled: true },
    admin: { listen: { host: '127.0.0.1', port: 8081 }, baseUrl: 'https://admin.example.com' },
  }
  const withPages = createRenderer(
    { ...config, texts: { ...noTexts, colour: '#ffe14d' } } as never,
    createCatalog({ language: 'en' }),
  )

  /** What each notice advises, in its words, and where its buttons lead: the first one to where the advice is followed. */
  const advised: Record<NoticePurpose, [advice: string, ...paths: string[]]> = {
    account_exists: ['Sign in, or choose a new password', '/sign-in', '/recover'],
    password_changed: ['reset your password', '/recover'],
    contact_restored: ['reset it to sign in', '/recover'],
    account_unlocked: ['You can sign in again', '/sign-in'],
    email_changed: ['change your password', '/account/password'],
    phone_changed: ['change your password', '/account/password'],
    email_removed: ['change your password', '/account/password'],
    phone_removed: ['change your password', '/account/password'],
    account_exported: ['change your password', '/account/password'],
    second_factor_failed: ['change your password', '/account/password'],
    two_factor_enabled: ['reset your password', '/recover', '/account/two-factor'],
    two_factor_disabled: ['change your password', '/account/password', '/account/two-factor'],
    two_factor_kept: ['change your password', '/account/password', '/account/two-factor'],
    authenticator_changed: ['reset your password', '/recover', '/account/two-factor'],
    recovery_code_used: ['change your password', '/account/password', '/account/two-factor'],
    recovery_codes_replaced: ['change your password', '/account/password', '/account/two-factor'],
    passkey_removed: ['change your password', '/account/password', '/account/passkeys'],
    identity_unlinked: ['change your password', '/account/password', '/account/providers'],
    new_device: ['change your password', '/account/password', '/account/sessions'],
    refresh_token_reused: ['change your password', '/account/password', '/account/sessions'],
    passkey_added: ['remove it and change your password', '/account/passkeys', '/account/password'],
    identity_linked: ['remove it and change your password', '/account/providers', '/account/password'],
    passkey_copied: ['Remove that passkey', '/account/passkeys'],
    authenticator_lost: ['add the app again', '/account/two-factor'],
    two_factor_removal: ['keep it on', '/account/two-factor'],
    contact_claimed: ['remove it from this account', '/account/email'],
    account_erased: ['cannot be restored'],
    recovery_created: ['We will write to you'],
    invited: ['you can open an account'],
    operator_prefix_closed: ['For a day', '/admin/#/prefixes'],
    operator_wrong_codes: ['guessing codes', '/admin/#/events'],
    operator_pool_dry: ['Until it refills', '/admin/#/messages'],
    operator_gateway_suspended: ['this gateway', '/admin/#/messages?gateway=a%26b'],
    operator_removal_stopped: ['look at the events of type undo.used', '/admin/#/events?type=undo.used'],
    operator_access_granted: ['look at the events of types', '/admin/#/events'],
    operator_accounts_exported: ['the events of type accounts', '/admin/#/events?type=accounts.exported'],
    operator_webhook_away: ['says what is wrong', '/admin/#/'],
    operator_webhook_given_up: ['says which', '/admin/#/'],
    operator_claim_missing: ['name the accounts'],
  }

  test.each(noticePurposes)('the first button of %s does what it advises', (purpose) => {
    const [advice, ...paths] = advised[purpose]
    const { text, html } = render({ language: 'en', purpose, values: { about: 'a&b' } }, withPages)
    expect(text).toContain(advice)
    const at = purpose.startsWith('operator_') ? 'https://admin.example.com' : 'https://auth.example.com'
    const buttons = [...html!.matchAll(/<a class="(\w+)" href="([^"]+)"[^>]*>([^<]+)<\/a>/g)]
    expect(buttons.map(([, kind, href]) => [kind, href])).toEqual(
      paths.map((path, place) => [place === 0 ? 'button' : 'soft', `${at}${path}`]),
    )
    // The plain part has the same buttons, and each is called after what is there.
    for (const [, , href, label] of buttons) expect(text).toContain(`\n\n${label}\n${href}\n\n`)
  })

  test.each(codesOfAll)('only the code of an administrator has a button: %s', (purpose) => {
    const isAdministrators = purpose === 'recovery' || purpose === 'invitation'
    const { html } = render({ language: 'en', purpose }, withPages)
    const buttons = [...html!.matchAll(/<a class="button" href="([^"]+)"/g)].map(([, href]) => href)
    expect(buttons).toEqual(isAdministrators ? ['https://auth.example.com/choose-password'] : [])
  })

  test.each(languages)('in %s what stands below the title does not say it again', (language) => {
    for (const purpose of noticePurposes) {
      const { subject, text } = render({ language, purpose })
      const [, title, next] = text.split('\n\n')
      expect(title).toBe(subject)
      const words = subject.split(' ')
      const runs = words.slice(4).map((_, at) => words.slice(at, at + 5).join(' '))
      expect({ purpose, again: runs.filter((run) => next?.includes(run)) }).toEqual({ purpose, again: [] })
    }
  })

  test('buttons are called after their page, or after what is done there', () => {
    const labelsOf = (purpose: NoticePurpose) =>
      [
        ...render({ language: 'en', purpose }, withPages).html!.matchAll(
          /<a class="\w+" [^>]*>([^<]+)<\/a>/g,
        ),
      ].map(([, label]) => label)
    expect(labelsOf('account_exists')).toEqual(['Sign in', 'Choose a new password'])
    expect(labelsOf('new_device')).toEqual(['Choose a new password', 'Review your account'])
    expect(labelsOf('two_factor_enabled')).toEqual(['Choose a new password', 'Two-factor sign-in'])
    expect(labelsOf('passkey_added')).toEqual(['Passkeys', 'Choose a new password'])
    expect(labelsOf('identity_linked')).toEqual(['Linked accounts', 'Choose a new password'])
    expect(labelsOf('contact_claimed')).toEqual(['E-mail address'])
    expect(labelsOf('operator_wrong_codes')).toEqual(['Open administration'])
  })

  test('a code has no button, and its colours are those of the brand on a notice', () => {
    expect(render({ language: 'en' }, withPages).html).not.toContain('class="button"')
    expect(render({ language: 'en', purpose: 'new_device' }, withPages).html).toMatch(
      /<a class="button" [^>]*background:#ffe14d;color:#14171c/,
    )
  })

  test('nothing leads to pages or to an administration that mails cannot reach', () => {
    const without = createRenderer(
      {
        ...config,
        pages: { enabled: false },
        admin: { ...config.admin, baseUrl: null },
        texts: noTexts,
      } as never,
      createCatalog({ language: 'en' }),
    )
    for (const purpose of noticePurposes)
      expect(render({ language: 'en', purpose }, without).html).not.toContain('class="button"')
  })
})

test('lists of messages show what there is to do beside the title, and no address', () => {
  const shown = (values: Partial<PersonMessage>, from = renderer()) =>
    render({ language: 'en', ...values }, from).html?.match(/<div style="display:none[^>]*>([^<]*)</)?.[1]
  const link = 'https://auth.example.com/undo?t=x'
  const withLink = createRenderer(
    { server: { baseUrl: 'https://auth.example.com' }, smtp: null, sms: {}, texts: noTexts } as never,
    createCatalog({ language: 'en' }),
    () => link,
  )
  expect(shown({ purpose: 'passkey_copied' })).toBe('Remove that passkey and add a new one.')
  expect(shown({ purpose: 'email_changed' }, withLink)).toBe(
    'If this was not you, undo this within seven days',
  )
  expect(shown({})).toBe('Good for 10 minutes, once')
})

describe('where people reach those who run the service', () => {
  const written = (support: string | null) => {
    const from = renderer(undefined, null, { texts: { support } })
    return ['recovery_created', 'contact_restored'].flatMap((purpose) =>
      languages.map((language) => render({ purpose, language }, from)),
    )
  }
  const smsOf = (support: string | null, language: string) =>
    render(
      { purpose: 'recovery_created', language, channel: 'sms' },
      renderer(undefined, null, { texts: { support } }),
    ).text

  test.each(['help@example.com', 'https://example.com/help?a=1&b=2'])(
    'is in the notices that ask them to write: %s',
    (support) => {
      for (const { text, html } of written(support)) {
        expect(text).toContain(`: ${support}`)
        expect(html).toContain(support.replaceAll('&', '&amp;'))
      }
      for (const language of languages) expect(smsOf(support, language)).toEndWith(` ${support}`)
    },
  )

  test('is on the page of an undo link that comes too late', () => {
    const draw = createLinkPages({ pages: { colour: '' }, texts: { colour: '#0f5f6b' } } as never)
    for (const language of languages) {
      const words = createCatalog({ language }).of(language).undo
      const pageWith = (support: string | null) =>
        undoRefused({ draw, language, words, service: 'Acme', contact: '', support }, '', words.taken).html
      expect(pageWith('https://example.com/a?b&c')).toContain('\u2066https://example.com/a?b&amp;c\u2069')
      expect(pageWith(null)).toMatch(/Acme\u2069\.<\/p>/)
    }
  })

  test('is nowhere where it is not set, and what is said instead is a whole sentence', () => {
    for (const { language, text } of written(null)) {
      const last = text.split('\n\n').at(-2) ?? ''
      expect(`${language}: ${last}`).toMatch(/: .*[^:\s]\.$/s)
      expect(text).not.toMatch(
        /write to them|écrivez-leur|escríbales|escreva-lhes|فراسلهم|diríjase|dirija-se|adressez-vous/i,
      )
    }
    for (const language of languages) expect(smsOf(null, language)).toEndWith('.')
  })
})

test('e-mails have typographic apostrophes only', () => {
  for (const each of every) {
    const { subject, text } = render(each)
    expect(subject + text).not.toContain("'")
  }
})

describe('the layout of an e-mail', () => {
  const given = (texts: object) => renderer(undefined, null, { texts: { serviceName: 'A&B', ...texts } })

  test('has the name of the service, or its logo, and its colour', () => {
    const colour = '#aa0011'
    expect(render({}, given({ colour })).html).toMatch(/#aa0011.*<bdi>A&amp;B<\/bdi>/s)
    const { html } = render({}, given({ logoUrl: 'https://example.com/a.png?b&c' }))
    expect(html).toContain('src="https://example.com/a.png?b&amp;c" alt="A&amp;B"')
    expect(html).not.toContain('<bdi>')
  })

  test('may be the operator’s own, in which braces of the style sheet stay', () => {
    const layoutHtml = '<style>p{color:{colour}}</style><b dir="{direction}" title="{subject}">{content}</b>'
    const values = { passkey: "Ada's & {footer}" }
    const { html } = render(
      { purpose: 'passkey_added', language: 'ar', values },
      given({ layoutHtml, colour: '#123456' }),
    )
    expect(html).toStartWith('<style>p{color:#123456}</style><b dir="rtl" title="')
    expect(html).toContain('Ada’s &amp; footer')
  })
})

test('a message in a language that is gone is written in the one of the service', () => {
  const catalog = createCatalog({ language: 'en', own: { de: { messages: { greeting: 'Guten Tag,' } } } })
  const from = renderer(undefined, null, { catalog })
  expect(render({ language: 'de' }, from).text).toStartWith('Guten Tag,')
  expect(render({ language: 'it' }, from)).toMatchObject({
    language: 'en',
    text: expect.stringMatching(/^Hello,/),
  })
})

describe('who writes', () => {
  test('is what the configuration calls the service, above all else', () => {
    const given = renderer(undefined, 'Acme Bank <no-reply@example.com>', { serviceName: 'Acme' })
    expect(render({ channel: 'sms' }, given).text).toStartWith('Acme : 012345')
  })

  test.each([
    ['https://auth.example.com', 'Acme Bank <no-reply@example.com>', 'Acme Bank'],
    ['https://auth.example.com', '"Acme, Inc." <no-reply@example.com>', 'Acme, Inc.'],
    ['https://auth.example.com', 'no-reply@example.com', 'auth.example.com'],
    ['https://auth.example.com', '<no-reply@example.com>', 'auth.example.com'],
    ['https://auth.example.com:8443', null, 'auth.example.com'],
    ['http://127.0.0.1:8080', null, 'Poterne'],
    ['http://localhost:8080', null, 'Poterne'],
    ['http://[::1]:8080', null, 'Poterne'],
  ] as const)('at %s with the sender %j is %s', (baseUrl, from, name) => {
    const { text } = render({ channel: 'sms' }, renderer(baseUrl, from))
    expect(text).toStartWith(`${name} : 012345`)
  })

  test('a purpose of another version is not guessed', () => {
    expect(() => render({ purpose: 'toString' })).toThrow('unknown')
  })
})
