/** The part of the table that describes its arrays of tables: SMS gateways and sign-in providers. */
import * as formats from './formats.ts'
import { boolean, choice, list, required, shortDuration, table, text, variable } from './rules.ts'

const word = {
  check: (name: string) => /^[a-z\d][a-z\d_-]{0,31}$/.test(name),
  expected: 'lower-case letters, digits, - and _, at most 32',
}

export const gateways = {
  doc: 'An HTTP gateway. Several are tried in their order, the next one on failure.',
  keys: {
    name: text(required, 'How the log calls it.', { ...word, example: 'acme' }),
    url: text(required, 'Where the request goes.', {
      check: formats.isWebUrl,
      expected: 'an absolute http or https URL',
      secret: 'address',
      example: 'https://sms.example.com/send',
    }),
    method: choice('POST', ['POST', 'PUT', 'GET'], 'The HTTP method; GET goes with format = "query" only.'),
    headers: table({}, 'Sent with every request.', {
      check: (name, value) => formats.isHeaderName(name) && formats.isHeaderValue(value),
      expected: 'a table of header names and texts without line breaks',
      secret: 'all',
      example: { authorization: `Bearer ${variable('ACME_TOKEN')}` },
    }),
    format: choice(
      'json',
      ['json', 'form', 'query'],
      'How `body` is encoded: a JSON object, a form, or the query of the URL.',
    ),
    body: table(
      required,
      'The fields. {to}, {text} and {code} stand for the number, the message and the code; they are encoded, never pasted.',
      {
        check: (_, value) =>
          (value.match(/\{[^{}]*\}/g) ?? []).every((mark) => /^\{(to|text|code)\}$/.test(mark)),
        expected: 'a table of texts in which braces hold only to, text or code',
        secret: 'all',
        example: { to: '{to}', text: '{text}' },
      },
    ),
    prefixes: list('Only numbers that begin so. Empty: every number.', {
      check: (prefix) => /^\+[1-9]\d{0,14}$/.test(prefix),
      item: 'a prefix such as "+33"',
      example: ['+33', '+225'],
    }),
    timeout: shortDuration('5s', ['100ms', '1m'], 'How long the answer may take.'),
  },
}

export const providers = {
  doc: 'A provider: a preset, or any OpenID provider by its issuer.',
  keys: {
    name: text(required, 'Stands in paths and as `account.provider`.', { ...word, example: 'google' }),
    preset: choice(
      null,
      ['google', 'apple', 'github', 'microsoft', 'facebook'],
      'A provider the service knows.',
      { example: 'google' },
    ),
    issuer: text(null, 'Instead of `preset`: the issuer of an OpenID provider.', {
      check: formats.isIssuer,
      expected: 'an https URL (http on loopback) without query and fragment',
      alternative: true,
      example: 'https://login.example.com',
    }),
    client_id: text(required, 'The name under which the provider knows this service.', {
      example: '1234567890.apps.googleusercontent.com',
    }),
    client_secret: text(
      null,
      'As the provider gave it. Not with apple: there it is made from the last three keys.',
      {
        secret: 'all',
        example: variable('GOOGLE_CLIENT_SECRET'),
      },
    ),
    scopes: list("What is asked for. Empty: what the provider's kind needs.", {
      check: (scope) => /^[!#-[\]-~]+$/.test(scope),
      item: 'a scope such as "email"',
      example: ['openid', 'email'],
    }),
    native_client_ids: list(
      'Other names under which the provider knows your native apps, whose identity tokens are taken too.',
      { check: (id) => id !== '', item: 'a client id', example: ['com.example.app'] },
    ),
    authoritative_for: list(
      'Only with `issuer`: the domains whose e-mail addresses this provider answers for, so that a verified one opens the account that has it; ["*"]: every address. Presets know theirs.',
      {
        check: (domain) => domain === '*' || (domain === domain.toLowerCase() && formats.isHost(domain)),
        item: 'a domain in lower case, such as "example.com", or "*"',
        alternative: true,
        example: ['example.com'],
      },
    ),
    enabled: boolean(true, 'false: nobody signs in with it; identities stay.'),
    team_id: text(null, 'Apple only: the team.', { alternative: true, example: 'ABCDE12345' }),
    key_id: text(null, 'Apple only: the name of the key.', { alternative: true, example: 'FGHIJ67890' }),
    private_key: text(null, "Apple only: the key file's content.", {
      check: formats.isSigningKey,
      expected: 'an elliptic-curve private key (P-256) in PEM',
      secret: 'all',
      alternative: true,
      example: variable('APPLE_PRIVATE_KEY'),
    }),
  },
}
