/** The effective configuration as the rest of the service reads it: checked, with units in the names. */
import type { OwnTexts } from '../../texts/catalog.ts'
import type { Language } from '../../texts/languages.ts'
import type { SchemaValues } from './values.ts'

type Section<Name extends keyof SchemaValues> = SchemaValues[Name]
type Listen = { host: string; port: number } | null
type Replaced<Values, Derived> = Omit<Values, keyof Derived> & Derived

interface Derived {
  /** It has no slash at its end. Defaults to http://host:port, with port 0 as it is configured. */
  server: Replaced<Section<'server'>, { baseUrl: string }>
  /** With user and password, however they were given. */
  database: Omit<Section<'database'>, 'user' | 'password'>
  /** Without `urls`, codes and counters are kept in the database. Mode `single` has exactly one. */
  redis: Omit<Section<'redis'>, 'url'>
  /** The base URL if it is not set. */
  tokens: Replaced<Section<'tokens'>, { audience: string }>
  /** It is null if nothing listens. */
  admin: Replaced<Section<'admin'>, { listen: Listen }>
  metrics: { listen: Listen }
  texts: Section<'texts'> & {
    /** The texts in the operator's files. */
    own: Record<Language, OwnTexts>
    layoutHtml: string | null
  }
  /** The pictures above every form, as they were read when the service started. */
  pages: Section<'pages'> & { logoFile: LogoFile | null; darkLogoFile: LogoFile | null }
  /** The environment variables that the file names: they may hold secrets. */
  namedVariables: string[]
}

export type Config = Replaced<SchemaValues, Derived>

export interface LogoFile {
  type: 'image/svg+xml' | 'image/png'
  bytes: Uint8Array<ArrayBuffer>
}

export type PagesConfig = Config['pages']
export type ApplicationConfig = PagesConfig['applications'][number]
export type SmtpConfig = NonNullable<Config['smtp']>
export type SmtpServerConfig = SmtpConfig['fallback'][number]
export type GatewayConfig = Config['sms']['gateways'][number]
export type WebhookConfig = Config['webhooks'][number]
/** The keys of a small table have the names that they have in the file. */
export type OAuthConfig = NonNullable<GatewayConfig['oauth']>
export type ConditionConfig = NonNullable<GatewayConfig['success']>
export type ReceiptsConfig = NonNullable<GatewayConfig['receipts']>
export type SocialProviderConfig = Config['social']['providers'][number]

/** Cookies are sent over TLS only where the service is reached over TLS. */
export const hasSecureCookies = ({ server }: Pick<Config, 'server'>) => server.baseUrl.startsWith('https:')
