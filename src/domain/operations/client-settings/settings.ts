/** What this server offers, for clients that draw their forms by it. Made from the configuration alone: nothing in it depends on a caller. */
import type { Config } from '../../../platform/config/types.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import { MAXIMUM_CODE_POINTS } from '../../foundation/hashing/password.ts'
import { CODE_DIGITS } from '../../messages/codes/service.ts'

export interface Offered {
  config: Config
  catalog: Catalog
  /** The names of the providers, in the order of the configuration. */
  providers: readonly string[]
  loginTokenSeconds: number
  /** With --dev every message lands in the mailbox. */
  intoMailbox: boolean
}

export type ClientSettings = ReturnType<typeof clientSettings>

export function clientSettings({ config, catalog, providers, loginTokenSeconds, intoMailbox }: Offered) {
  const { accounts, codes, limits, passkeys, password, smtp, sms, tokens, twoFactor } = config
  const countries = sms.allowedCountries.length > 0 ? sms.allowedCountries : [accounts.defaultCountry]
  return {
    languages: [...catalog.tags],
    default_language: catalog.language,
    default_country: accounts.defaultCountry,
    registration: {
      email: intoMailbox || smtp !== null,
      phone: intoMailbox || sms.gateways.length > 0,
      phone_countries: countries.includes('*') ? null : countries,
    },
    password: { minimum_length: password.minimumLength, maximum_length: MAXIMUM_CODE_POINTS },
    codes: {
      sign_in: codes.login,
      length: CODE_DIGITS,
      expires_in: codes.lifetimeSeconds,
      attempts: codes.attempts,
      resend_after: limits.enabled ? limits.codesIntervalSeconds : 0,
    },
    two_factor: { email: twoFactor.allowEmail },
    passkeys: { enabled: passkeys.rpId !== null, rp_id: passkeys.rpId },
    providers: [...providers],
    tokens: {
      access_expires_in: tokens.accessLifetimeSeconds,
      refresh_expires_in: tokens.refreshLifetimeSeconds,
      session_expires_in: tokens.refreshAbsoluteLifetimeSeconds,
      login_token_expires_in: loginTokenSeconds,
    },
  }
}
