/** The known providers, as they document themselves. Configuration adds the client; everything else is here. */
import type { SocialProviderConfig } from '../../../platform/config/types.ts'
import { type Authority, appleAuthority, googleAuthority, microsoftAuthority } from './authority.ts'

type Preset = NonNullable<SocialProviderConfig['preset']>

export interface OpenIdPreset {
  protocol: 'openid'
  label: string
  issuer: string
  /** Other spellings of the issuer in identity tokens. */
  issuerAliases: string[]
  scopes: string[]
  /** True if the browser posts the answer as a form. */
  formPost: boolean
  /** Its word opens an account for these addresses. */
  authority: Authority
  /** True: it gives addresses without stating that it verified them; they count as claims. */
  givesClaims: boolean
}

/** Most providers have these in common. */
export const usualOpenId = {
  protocol: 'openid',
  issuerAliases: [],
  scopes: ['openid', 'email'],
  formPost: false,
  givesClaims: false,
} satisfies Partial<OpenIdPreset>

/** OAuth 2.0, with the provider's own API to ask who signed in. */
export interface OAuthPreset {
  protocol: 'github' | 'facebook'
  label: string
  /** Subjects are unique within the issuer. It is compared with `iss` of the answer if there is one (RFC 9207). */
  issuer: string
  authorizationEndpoint: string
  tokenEndpoint: string
  api: string
  scopes: string[]
}

export const presets: { [Name in Preset]: Name extends 'github' | 'facebook' ? OAuthPreset : OpenIdPreset } =
  {
    google: {
      ...usualOpenId,
      label: 'Google',
      issuer: 'https://accounts.google.com',
      issuerAliases: ['accounts.google.com'],
      authority: googleAuthority,
    },
    apple: {
      ...usualOpenId,
      label: 'Apple',
      issuer: 'https://appleid.apple.com',
      // Apple's only way to answer if the e-mail address is requested.
      formPost: true,
      authority: appleAuthority,
    },
    microsoft: {
      ...usualOpenId,
      label: 'Microsoft',
      // Work, school and personal accounts: the issuer of a token is its tenant's.
      issuer: 'https://login.microsoftonline.com/common/v2.0',
      // The administrator of any tenant writes what stands in `email`.
      authority: microsoftAuthority,
      givesClaims: true,
    },
    github: {
      protocol: 'github',
      label: 'GitHub',
      issuer: 'https://github.com/login/oauth',
      authorizationEndpoint: 'https://github.com/login/oauth/authorize',
      tokenEndpoint: 'https://github.com/login/oauth/access_token',
      api: 'https://api.github.com',
      scopes: ['user:email'],
    },
    facebook: {
      protocol: 'facebook',
      label: 'Facebook',
      issuer: 'https://www.facebook.com',
      authorizationEndpoint: 'https://www.facebook.com/v23.0/dialog/oauth',
      tokenEndpoint: 'https://graph.facebook.com/v23.0/oauth/access_token',
      api: 'https://graph.facebook.com/v23.0',
      scopes: ['email'],
    },
  }
