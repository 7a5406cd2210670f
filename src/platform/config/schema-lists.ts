/** The part of the table that describes its arrays of tables: SMS gateways, sign-in providers and applications. */
import { profileFields } from '../postgres/schema.ts'
import { claims } from './claims-rule.ts'
import * as formats from './formats.ts'
import { type FieldValues, fields, tableOfFields, template, withPlaceholders } from './gateway-rules.ts'
import {
  boolean,
  choice,
  list,
  required,
  shortDuration,
  table,
  text,
  variable,
  wholeNumber,
} from './rules.ts'

const conditionFields = {
  path: fields.text(),
  equals: fields.optionalValue(),
  in: fields.values(),
  exists: fields.optionalBoolean(),
}

function checkCondition(condition: FieldValues<typeof conditionFields>): string | null {
  const given = [condition.equals !== null, condition.in.length > 0, condition.exists !== null]
  return given.filter(Boolean).length === 1 ? null : 'expected one of equals, in and exists beside path'
}

export const word = {
  check: (name: string) => /^[a-z\d][a-z\d_-]{0,31}$/.test(name),
  expected: 'lower-case letters, digits, - and _, at most 32',
}

export const aHost = { check: formats.isHost, expected: 'a host name or an address without port' }

export const nameOnOneLine = {
  check: (name: string) => name.length <= 60 && !/\p{Cc}/u.test(name),
  expected: 'a text of at most 60 characters on one line',
}

export const mailAuthorities = {
  check: formats.isCertificateFile,
  expected: 'a readable file with certificates in PEM',
  alternative: true,
  example: '/etc/poterne/mail-ca.pem',
}

export const fallback = {
  doc: 'A mail server to try when [smtp] does not take a message. Several are tried in their order.',
  keys: {
    host: text(required, 'The mail server.', { ...aHost, example: 'smtp2.example.com' }),
    port: wholeNumber(587, [1, 65535], 'Usually 587 for starttls and 465 for tls.'),
    security: choice('starttls', ['starttls', 'tls', 'none'], 'As in [smtp].'),
    username: text(null, 'Together with `password`.', { example: 'poterne' }),
    password: text(null, 'Together with `username`.', {
      secret: 'all',
      example: variable('SMTP_PASSWORD'),
    }),
    ca_file: text(null, 'As in [smtp].', mailAuthorities),
  },
}

export const gateways = {
  doc: 'An HTTP gateway for SMS. If there are several, the next one is tried when one fails.',
  keys: {
    name: text(required, 'Its name in the log.', { ...word, example: 'acme' }),
    channel: choice(
      'sms',
      ['sms', 'whatsapp', 'voice'],
      'How it reaches people. Only a voice gateway gets numbers that take no SMS.',
    ),
    url: withPlaceholders(
      text(required, 'Where the request goes. It may hold placeholders, which are percent-encoded.', {
        check: formats.isWebUrl,
        reason: (url) => formats.explainAddress(url, ': they go into basic_auth'),
        expected: 'an absolute http or https URL',
        secret: 'address',
        example: 'https://sms.example.com/send',
      }),
    ),
    method: choice('POST', ['POST', 'PUT', 'GET'], 'The HTTP method; GET goes with format = "query" only.'),
    headers: withPlaceholders(
      table({}, 'Sent with every request. Values may hold placeholders.', {
        check: (name, value) => formats.isHeaderName(name) && formats.isHeaderValue(value),
        expected: 'a table of header names and texts without line breaks',
        secret: 'all',
        example: { authorization: `Bearer ${variable('ACME_TOKEN')}` },
      }),
    ),
    format: choice(
      'json',
      ['json', 'form', 'query'],
      'How `body` is encoded: a JSON object, a form, or the query of the URL.',
    ),
    body: template(
      'The fields; with `format = "json"` also nested tables and arrays. Texts may hold the placeholders {to} (+33612345678), {to_digits} (33612345678), {to_national} (612345678), {text}, {code}, {language}, {minutes} and {id} (the same at each attempt to send a message); they are encoded, never pasted. {{ is a brace.',
      { to: '{to}', text: '{text}' },
    ),
    basic_auth: tableOfFields({
      doc: 'HTTP Basic authentication.',
      fields: { username: fields.text(), password: fields.text() },
      secret: 'all',
      example: { username: 'acme', password: variable('ACME_PASSWORD') },
    }),
    oauth: tableOfFields({
      doc: 'OAuth 2 client credentials: the token is fetched when it is needed and kept until a minute before its end. `auth` says where the credentials go: "basic" (the default, with both form-encoded as RFC 6749 wants it), "body", or "basic-plain" (as they are, for servers that do not decode them).',
      fields: {
        token_url: fields.text(formats.isWebUrl, 'an absolute http or https URL'),
        client_id: fields.text(),
        client_secret: fields.text(),
        scope: fields.optionalText(),
        auth: fields.choice(['basic', 'body', 'basic-plain']),
      },
      secret: 'all',
      example: {
        token_url: 'https://sms.example.com/oauth/token',
        client_id: 'acme',
        client_secret: variable('ACME_SECRET'),
      },
    }),
    success: tableOfFields({
      doc: 'What the reply must hold besides an HTTP status of 2xx, at a path such as "messages.0.status": `equals`, `in` or `exists`. Values are compared as text. The path of a reply that is plain text is "text", or "words.0" for its first word.',
      fields: conditionFields,
      check: checkCondition,
      example: { path: 'messages.0.status', equals: '0' },
    }),
    retry: tableOfFields({
      doc: 'Refusals that are worth another attempt, in the same form. All others are final for this gateway.',
      fields: conditionFields,
      check: checkCondition,
      example: { path: 'messages.0.status', in: ['1', '5'] },
    }),
    message_id: text(null, "The path of the gateway's own id of the message, to which receipts refer.", {
      alternative: true,
      example: 'messages.0.message-id',
    }),
    receipts: tableOfFields({
      doc: 'Delivery receipts at /api/v1/sms/receipts/NAME. `message_id` and `status` are paths in a receipt, or in each entry of the list at `items`. The `secret` comes as `Authorization: Bearer`, as `X-Poterne-Secret`, as the password of Basic authentication or as the query parameter `key`; with `signature = "twilio"` it is the auth token that signs.',
      fields: {
        secret: fields.text((secret) => secret.length >= 16, 'a text of at least 16 characters'),
        message_id: fields.text(),
        status: fields.text(),
        delivered: fields.values(),
        failed: fields.values(),
        items: fields.optionalText(),
        signature: fields.choice(['twilio']),
      },
      check: ({ delivered }) => (delivered.length > 0 ? null : 'delivered: expected a list of texts'),
      secret: 'all',
      example: {
        secret: variable('ACME_RECEIPTS'),
        message_id: 'messageId',
        status: 'status',
        delivered: ['delivered'],
        failed: ['failed', 'rejected'],
      },
    }),
    prefixes: list('Only numbers that begin so. Empty: every number.', {
      check: (prefix) => /^\+[1-9]\d{0,14}$/.test(prefix),
      item: 'a prefix such as "+33"',
      example: ['+33', '+225'],
    }),
    timeout: shortDuration('5s', ['100ms', '1m'], 'How long the answer may take.'),
  },
}

export const providers = {
  doc: 'A sign-in provider: a preset, or any OpenID provider by its issuer.',
  keys: {
    name: text(required, 'Its name in paths and in `account.provider`.', { ...word, example: 'google' }),
    preset: choice(
      null,
      ['google', 'apple', 'github', 'microsoft', 'facebook'],
      'A provider the service knows.',
      { example: 'google' },
    ),
    issuer: text(null, 'Instead of `preset`: the issuer of an OpenID provider.', {
      check: formats.isIssuer,
      reason: formats.explainAddress,
      expected: 'an https URL (http on loopback) without query and fragment',
      alternative: true,
      example: 'https://login.example.com',
    }),
    client_id: text(required, 'The name under which the provider knows this service.', {
      example: '1234567890.apps.googleusercontent.com',
    }),
    client_secret: text(
      null,
      'The secret that the provider gave you. For apple leave it out: it is made from the last three keys.',
      {
        secret: 'all',
        example: variable('GOOGLE_CLIENT_SECRET'),
      },
    ),
    scopes: list("The requested scopes. Empty: those that the provider's kind needs.", {
      check: (scope) => /^[!#-[\]-~]+$/.test(scope),
      item: 'a scope such as "email"',
      example: ['openid', 'email'],
    }),
    native_client_ids: list(
      'Other names under which the provider knows your native apps, whose identity tokens are taken too.',
      {
        check: (id) => id !== '' && !id.includes('*'),
        item: 'a client id without *',
        example: ['com.example.app'],
      },
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
    enabled: boolean(true, 'false: nobody can sign in with it; linked identities stay.'),
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

export const androidApps = {
  doc: 'An Android app in which people use their passkeys.',
  keys: {
    package: text(required, 'The name of its package.', {
      check: (name) => /^[a-zA-Z]\w*(\.[a-zA-Z]\w*)+$/.test(name),
      expected: 'a package name such as "com.example.app"',
      example: 'com.example.app',
    }),
    sha256: text(required, 'The SHA-256 fingerprint of the certificate that signs it.', {
      check: (fingerprint) => /^([\dA-F]{2}:){31}[\dA-F]{2}$/i.test(fingerprint),
      expected: '32 pairs of hexadecimal digits with colons between them',
      example: Array.from({ length: 32 }, () => 'AB').join(':'),
    }),
  },
}

/** Those that come with a scope. */
const SCOPE_CLAIMS = [
  ...[...Object.keys(profileFields), 'locale', 'preferred_username'],
  ...['email', 'email_verified', 'phone_number', 'phone_number_verified'],
]

export const applications = {
  doc: 'An application to which the pages hand over who signed in (OAuth 2.1, code flow with PKCE). An entry without `own` is a program of your own without a secret, and takes none of the keys after it; docs/applications.md says what an entry with it is.',
  keys: {
    id: text(required, 'Its `client_id`.', {
      check: formats.isApplicationId,
      expected: '2 to 64 of A-Z, a-z, 0-9, ".", "_" and "-", and not the form of a uuid',
      example: 'web',
    }),
    name: text(required, 'What people read.', { ...nameOnOneLine, example: 'Example' }),
    redirect_uris: list(
      'Where the code may be sent. Exact matches only; the port is free for http://127.0.0.1 and http://[::1].',
      {
        check: formats.isApplicationUri,
        reason: formats.explainAddress,
        item: 'an absolute URI of at most 200 characters without fragment and without *: https, http on loopback, or an app\'s own scheme such as "com.example.app:/signed-in"',
        example: ['https://app.example.com/signed-in'],
      },
    ),
    sign_out_uris: list('Where people may go after signing out. Exact matches only.', {
      check: formats.isApplicationUri,
      reason: formats.explainAddress,
      item: 'an absolute URI without fragment, as in redirect_uris',
      example: ['https://app.example.com/'],
    }),
    own: boolean(
      null,
      'true: its tokens open accounts, as those of a login do. false: an application of somebody else, such as Grafana, whose tokens say who signed in and open nothing else. State it once every replica runs a version that knows it.',
      { example: false },
    ),
    secret_sha256: list(
      'The SHA-256 of its secret in 64 hexadecimal digits; two while it is changed. Empty: an application that can keep none, such as one in a browser.',
      {
        check: (hash) => /^[\da-f]{64}$/i.test(hash),
        item: '64 hexadecimal digits',
        normalize: (hash) => hash.toLowerCase(),
        example: ['5f'.repeat(32)],
      },
    ),
    groups: list('With `own = false`: who may enter, by any of these groups; ["*"]: every account.', {
      check: (group) => group === '*' || formats.isGroupName(group),
      item: 'the name of a group, or "*" alone',
      example: ['staff'],
    }),
    two_factor: boolean(false, 'true: people enter with a second factor alone.'),
    claims: claims(
      'Further claims of its ID tokens and at /oauth2/userinfo, written as in `[tokens.claims]`. `groups` takes the place of those of the scope.',
      { example: { tenant: { value: 'acme' } }, taken: SCOPE_CLAIMS },
    ),
    backchannel_logout_uri: text('', 'It is told there that a session of it was ended.', {
      emptyAllowed: true,
      check: (uri) => uri === '' || formats.isBackchannelUri(uri),
      reason: formats.explainAddress,
      expected: 'an absolute URI without fragment: https, or http on a host that is not public',
      example: 'https://grafana.example.com/backchannel-logout',
    }),
  },
}
