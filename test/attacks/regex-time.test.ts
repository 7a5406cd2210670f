/**
 * No input takes time out of proportion. Every regular expression of the code, and every parser that a stranger's input
 * meets, is tried on 64 KB of what makes expressions go back and forth.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import ts from 'typescript'
import { maskDigest, parseDigest } from '../../src/domain/foundation/hashing/digest.ts'
import {
  checkPassword,
  createPasswordRules,
  normalizePassword,
} from '../../src/domain/foundation/hashing/password.ts'
import { parseEmail } from '../../src/domain/foundation/identifiers/email.ts'
import { maskDestination, parseIdentifier } from '../../src/domain/foundation/identifiers/identifier.ts'
import { parsePhone } from '../../src/domain/foundation/identifiers/phone.ts'
import type { Config } from '../../src/platform/config/types.ts'
import { bucketAddress, createAddressFinder } from '../../src/platform/http/client-address.ts'
import { parseJsonObject } from '../../src/platform/http/request-body.ts'
import { findUnstorable, readableField } from '../../src/platform/http/unstorable.ts'
import { pickLanguage } from '../../src/texts/accept-language.ts'
import { cheapest } from '../helpers/timing.ts'

setDefaultTimeout(60_000)

/** Growing, so that what grows out of proportion is found before it hangs. */
const LENGTHS = [256, 2048, 16_384, 65_536]
const LIMIT_MS = 20

const units = [
  ...[
    'a',
    'A',
    '0',
    '9',
    '.',
    '-',
    '_',
    '+',
    '@',
    ' ',
    '\t',
    '\n',
    '/',
    '=',
    ',',
    ';',
    ':',
    '%',
    '"',
    '\\',
    '$',
  ],
  ...[
    'a.',
    'a@',
    '1.',
    '0-',
    'a-',
    'a@b.',
    '::',
    ':0',
    'xn--',
    '<a',
    '>',
    '{to}',
    '{',
    '\r\n',
    'é',
    '٠',
    '\u200b',
  ],
  ...[
    'fr;q=0.',
    'a,',
    'q=',
    '$argon2id$v=19$m=',
    '$2b$10$',
    'Bearer ',
    'a ',
    'İ',
    '\u{1f600}',
    'https://a',
    '[::',
  ],
]
const ends = ['', '!', '\u0000', '@', '.com', ' ']

const inputs = LENGTHS.flatMap((length) =>
  units.flatMap((unit) =>
    ends.map((end) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + end),
  ),
)

function expectQuick(work: (input: string) => unknown) {
  for (const input of inputs) {
    const ms = cheapest(() => work(input), LIMIT_MS)
    if (ms > LIMIT_MS) throw new Error(`${ms.toFixed(0)} ms: ${JSON.stringify(input.slice(0, 20))}…`)
  }
}

/** Configuration and the command line are the operator's own words, not a stranger's. */
const ownWords = ['src/platform/config/', 'src/operations/commands/']

async function expressions(): Promise<[string, RegExp][]> {
  const root = join(import.meta.dir, '../..')
  const found: [string, RegExp][] = []
  for (const file of new Glob('src/**/*.ts').scanSync({ cwd: root })) {
    if (ownWords.some((directory) => file.startsWith(directory))) continue
    const parsed = ts.createSourceFile(file, await Bun.file(join(root, file)).text(), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        found.push([`${file} ${node.text}`, new RegExp(node.text.slice(1, end), node.text.slice(end + 1))])
      }
      ts.forEachChild(node, visit)
    }
    visit(parsed)
  }
  return found
}

const all = await expressions()

test('the expressions of the code are found', () => {
  expect(all.length).toBeGreaterThan(40)
})

describe('64 KB take no more than 20 ms', () => {
  test.each(all)('%s', (_name, expression) => {
    const whole = new RegExp(expression.source, expression.flags.replace('g', '').replace('y', ''))
    expectQuick((input) => whole.test(input))
    if (expression.global) expectQuick((input) => input.replace(expression, ''))
  })

  const email = parseEmail('ada@example.com')!
  const phone = parsePhone('+33612345678', 'FR')!
  const server = { baseUrl: 'https://a.example' }
  const rules = createPasswordRules({ password: { minimumLength: 8 }, server } as Config, 'a')
  const findAddress = createAddressFinder({ trustedProxies: ['10.0.0.0/8'], onUntrustedProxy: () => {} })
  const parsers: Record<string, (input: string) => unknown> = {
    parseEmail,
    parsePhone: (input) => parsePhone(input, 'FR'),
    parseIdentifier: (input) => parseIdentifier(input, 'FR'),
    maskDestination: (input) => maskDestination(input.slice(0, 512)),
    normalizePassword,
    checkPassword: (input) => checkPassword(input, input, [email, phone], rules),
    'checkPassword of the longest': (input) =>
      checkPassword(input.slice(0, 2048), input, [email, phone], rules),
    parseDigest,
    maskDigest,
    readableField,
    findUnstorable: (input) => findUnstorable({ input, nested: { input } }),
    bucketAddress,
    'X-Forwarded-For': (input) => findAddress('10.0.0.1', input),
    'Accept-Language': (input) => pickLanguage(input, ['fr', 'en'], 'fr'),
    'a JSON body': (input) => {
      try {
        return parseJsonObject(Buffer.from(JSON.stringify({ input })))
      } catch {
        return null
      }
    },
    'a body that is no JSON': (input) => {
      try {
        return parseJsonObject(Buffer.from(input))
      } catch {
        return null
      }
    },
  }
  test.each(Object.entries(parsers))('%s', (_name, parse) => expectQuick(parse))
})
