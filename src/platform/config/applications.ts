/** What follows from an entry of `pages.applications`. */
import type { ApplicationConfig, Config } from './types.ts'

/** Every account may enter. */
export const EVERYBODY = '*'

/** Tells whether its tokens open accounts, as those of a login do. */
export const isOwn = ({ own }: Pick<ApplicationConfig, 'own'>): boolean => own !== false

/** Tells whether it is an entry for OpenID Connect: one without `own` gets nothing but tokens. */
export const isForOpenId = ({ own }: Pick<ApplicationConfig, 'own'>): boolean => own !== null

/** Tells whether it can keep no secret. */
export const isPublic = ({ secretSha256 }: Pick<ApplicationConfig, 'secretSha256'>): boolean =>
  secretSha256.length === 0

/** The issuer that it knows: another one than that of access tokens, so that no back end takes an ID token for one. */
export const issuerOf = (application: Pick<ApplicationConfig, 'own'>, baseUrl: string): string =>
  isForOpenId(application) ? `${baseUrl}/oauth2` : baseUrl

/** Tells whether an account may enter: a test identity's code is published. */
export const mayEnter = (
  { own, groups }: Pick<ApplicationConfig, 'own' | 'groups'>,
  account: { groups: readonly string[] | null; testIdentity: boolean },
): boolean =>
  own !== false ||
  (!account.testIdentity &&
    groups.some((group) => group === EVERYBODY || (account.groups ?? []).includes(group)))

/** The entries for OpenID Connect, where the pages are on. */
export const applicationsForOpenId = ({ pages }: Pick<Config, 'pages'>): ApplicationConfig[] =>
  pages.enabled ? pages.applications.filter(isForOpenId) : []

/** The applications that are told when a session of theirs ends. */
export const backChannelsOf = ({ pages }: Pick<Config, 'pages'>): ApplicationConfig[] =>
  pages.enabled ? pages.applications.filter(({ backchannelLogoutUri }) => backchannelLogoutUri !== '') : []

/** The lists of claims of the applications that have one. */
export const claimsOfApplications = (config: Pick<Config, 'pages'>) =>
  applicationsForOpenId(config).map(({ claims }) => claims)
