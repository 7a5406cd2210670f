/** The effective configuration as the rest of the service reads it: checked, with units in the names. */

import type { OwnTexts } from '../../texts/catalog.ts'
import type { Language } from '../../texts/languages.ts'
import type { ClaimConfig } from './claims-rule.ts'
import type { Template } from './placeholders.ts'

export interface Config {
  server: {
    host: string
    port: number
    /** Without a trailing slash. Defaults to http://host:port, with port 0 as it is configured. */
    baseUrl: string
    /** Ranges such as `10.0.0.0/8`; a single address is the range of only itself. */
    trustedProxies: string[]
    /** 32 bytes; null if none is set (then data_dir holds one). */
    secret: Uint8Array | null
    /** As configured; `formats.decodeSecret` reads each. */
    previousSecrets: string[]
    language: Language
    docs: boolean
    corsOrigins: string[]
  }
  storage: { dataDir: string }
  log: { level: 'debug' | 'info' | 'warn' | 'error'; format: 'auto' | 'json' | 'pretty' }
  /** `url` null: embedded. */
  database: { url: string | null; poolSize: number; migrate: boolean }
  /** Without `urls`, codes and counters are kept in the database. Mode `single` has exactly one. */
  redis: { mode: 'single' | 'sentinel' | 'cluster'; urls: string[]; master: string | null; keyPrefix: string }
  accounts: {
    accountableType: string
    roleId: number
    passwordDigest: 'masked' | 'full'
    revealExisting: boolean
    notifyNewDevice: boolean
    /** ISO 3166 alpha-2. */
    defaultCountry: string
    /** Only the command line gives them. */
    reservedUsernames: string[]
    registration: 'open' | 'invitation' | 'closed'
    /** In lower case; empty: all. */
    registrationDomains: string[]
    /** Empty: none have to be accepted. */
    terms: string
    invitationUrl: string | null
  }
  /** The names of roles by their numbers. */
  roles: Record<string, string>
  smtp: SmtpConfig | null
  /** `allowedCountries` empty: the default country only; `['*']`: all. */
  sms: {
    allowedCountries: string[]
    dailyBudget: number
    /** In a hundred; 0: off. */
    minimumConversion: number
    pumpingGuard: boolean
    /** Null: SMS are bound to no site. */
    autofillDomain: string | null
    gateways: GatewayConfig[]
  }
  texts: {
    /** Null: derived, see service-name.ts. */
    serviceName: string | null
    logoUrl: string | null
    /** `#rrggbb` */
    colour: string
    directory: string | null
    fallback: Language
    /** What the files say. */
    own: Record<Language, OwnTexts>
    layout: string | null
    /** An e-mail address or an https link; null: messages name none. */
    support: string | null
    layoutHtml: string | null
  }
  codes: { lifetimeSeconds: number; attempts: number; attemptsPerDay: number; login: boolean }
  twoFactor: { allowEmail: boolean }
  tokens: {
    accessLifetimeSeconds: number
    refreshLifetimeSeconds: number
    refreshAbsoluteLifetimeSeconds: number
    /** Defaults to baseUrl. */
    audience: string
    /** In the order of the file. */
    claims: ClaimConfig[]
  }
  password: { minimumLength: number; memoryKib: number; iterations: number }
  limits: LimitsConfig
  admin: AdminConfig
  /** `listen` null: metrics are off. */
  metrics: { listen: { host: string; port: number } | null }
  events: { retentionSeconds: number; addressRetentionSeconds: number }
  /** `at`: `HH:MM` in the machine's time zone; null: no scheduled backups. */
  backup: { at: string | null; directory: string; keep: number; passphraseFile: string | null }
  /** `index` null: `poterne upgrade` has nowhere to look. */
  upgrade: { index: string | null }
  social: {
    redirectUris: string[]
    linkByEmail: 'authoritative' | 'never'
    providers: SocialProviderConfig[]
  }
  passkeys: PasskeysConfig
  pages: PagesConfig
}

/** Empty texts are not set. */
export interface PagesConfig {
  enabled: boolean
  home: string
  returnTo: string[]
  name: string
  logo: string
  logoFile: LogoFile | null
  /** `#rrggbb` */
  colour: string
  help: string
  terms: string
  privacy: string
  applications: ApplicationConfig[]
}

/** The picture above every form, as it was read when the service started. */
export interface LogoFile {
  type: 'image/svg+xml' | 'image/png'
  bytes: Uint8Array<ArrayBuffer>
}

export interface ApplicationConfig {
  id: string
  name: string
  redirectUris: string[]
  signOutUris: string[]
}

export interface AdminConfig {
  /** Null: at its default place; empty: none. */
  socket: string | null
  /** Null: nothing listens. */
  listen: { host: string; port: number } | null
  /** An https origin; null: the listener is on loopback. */
  baseUrl: string | null
  /** Where e-mails to the operator go; empty: nowhere. */
  notify: string
}

export interface PasskeysConfig {
  /** Null: passkeys are off. */
  rpId: string | null
  rpName: string | null
  /** With the default and those of `androidApps`. */
  origins: string[]
  iosApps: string[]
  androidApps: { package: string; sha256: string }[]
  enrollUrl: string | null
  manageUrl: string | null
  changePasswordUrl: string | null
  allowRpIdChange: boolean
}

export interface SmtpServerConfig {
  host: string
  port: number
  security: 'starttls' | 'tls' | 'none'
  username: string | null
  password: string | null
  /** PEM, trusted besides the public authorities. */
  caFile: string | null
}

export interface SmtpConfig extends SmtpServerConfig {
  /** One mailbox, a display name allowed. */
  from: string
  replyTo: string | null
  /** Null: not known. */
  dkimSelector: string | null
  /** Take over in their order. */
  fallback: SmtpServerConfig[]
  /** E-mails that strangers cause, over the whole service. */
  strangersPerHour: number
}

export interface GatewayConfig {
  name: string
  channel: 'sms' | 'whatsapp' | 'voice'
  url: string
  method: 'POST' | 'GET' | 'PUT'
  headers: Record<string, string>
  format: 'json' | 'form' | 'query'
  body: Record<string, Template>
  basicAuth: { username: string; password: string } | null
  oauth: OAuthConfig | null
  /** Null: the HTTP status alone. */
  success: ConditionConfig | null
  /** Null: the HTTP status alone says what is worth another attempt. */
  retry: ConditionConfig | null
  messageId: string | null
  receipts: ReceiptsConfig | null
  /** Empty: every number. */
  prefixes: string[]
  timeoutMs: number
}

/** Of the keys of a small table, the names are those of the file. */
export interface OAuthConfig {
  token_url: string
  client_id: string
  client_secret: string
  scope: string | null
  auth: 'basic' | 'body' | null
}

/** Exactly one of `equals`, `in` (not empty) and `exists`. */
export interface ConditionConfig {
  path: string
  equals: string | null
  in: string[]
  exists: boolean | null
}

export interface ReceiptsConfig {
  secret: string
  message_id: string
  status: string
  delivered: string[]
  failed: string[]
  items: string | null
  signature: 'twilio' | null
}

export interface LimitsConfig {
  enabled: boolean
  /** Codes sent to one destination: per purpose a burst, then one an interval; over all purposes an hour and a day. */
  codesBurst: number
  codesIntervalSeconds: number
  codesPerHour: number
  codesPerDay: number
  /** Calls without a session that ask for a code, per client address. */
  codeRequestsBurst: number
  codeRequestsPerHour: number
  /** Codes sent to an account's own contacts, for its sessions and known devices. */
  ownerCodesPerHour: number
  ownerCodesPerDay: number
  /** Failures of one identifier from one address (or of a device) in the window; then refused, doubling to the maximum. */
  loginFailures: number
  /** Failures of one identifier from all addresses. */
  loginFailuresAllAddresses: number
  loginFailuresWindowSeconds: number
  loginRefusalSeconds: number
  loginRefusalMaximumSeconds: number
  /** Per client address. */
  loginsPerMinute: number
  registrationsBurst: number
  registrationsPerHour: number
  verifications: number
  verificationsWindowSeconds: number
  /** SMS per 7-digit prefix. */
  smsPerPrefixPerHour: number
  networkSharePercent: number
  /** A minute, over the whole service: more are said in the log. */
  wrongCodesAlarm: number
  /** Passwords hashed at once (0: as many as processors) and waiting. */
  hashConcurrency: number
  hashQueue: number
  /** Places of that queue which strangers never take. */
  hashQueueReserved: number
}

export interface SocialProviderConfig {
  name: string
  preset: 'google' | 'apple' | 'github' | 'microsoft' | 'facebook' | null
  issuer: string | null
  clientId: string
  clientSecret: string | null
  /** Empty: what the provider's kind needs. */
  scopes: string[]
  /** Audiences of native apps' identity tokens, beside `clientId`. */
  nativeClientIds: string[]
  /** Domains whose addresses it answers for; `*`: every one. */
  authoritativeFor: string[]
  enabled: boolean
  /** Apple: the client secret is made from these. */
  teamId: string | null
  keyId: string | null
  privateKey: string | null
}

/** Cookies are sent over TLS only where the service is reached over TLS. */
export const hasSecureCookies = ({ server }: Pick<Config, 'server'>) => server.baseUrl.startsWith('https:')
