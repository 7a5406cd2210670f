/** The names of sign-in providers, as people read them on pages and in messages. */

/** The spelling that providers use for their own names, where a capital letter is not enough. */
const providerNames: Record<string, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  linkedin: 'LinkedIn',
  paypal: 'PayPal',
  entra: 'Microsoft Entra',
  adfs: 'AD FS',
  azure: 'Microsoft Azure',
  auth0: 'Auth0',
  onelogin: 'OneLogin',
  franceconnect: 'FranceConnect',
  x: 'X',
}

/** A provider as people read it: `github` is "GitHub", `my_company` is "My Company". */
export const nameOfProvider = (name: string): string =>
  providerNames[name] ??
  name
    .split(/[_-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
