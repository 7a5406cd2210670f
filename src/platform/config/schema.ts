/**
 * THE table of the configuration: every section and key, its kind, bounds, default and meaning (schema-lists.ts holds
 * its arrays of tables). Reading, checking, the commented example, the documentation page and the type of the values are
 * all derived from it. Rules about several keys are in checks.ts.
 */
import { builtInTags } from '../../texts/languages.ts'
import { claims } from './claims-rule.ts'
import { explainDatabaseUrl, isDatabaseUrl } from './database-url.ts'
import * as formats from './formats.ts'
import { BACKUP_FILE } from './formats.ts'
import { explainRedisUrl, isRedisUrl } from './redis-url.ts'
import {
  boolean,
  bytes,
  choice,
  command,
  duration,
  durationOrNever,
  type KeyRule,
  list,
  required,
  text,
  variable,
  wholeNumber,
} from './rules.ts'
import {
  aHost,
  androidApps,
  applications,
  fallback,
  gateways,
  mailAuthorities,
  nameOnOneLine,
  providers,
} from './schema-lists.ts'
import { reservedUsernames, roleNames, testIdentity } from './schema-people.ts'
import { signedCall, webhook } from './schema-webhooks.ts'

export type Keys = Record<string, KeyRule<unknown, string>>

/** An array of tables, `[[sms.gateways]]`: from the file only. */
export interface TableList {
  doc: string
  keys: Keys
}

export interface Section {
  doc: string
  /** Without any of its keys the section is null instead of holding defaults. */
  optional: boolean
  keys: Keys
  lists: Record<string, TableList>
  /** Reads all keys of a section that has no fixed ones. It reads the file only. */
  entries?: KeyRule<unknown, string>
  /** The keys of an array of tables of its own, `[[test_identities]]`. They are read from the file only. */
  rows?: Keys
}

function section<Entries extends Keys>(doc: string, keys: Entries) {
  return { doc, optional: false as const, keys, lists: {} }
}

/** A section whose keys the operator chooses. */
function freeSection<Value>(doc: string, entries: KeyRule<Value>) {
  return { doc, optional: false as const, keys: {}, lists: {}, entries }
}

function tables<Rows extends Keys>(doc: string, rows: Rows) {
  return { doc, optional: false as const, keys: {}, lists: {}, rows }
}

const languageExpected = 'a language, such as "fr" or "pt-BR"'

/** Where the team gives none. */
export const BUILT_IN_COLOUR = '#0f5f6b'

const colour = {
  emptyAllowed: true,
  check: (text: string) => /^(#[0-9a-f]{6})?$/i.test(text),
  expected: `a colour such as "${BUILT_IN_COLOUR}"`,
  example: BUILT_IN_COLOUR,
}

const optionalUrl = {
  emptyAllowed: true,
  check: (text: string) => text === '' || formats.isHomeAddress(text),
  reason: formats.explainAddress,
  expected: 'an https address, or http on loopback',
}

const listenAddress = (example: string) => ({
  check: (value: string) => value === '' || formats.isListenAddress(value),
  expected: `an address and a port such as "${example}", or ""`,
  emptyAllowed: true,
  example,
})

const secureUrl = {
  check: formats.isSecureUrl,
  reason: formats.explainAddress,
  expected: 'an https URL',
}

/** Nothing that is stored is hashed with less. `serve --dev --fast` takes it. */
export const cheapestHash = { memoryKib: 8, iterations: 1 }

/** The upper bound of most numbers; a larger one is a typing error. */
const many = 1_000_000_000

const count = (initial: number, doc: string) => wholeNumber(initial, [1, many], doc)

export const schema = {
  server: section('Where the service listens and how it is known from outside.', {
    host: text(
      '127.0.0.1',
      'The address to listen on. With `--dev` it is a loopback address, or that of `--dev-host`.',
      aHost,
    ),
    port: wholeNumber(8080, [0, 65535], 'The port to listen on. 0 picks a free port.'),
    base_url: text(
      null,
      'How clients reach the service: links and the token issuer come from here, never from the Host header. Default: `http://host:port`, where `server.host` is not public; with `--dev` `http://localhost:port`.',
      {
        check: formats.isOrigin,
        reason: formats.explainOrigin,
        expected:
          'an http or https URL without path, query and slash at its end, such as "https://auth.example.com"',
        example: 'https://auth.example.com',
      },
    ),
    trusted_proxies: list('The reverse proxies. X-Forwarded-For is believed from these peers only.', {
      check: formats.isAddressRange,
      normalize: formats.toAddressRange,
      item: 'an address or a range such as "10.0.0.0/8", never of every address (/0)',
      example: ['10.0.0.0/8'],
    }),
    secret: bytes(
      'Master key for one-time codes, encrypted rows and signing keys; `poterne secret` prints one. Required with `database.url`; otherwise the service makes one in `storage.data_dir`.',
      formats.decodeSecret,
      '32 bytes in hex or base64, as `poterne secret` prints them',
      {
        secret: 'all',
        example: variable('SERVER_SECRET'),
      },
    ),
    previous_secrets: list(
      'Other server secrets that are accepted while `secret` is changed: what they sealed or signed still works. `poterne secret status` says when one may be removed.',
      {
        check: (text) => formats.decodeSecret(text) !== null,
        item: '32 bytes in hex or base64, as `poterne secret` prints them',
        secret: 'all',
      },
    ),
    language: text(
      'fr',
      `The language of the answer if Accept-Language asks for none that the service has: ${builtInTags.map((tag) => `"${tag}"`).join(', ')}, and those of \`texts.directory\`. With \`--dev\` it is "en" unless this is set.`,
      { check: formats.isLanguageTag, expected: languageExpected },
    ),
    docs: boolean(
      false,
      'Serve the documentation of the interface at /swagger and /swagger/json, for everybody who reaches the service. With `--dev` it is served unless this is set.',
    ),
    cors_origins: list('The web origins that may call the service from a browser. Empty: none.', {
      check: formats.isCallingOrigin,
      reason: formats.explainOrigin,
      item: 'an exact origin such as "https://app.example.com" or "capacitor://localhost"; origins are compared letter for letter, so that one with * would never match',
      example: ['https://app.example.com'],
    }),
  }),
  storage: section('Used if no `database.url` is set.', {
    data_dir: text('./data', 'The directory of the embedded database and of the server secret it makes.'),
  }),
  log: section('What the service writes on standard output.', {
    level: choice(
      'info',
      ['debug', 'info', 'warn', 'error'],
      'The lowest level that is written. Each request is a line of level "info"; answered probes (/healthz, /readyz) and each statement that the database runs are lines of level "debug".',
    ),
    format: choice(
      'auto',
      ['auto', 'json', 'pretty'],
      'json: one object a line, for programs; pretty: for people; auto: pretty with `--dev` on a terminal, otherwise json.',
    ),
  }),
  database: section('PostgreSQL. Without `url` the database is embedded.', {
    url: text(
      null,
      'The server, with user and database. A socket: `postgres://user@/database?host=/run/postgresql`. TLS that is verified: `?sslmode=verify-full`.',
      {
        check: isDatabaseUrl,
        reason: explainDatabaseUrl,
        expected: 'a URL that begins with postgres://',
        secret: 'address',
        example: 'postgres://localhost:5432/poterne',
      },
    ),
    user: text(null, 'The database user, if `url` names none. It may hold any character.', {
      example: 'poterne',
    }),
    password: text(
      null,
      'The password of that user. It may hold any character; in `url` some would have to be percent-encoded.',
      {
        secret: 'all',
        example: variable('DATABASE_PASSWORD'),
      },
    ),
    pool_size: wholeNumber(10, [1, 1000], 'The most connections of one process.'),
    migrate: boolean(
      true,
      'Apply pending migrations at the start. With false, only `poterne migrate` applies them.',
    ),
  }),
  redis: section('Codes and counters. Without Redis they are kept in the database.', {
    url: text(null, 'One server. Needs `database.url`.', {
      check: isRedisUrl,
      reason: explainRedisUrl,
      expected: 'a URL that begins with redis:// or rediss://',
      secret: 'address',
      example: 'redis://localhost:6379',
    }),
    urls: list('Instead of `url`: the sentinels, or some nodes of the cluster.', {
      check: isRedisUrl,
      reason: explainRedisUrl,
      item: 'a URL that begins with redis:// or rediss://',
      secret: 'address',
      alternative: true,
      example: ['redis://a.example.com:26379', 'redis://b.example.com:26379'],
    }),
    mode: choice('single', ['single', 'sentinel', 'cluster'], 'single: `url`; sentinel and cluster: `urls`.'),
    master: text(null, 'The name of the master at the sentinels. Only with mode = "sentinel".', {
      alternative: true,
      example: 'mymaster',
    }),
    key_prefix: text('poterne:', 'The prefix of every key, so that several services can share one Redis.', {
      check: (prefix) => !/[{}\s\p{Cc}]/u.test(prefix),
      expected: 'a text without blanks and braces',
      emptyAllowed: true,
    }),
  }),
  accounts: section('New accounts, and what answers reveal about accounts.', {
    accountable_type: text('User', 'The type of the profile that owns a new account (`accountable_type`).'),
    role_id: wholeNumber(1, [0, 2_147_483_647], 'The role of a new account.'),
    password_digest: choice(
      'masked',
      ['masked', 'full'],
      'Whether the account record contains the real digest, or one with salt and hash replaced.',
    ),
    reveal_existing: boolean(
      false,
      'true: registering a taken identifier answers 409 identifier_taken, which reveals to strangers who has an account.',
    ),
    notify_new_device: boolean(
      true,
      'Tell owners when somebody signs in from a device and an address that their account does not know.',
    ),
    default_country: text(
      'FR',
      'The country for national phone numbers. France and its overseas departments have one plan: the first digits tell the country code.',
      {
        check: formats.isCountry,
        expected: 'a country in two capital letters, such as "FR"',
      },
    ),
    reserved_usernames: list(
      'Usernames that people cannot choose; only the command line can give them. Your list replaces this one.',
      {
        check: formats.isUsername,
        item: 'a username such as "admin"',
        initial: reservedUsernames,
      },
    ),
    password: choice(
      'required',
      ['required', 'optional'],
      'optional: people may register without one and sign in by codes, which needs `codes.login`. docs/security.md says what that means for telephone numbers.',
    ),
    registration: choice(
      'open',
      ['open', 'invitation', 'closed'],
      'Who may open an account: everybody, people with an invitation, or nobody. Administrators and imports always can.',
    ),
    registration_domains: list(
      'The e-mail domains whose addresses may open an account. Empty: all. "*.example.com" means subdomains only.',
      {
        check: formats.isDomainPattern,
        normalize: (domain) => domain.toLowerCase(),
        item: 'a domain in ASCII such as "example.com", or "*.example.com" for its subdomains',
        example: ['example.com'],
      },
    ),
    terms: text(
      '',
      'The version of the terms that people have to accept to open an account. Empty: there are none.',
      {
        emptyAllowed: true,
        check: (version) => version.length <= 64,
        expected: 'a version such as "2026-11", of at most 64 characters',
      },
    ),
    invitation_url: text(
      null,
      'Your page that takes an invitation. Links to it carry the query `invitation`. Without this key an invitation is only a code.',
      {
        check: formats.isWebUrl,
        reason: formats.explainAddress,
        expected: 'a URL that begins with https:// or http://',
        example: 'https://app.example.com/join',
      },
    ),
  }),
  roles: freeSection('Names of roles. A name can be written wherever the number of a role can.', roleNames),
  test_identities: tables(
    'For reviewers of app stores and end-to-end tests: an identifier to which nothing is sent, and whose code is always the same. The account that it opens can do next to nothing, for life: see docs/people.md.',
    testIdentity,
  ),
  webhooks: tables(
    'A program of your own that is told what happens, at most ten: see docs/back-end.md.',
    webhook,
  ),
  admission: {
    ...section(
      'A program of your own that is asked before an account opens, and decides: see docs/back-end.md. Without this section nobody is asked.',
      signedCall,
    ),
    optional: true as const,
  },
  smtp: {
    ...section('How e-mail is sent. Without this section none is sent.', {
      host: text(required, 'The mail server.', { ...aHost, example: 'smtp.example.com' }),
      port: wholeNumber(587, [1, 65535], 'Usually 587 for starttls and 465 for tls.'),
      security: choice(
        'starttls',
        ['starttls', 'tls', 'none'],
        'starttls: always required; tls: from the first byte; none: for loopback hosts only.',
      ),
      username: text(null, 'Together with `password`, if the server requires them.', {
        emptyUnsets: true,
        example: 'poterne',
      }),
      password: text(null, 'Together with `username`.', {
        emptyUnsets: true,
        secret: 'all',
        example: variable('SMTP_PASSWORD'),
      }),
      from: text(required, 'The sender of every e-mail.', {
        check: formats.isMailbox,
        expected: 'one mailbox, such as "Poterne <no-reply@example.com>"',
        example: 'Poterne <no-reply@example.com>',
      }),
      reply_to: text(null, 'The Reply-To of every e-mail. Default: none.', {
        emptyUnsets: true,
        check: formats.isMailbox,
        expected: 'one mailbox, such as "Help <help@example.com>"',
        example: 'Help <help@example.com>',
      }),
      ca_file: text(
        null,
        'A PEM file with the certificates of a private authority, which is trusted besides the public ones.',
        mailAuthorities,
      ),
      dkim_selector: text(
        null,
        'The selector with which the mail server signs (DKIM), for `poterne doctor`: `s1` in s1._domainkey.example.com.',
        {
          check: (selector) => /^[a-z\d]([a-z\d._-]{0,98}[a-z\d])?$/i.test(selector),
          expected: 'a name in DNS such as "s1"',
          example: 's1',
        },
      ),
      strangers_per_hour: count(
        5000,
        'How many e-mails to newcomers anonymous callers may cause in an hour, over the whole service. Half as many more may go to verified addresses that they name. E-mails that owners cause are not counted.',
      ),
    }),
    lists: { fallback },
    optional: true as const,
  },
  sms: {
    ...section('SMS: to which countries they go, how many, and through which gateways.', {
      allowed_countries: list(
        'The countries to which SMS may go. Empty: only the default country; ["*"]: every country. The overseas departments of France are countries of their own here (RE, YT, GP, BL, MF, MQ, GF, PM), also for numbers that are dialled as in France.',
        {
          check: (country) => country === '*' || formats.isCountry(country),
          item: 'a country in two capital letters, such as "FR", or "*"',
          example: ['FR', 'CI'],
        },
      ),
      daily_budget: wholeNumber(
        1000,
        [0, many],
        'How many SMS the whole service may send in a day. Newcomers get at most half of them, verified numbers that strangers name a quarter, and a twentieth is kept for notices to owners. 0: none.',
      ),
      minimum_conversion: wholeNumber(
        0,
        [0, 100],
        'Ask a gateway only after the others if fewer than this percentage of its last 200 codes was entered. 0: off.',
      ),
      pumping_guard: boolean(
        true,
        'Close a range of numbers that differ in their last four digits if fewer than 2 % of at least 50 codes sent there were entered. For a day, the networks that asked for codes there get only a trickle. A code does not count if its account signed in otherwise while it was valid.',
      ),
      autofill_domain: text(
        null,
        'The domain on which people type the code. SMS then end with a line that lets phones fill in the code there, and nowhere else.',
        {
          check: formats.isDomain,
          expected: 'a domain such as "app.example.com"',
          example: 'app.example.com',
        },
      ),
    }),
    lists: { gateways },
  },
  texts: section('What messages say.', {
    service_name: text(
      null,
      'What messages call the service. Default: `pages.name`, else the display name in `smtp.from`, else the host of `server.base_url`.',
      { ...nameOnOneLine, example: 'Acme' },
    ),
    logo_url: text(
      null,
      'A picture above every e-mail, at most 40 pixels high and 220 wide there; PNG is what all mail programs show.',
      {
        check: formats.isSecureUrl,
        reason: formats.explainAddress,
        expected: 'an https URL without user and password',
        example: 'https://www.example.com/logo.png',
      },
    ),
    colour: text(
      '',
      'The colour of the initial and of the button in e-mails. Empty: `pages.colour`.',
      colour,
    ),
    directory: text(
      null,
      'The directory of your own texts, a file for each language: `de.toml` adds German, `fr.toml` changes the French that is built in. `poterne texts init de` writes one to begin with. docs/texts.md has the details.',
      { example: '/etc/poterne/texts' },
    ),
    fallback: text('en', 'The language that supplies the texts which a file of yours lacks.', {
      check: formats.isLanguageTag,
      expected: languageExpected,
    }),
    support: text(
      null,
      'Where people reach you: an e-mail address, or an https link. Notices about what administrators did name it. Without it they say what people can do by themselves.',
      {
        check: formats.isSupport,
        expected: 'an e-mail address or an https URL, at most 100 ASCII characters',
        example: 'support@example.com',
      },
    ),
    layout: text(null, 'An HTML file in place of the layout of e-mails; it holds `{content}`.', {
      emptyUnsets: true,
      example: '/etc/poterne/texts/layout.html',
    }),
  }),
  codes: section('One-time codes.', {
    lifetime: duration(
      '10m',
      ['1s', '1h'],
      'How long a code is valid, counted from the first attempt to send it.',
    ),
    attempts: wholeNumber(5, [1, 100], 'How many wrong attempts end a code.'),
    attempts_per_day: wholeNumber(
      20,
      [1, 10_000],
      'How many wrong codes may be entered in a day for one account and purpose, over all codes. Strangers, callers with the password, and each device or session of the owner are counted apart.',
    ),
    login: boolean(true, 'false: a code alone signs nobody in; `2fa/request-otp` still answers 201.'),
  }),
  two_factor: section('The second step of signing in.', {
    allow_email: boolean(
      true,
      'With false, a code sent by e-mail is no second factor: nobody can turn on two-factor sign-in with one. An account that did so before keeps it until it has an app, a passkey or a number that SMS can reach.',
    ),
    trust_device: durationOrNever(
      ['1h', '365d'],
      'How long a device may leave out the second step, if somebody proved two factors on it and chose to trust it. "never" turns this off. docs/people.md says what ends the trust.',
    ),
  }),
  tokens: section('Access and refresh tokens.', {
    access_lifetime: duration(
      '15m',
      ['1s', '1d'],
      'How long an access token is valid. Other services accept it for that long, even after a logout.',
    ),
    refresh_lifetime: duration('30d', ['1s', '3650d'], 'A session that was not used for this long ends.'),
    refresh_absolute_lifetime: duration(
      '90d',
      ['1s', '3650d'],
      'A session ends after this time, used or not.',
    ),
    audience: text(null, 'The `aud` of access tokens. Default: `server.base_url`.', {
      example: 'https://api.example.com',
    }),
    claims: claims(
      'What access tokens say of an account beside the claims of poterne, as a table `[tokens.claims]`; docs/people.md lists sources and rules.',
    ),
  }),
  password: section(
    'Passwords and their Argon2id hash (RFC 9106). Changed numbers apply to new hashes; old hashes stay valid.',
    {
      minimum_length: wholeNumber(8, [8, 128], 'The fewest characters of a new password.'),
      memory_kib: wholeNumber(19_456, [cheapestHash.memoryKib, 1_048_576], 'Memory of one hash, in KiB.'),
      iterations: wholeNumber(2, [cheapestHash.iterations, 100], 'Passes over that memory.'),
    },
  ),
  limits: section(
    'Limits on how often something may be done. Known and unknown identifiers are refused alike.',
    {
      enabled: boolean(
        true,
        'Set it to false for load tests only. The wrong-code budgets and the hash queue stay.',
      ),
      codes_burst: count(3, 'How many codes one destination can get at once for one purpose.'),
      codes_interval: duration(
        '1m',
        ['1s', '1d'],
        'After that burst, one more code is sent in each interval of this length.',
      ),
      codes_per_hour: count(
        6,
        'How many codes strangers can cause for one destination in an hour, for all purposes together.',
      ),
      codes_per_day: count(12, 'The same in a day.'),
      code_requests_burst: count(
        30,
        'How many calls without a session may ask for a code at once from one client address.',
      ),
      code_requests_per_hour: count(120, 'The same in an hour.'),
      owner_codes_per_hour: count(
        10,
        'How many codes an account can have sent to its own contacts in an hour from its known devices, and as many again from its sessions.',
      ),
      owner_codes_per_day: count(30, 'The same in a day.'),
      login_failures: count(
        10,
        'How many logins may fail for one identifier from one client address, or on one known device or session, before logins are refused.',
      ),
      login_failures_all_addresses: count(
        100,
        'How many logins may fail for one identifier from all client addresses together. Known devices are counted apart.',
      ),
      login_failures_window: duration('15m', ['1s', '30d'], 'The time in which those failures count.'),
      login_refusal: duration(
        '1m',
        ['1s', '1d'],
        'How long logins are refused at first; it doubles each time.',
      ),
      login_refusal_maximum: duration('1h', ['1s', '30d'], 'The longest refusal.'),
      logins_per_minute: count(
        60,
        'How many logins one client address may try in a minute. For IPv6 this is a /64; a /56 may try four times as many and a /48 16 times. The same holds for every number by client address.',
      ),
      registrations_burst: count(30, 'How many registrations one client address may make at once.'),
      registrations_per_hour: count(120, 'How many registrations one client address may make in an hour.'),
      verifications: count(60, 'How many codes one client address may try in `verifications_window`.'),
      verifications_window: duration('5m', ['1s', '1d'], 'The time in which tried codes count.'),
      sms_per_prefix_per_hour: count(
        50,
        'How many SMS strangers in one network can cause in an hour to numbers that differ only in their last four digits.',
      ),
      network_share_percent: wholeNumber(
        5,
        [1, 100],
        'The share of the SMS of a day, and of the e-mails of an hour, that strangers in one network (IPv4 /24, IPv6 /48) can cause.',
      ),
      wrong_codes_alarm: count(
        300,
        'The log warns when more wrong codes than this are entered in a minute, over the whole service.',
      ),
      hash_concurrency: wholeNumber(
        0,
        [0, 1024],
        'How many passwords are hashed at once. 0: as many as there are processors.',
      ),
      hash_queue: wholeNumber(
        64,
        [0, 100_000],
        'How many passwords may wait to be hashed. One more is refused with 503 server_busy.',
      ),
      hash_queue_reserved: wholeNumber(
        16,
        [0, 100_000],
        'How many of those places only owners may take: callers with a session or on a known device. They are served first. Nothing is reserved in a queue that has no more places than this.',
      ),
    },
  ),
  admin: section('How the operator reaches the service: see docs/administration.md.', {
    socket: text(
      null,
      'The Unix socket that the command line uses; only its owner may open it. "": none. Default: /run/poterne/admin.sock if that directory belongs to the user of the service, else admin.sock in `storage.data_dir` if that directory exists, else one in /tmp/poterne-UID.',
      { example: '/run/poterne/admin.sock' },
    ),
    listen: text(
      '',
      'Where the interface of administration listens for scripts and for the page /admin/. "": nowhere. On loopback only, unless `base_url` is set.',
      listenAddress('127.0.0.1:8081'),
    ),
    base_url: text(
      null,
      'How browsers and scripts reach that listener behind a reverse proxy with TLS. Requests for another host are refused.',
      {
        check: formats.isSecureOrigin,
        reason: formats.explainOrigin,
        expected: 'an https origin without path, such as "https://admin.example.com"',
        example: 'https://admin.example.com',
      },
    ),
    notify: text(
      '',
      'The address for e-mails to the operator: many wrong codes, a prefix of numbers that was closed, a gateway whose codes do not arrive, a removal of two factors that its owner stopped, a new administrator or token. "": nowhere.',
      {
        check: (value) => value === '' || /^[^\s@]+@[^\s@]+$/.test(value),
        expected: 'an e-mail address, or ""',
        emptyAllowed: true,
        example: 'ops@example.com',
      },
    ),
  }),
  metrics: section('Metrics for Prometheus: see docs/monitoring.md.', {
    listen: text(
      '',
      'The address on which `GET /metrics` answers, apart from the public listener. Everybody who reaches it can read it. "": none.',
      listenAddress('127.0.0.1:9464'),
    ),
  }),
  events: section('The audit trail of sign-ins and changes, for owners and for the operator.', {
    retention: duration('180d', ['1d', '3650d'], 'How long events are kept.'),
    address_retention: duration(
      '30d',
      ['1d', '3650d'],
      'How long events keep the address and the device. After that they hold neither.',
    ),
  }),
  backup: section('Scheduled backups: see docs/operations.md. `poterne backup` makes one at any time.', {
    at: text(
      null,
      'The time of the daily backup, in the time zone of the machine. Default: no backup is scheduled.',
      {
        check: (time) => /^([01]\d|2[0-3]):[0-5]\d$/.test(time),
        expected: 'a time from "00:00" to "23:59"',
        example: '03:30',
      },
    ),
    directory: text(
      './backups',
      'The directory of the files. Choose another disk than that of the database.',
    ),
    keep: wholeNumber(
      7,
      [1, 10_000],
      'How many scheduled backups stay there. Other files there are left alone.',
    ),
    passphrase_file: text(
      null,
      'A file whose first line is a passphrase of at least 12 characters, with which backups are sealed instead of `server.secret`. It is needed if poterne made the secret itself.',
      { example: '/etc/poterne/backup-passphrase' },
    ),
    after: command(
      'A command that takes each scheduled backup to another machine, once it is verified; no shell reads it, and `{file}` is the path of the backup. Where it fails, the backup has failed. Default: none.',
      BACKUP_FILE,
      ['/usr/bin/rclone', 'copy', BACKUP_FILE, 'safe:poterne'],
    ),
  }),
  upgrade: section('`poterne upgrade`: see docs/install.md. Nothing is ever fetched without that command.', {
    index: text(
      null,
      'The signed index of releases: an https URL, an http URL on loopback, or a file. Default: none.',
      {
        check: formats.isReleaseLocation,
        expected: 'https, http on loopback, or a file',
        example: 'https://downloads.example.com/poterne/index.json',
      },
    ),
  }),
  social: {
    ...section('Sign-in through other providers.', {
      redirect_uris: list(
        'The addresses to which a browser may be sent after sign-in. They are compared exactly.',
        {
          check: formats.isRedirectUri,
          reason: formats.explainAddress,
          item: 'an absolute URI without fragment and without *: https, http on loopback, or an app\'s own scheme such as "com.example.app:/signed-in"',
          example: ['https://app.example.com/signed-in', 'com.example.app:/signed-in'],
        },
      ),
      link_by_email: choice(
        'authoritative',
        ['authoritative', 'never'],
        'Whether a first sign-in opens the account that verified the same e-mail address, where the provider answers for it. never: 409 account_exists.',
      ),
    }),
    lists: { providers },
  },
  passkeys: {
    ...section('Passkeys. They are off until `rp_id` is set.', {
      rp_id: text(
        null,
        'The domain that passkeys belong to: the site on which people sign in, or a domain above it; rarely the host of `server.base_url`. Changing it makes every stored passkey useless. With `--dev` "localhost".',
        {
          check: formats.isRelyingPartyId,
          expected: 'a domain such as "example.com", or "localhost"',
          example: 'example.com',
        },
      ),
      rp_name: text(null, 'What the browser calls the site. Default: the name in messages.', {
        emptyUnsets: true,
        example: 'Example',
      }),
      origins: list(
        'Where passkeys may be used, compared exactly. Empty: `https://<rp_id>`. The origin of the page of administration counts as one of them, where its host is `rp_id` or below.',
        {
          check: formats.isPasskeyOrigin,
          item: 'an https origin without a path, http on localhost, or "android:apk-key-hash:" and 43 characters',
          example: ['https://example.com', 'https://app.example.com'],
        },
      ),
      ios_apps: list('Apps of Apple platforms that use passkeys of this domain.', {
        check: (app) => /^[A-Z\d]{10}\.[\w.-]+$/.test(app),
        item: 'a team id and a bundle id, such as "ABCDE12345.com.example.app"',
        example: ['ABCDE12345.com.example.app'],
      }),
      enroll_url: text(null, 'Where people add a passkey: for /.well-known/passkey-endpoints.', {
        emptyUnsets: true,
        ...secureUrl,
        example: 'https://example.com/account/passkeys/new',
      }),
      manage_url: text(null, 'Where people manage their passkeys: for the same file.', {
        emptyUnsets: true,
        ...secureUrl,
        example: 'https://example.com/account/passkeys',
      }),
      change_password_url: text(
        null,
        'Where /.well-known/change-password sends people. Default with `pages.enabled`: `/account/password`.',
        { ...secureUrl, example: 'https://example.com/account/password' },
      ),
      allow_rp_id_change: boolean(
        false,
        'true: start although stored passkeys belong to another `rp_id`; they cannot be used.',
      ),
    }),
    lists: { android_apps: androidApps },
  },
  pages: {
    ...section(
      'Pages for people: sign-in, registration, recovery and their own account, at `server.base_url`.',
      {
        enabled: boolean(false, 'Serve the pages. With `--dev` they are always served.'),
        home: text(
          '',
          'The address people go to when no application sent them. Empty: the page of their account.',
          {
            ...optionalUrl,
            example: 'https://app.example.com/',
          },
        ),
        return_to: list(
          'Further addresses for `?return_to=`, compared exactly. A `*` as the last character, after a `/` of the path, stands for the rest.',
          {
            check: formats.isReturnAddress,
            reason: formats.explainAddress,
            item: 'an https address without user, password and fragment; `*` only at its end, after a `/` of the path',
            example: ['https://app.example.com/*'],
          },
        ),
        name: text('', 'What the pages call the service. Empty: as messages do.', {
          ...nameOnOneLine,
          emptyAllowed: true,
          example: 'Acme',
        }),
        logo: text('', 'A file, SVG or PNG of at most 100 kB, shown above every form.', {
          emptyAllowed: true,
          example: '/etc/poterne/logo.svg',
        }),
        logo_dark: text('', 'The same for dark screens. Empty: the logo on a white plate.', {
          emptyAllowed: true,
          example: '/etc/poterne/logo-dark.svg',
        }),
        colour: text('', 'The colour of buttons and links. Empty: `texts.colour`.', colour),
        help: text('', 'A link at the foot of every page.', {
          ...optionalUrl,
          example: 'https://www.example.com/help',
        }),
        terms: text('', 'A link at the foot: the terms of use.', {
          ...optionalUrl,
          example: 'https://www.example.com/terms',
        }),
        privacy: text('', 'A link at the foot: what becomes of personal data.', {
          ...optionalUrl,
          example: 'https://www.example.com/privacy',
        }),
      },
    ),
    lists: { applications },
  },
}

/** The same table without the exact type of each key, for walking over it. */
export const sections: Record<string, Section> = schema
