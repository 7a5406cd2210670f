/** Everything that is sealed under the server secret and stays for longer than an hour, read page by page. */
import type { KeyStore } from '../../sessions/tokens/key-store.ts'
import type { FactorStore } from '../authenticators/store.ts'
import type { SecretStore } from './store.ts'

interface SealedRow {
  label: string
  box: Uint8Array
  /** Puts another box in the place of this one, unless it was replaced meanwhile. */
  replace(box: Uint8Array): Promise<void>
}

export interface SealedTable {
  /** The name of its rows in the status. */
  name: 'signing_keys' | 'authenticator_apps' | 'lasting_keys'
  pages(): AsyncGenerator<SealedRow[]>
}

export interface SealedTableStores {
  signingKeys: KeyStore
  identityKeys: KeyStore
  authenticators: FactorStore
  secrets: SecretStore
}

const PAGE = 200

/** The labels under which the rooms seal. */
export const SIGNING_KEY = 'signing key'
export const APP = 'totp'
export const LASTING_KEY = 'lasting key'

export const sealedTablesOf = ({
  signingKeys,
  identityKeys,
  authenticators,
  secrets,
}: SealedTableStores): SealedTable[] => [
  {
    name: 'lasting_keys',
    async *pages() {
      yield (await secrets.listLastingKeys()).map(({ label, sealedKey }) => ({
        label: LASTING_KEY,
        box: sealedKey,
        replace: (box) => secrets.putLastingKey({ label, sealedKey: box }, sealedKey),
      }))
    },
  },
  {
    name: 'signing_keys',
    async *pages() {
      for (const store of [signingKeys, identityKeys])
        yield (await store.list()).map(({ kid, sealedPrivateJwk }) => ({
          label: SIGNING_KEY,
          box: sealedPrivateJwk,
          replace: (box) => store.putSealed(kid, { was: sealedPrivateJwk, is: box }),
        }))
    },
  },
  {
    name: 'authenticator_apps',
    async *pages() {
      for (let after = 0; ; ) {
        const apps = await authenticators.listApps(after, PAGE)
        yield apps.map(({ accountId, sealedSecret }) => ({
          label: APP,
          box: sealedSecret,
          replace: (box) => authenticators.putSealed(accountId, { was: sealedSecret, is: box }),
        }))
        const last = apps.at(-1)
        if (last === undefined || apps.length < PAGE) return
        after = last.accountId
      }
    },
  },
]
