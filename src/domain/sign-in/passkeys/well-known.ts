/**
 * The files that browsers and phones look for at the host of the relying party, made from the configuration. A site
 * on another host serves or proxies them itself, see docs/passkeys.md.
 */
import type { Config } from '../../../platform/config/types.ts'

export type WellKnownFiles = ReturnType<typeof wellKnownFiles>

/** Each is null if the configuration has nothing for it. */
export function wellKnownFiles(passkeys: Config['passkeys']) {
  const { rpId, origins, iosApps, androidApps, enrollUrl, manageUrl, changePasswordUrl } = passkeys
  const sites = origins.filter((origin) => origin.startsWith('https:'))
  const endpoints = {
    ...(enrollUrl !== null && { enroll: enrollUrl }),
    ...(manageUrl !== null && { manage: manageUrl }),
  }
  return {
    /** Related origins: other sites that may use the passkeys of this one. */
    webauthn: rpId !== null && sites.length > 0 ? { origins: sites } : null,
    passkeyEndpoints: Object.keys(endpoints).length > 0 ? endpoints : null,
    appleAppSiteAssociation: iosApps.length > 0 ? { webcredentials: { apps: iosApps } } : null,
    assetLinks: androidApps.length > 0 ? androidApps.map(assetLink) : null,
    /** People who change their password are sent there. */
    changePasswordUrl,
  }
}

const assetLink = ({ package: name, sha256 }: { package: string; sha256: string }) => ({
  relation: ['delegate_permission/common.get_login_creds', 'delegate_permission/common.handle_all_urls'],
  target: {
    namespace: 'android_app',
    package_name: name,
    sha256_cert_fingerprints: [sha256.toUpperCase()],
  },
})
