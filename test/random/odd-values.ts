/** Values, headers and bodies that have broken services before, and others like them. */
import fc from 'fast-check'

/** Strings that have broken services before. */
const oddTexts = [
  '',
  ' ',
  '\0',
  'a\0b@example.com',
  '\ud800',
  'x\udfff@example.com',
  '\u202eevil\u202c',
  '👩‍👩‍👧‍👦',
  'e\u0301'.repeat(30),
  'Z\u0351\u036b\u0343'.repeat(50),
  'a\r\nBcc: evil@example.com',
  'a@example.com\r\nBcc: evil@example.com',
  'a@example.com,b@example.com',
  '"a b"@example.com',
  '<a@example.com>',
  "' OR '1'='1",
  "'; drop table accounts; --",
  '{code}',
  '{{constructor.constructor("return 1")()}}',
  '$'.concat('{jndi:ldap://127.0.0.1/a}'),
  '<script>alert(1)</script>',
  '{"$gt":""}',
  '[object Object]',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00',
  '%0d%0aX-Injected: 1',
  '\u001b[31mred',
  '٠١٢٣٤٥',
  '１２３４５６',
  '+٣٣٦١٢٣٤٥٦٧٨',
  '\u212aelvin@example.com',
  'i\u0307@example.com',
  'İ@example.com',
  'ﬀ@example.com',
  'a@ex\u00adample.com',
  'a@xn--',
  'a@[127.0.0.1]',
  'null',
  'undefined',
  'NaN',
  '1e309',
  '-0',
  '000000',
  '00000000-0000-0000-0000-000000000000',
]

const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('a', '9', '@', '+', 'é', '\u202e', '<', '{', ' '),
        fc.constantFrom(254, 256, 257, 5000, 15_000, 65_536),
      )
      .map(([unit, times]) => unit.repeat(times)),
  },
  { weight: 1, arbitrary: fc.emailAddress() },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 999_999 }).map((code) => String(code).padStart(6, '0')) },
)

const oddNumber = fc.constantFrom(
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
  Number.MAX_SAFE_INTEGER,
)

const deep = fc
  .tuple(fc.constantFrom<'array' | 'object'>('array', 'object'), fc.constantFrom(3, 31, 33, 500))
  .map(([kind, depth]) => {
    let value: unknown = 'leaf'
    for (let level = 0; level < depth; level++) value = kind === 'array' ? [value] : { a: value }
    return value
  })

export const oddJson = fc.oneof(
  oddText,
  oddNumber,
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
  fc.array(oddText, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('length', 'toString', '__proto__', 'constructor', 'a'), oddText),
  fc.json().map((text) => text),
  deep,
)

export const fieldNames = [
  'id',
  'uuid',
  'role_id',
  'account_confirmed',
  'accountable_id',
  'two_factor_enabled',
  'locked_at',
  'password_digest',
  'status',
  '__proto__',
  'constructor',
  'toString',
  '',
  'email',
  'phone',
  'password',
  'otp',
  'identifier',
]

const languages = [
  'fr',
  'en',
  'en-GB,en;q=0.8',
  'ar',
  'de',
  '*',
  'fr;q=0',
  ';;;,,,',
  'q=1',
  'en;q=9e99',
  'x'.repeat(2000),
]

export const header: fc.Arbitrary<[string, string]> = fc.oneof(
  fc.constantFrom(...languages).map((value): [string, string] => ['accept-language', value]),
  fc
    .constantFrom('text/html', 'application/xml', '*/*;q=0', '')
    .map((value): [string, string] => ['accept', value]),
  fc
    .constantFrom(
      '203.0.113.7',
      '::ffff:10.0.0.1',
      'fe80::1%eth0',
      'unknown',
      ',,,',
      '1.2.3.4.5',
      '" onload="',
    )
    .map((value): [string, string] => ['x-forwarded-for', value]),
  fc.constantFrom('DELETE', 'PUT').map((value): [string, string] => ['x-http-method-override', value]),
  fc.constantFrom('evil.example', 'a b').map((value): [string, string] => ['x-forwarded-host', value]),
  fc.constantFrom('https://evil.example', 'null').map((value): [string, string] => ['origin', value]),
  fc.constantFrom('not-an-id', 'x'.repeat(500)).map((value): [string, string] => ['x-request-id', value]),
  fc
    .tuple(
      fc.constantFrom('x-odd', 'cookie', 'referer', 'if-none-match', 'range', 'expect'),
      fc.stringMatching(/^[!-~]{1,60}$/),
    )
    .filter(([name]) => name !== 'expect')
    .map(([name, value]): [string, string] => [name, value]),
)

export const contentTypes = [
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'Application/JSON',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json-patch+json',
  '',
]

/** Bodies that are no object, or no JSON, or no text. */
const rawBody = fc
  .oneof(
    fc.constantFrom(
      '',
      'null',
      '[]',
      '"text"',
      '12',
      '{',
      '{"identifier":}',
      '{"identifier":"a","identifier":"b"}',
      '\ufeff{}',
      '{"a":1}{"b":2}',
      'identifier=a%40example.com&password=x',
      '{"identifier":"\\ud800"}',
      '{"identifier":"\\u0000"}',
      `${'['.repeat(8000)}${']'.repeat(8000)}`,
      `{"a":"${'x'.repeat(16_400)}"}`,
      `{${' '.repeat(16_300)}}`,
    ),
    fc.json(),
    fc.string({ unit: 'binary', maxLength: 200 }),
  )
  .map((text) => Buffer.from(text).toString('hex'))

export const rawBytes = fc.oneof(
  { weight: 3, arbitrary: rawBody },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  },
  { weight: 1, arbitrary: fc.constant('7b2261223a22fffe227d') },
)

export const queries = [
  '',
  '?',
  '?a=%00',
  '?a=%ff&b[]=1',
  '?identifier=a&identifier=b',
  '?__proto__[x]=1',
  `?q=${'x'.repeat(3000)}`,
]

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
