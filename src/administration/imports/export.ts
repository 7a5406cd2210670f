/**
 * Takes accounts along to another system, or to another poterne: each as the line that an import reads (docs/import.md),
 * with its password digest and the secret of its authenticator app.
 */
import { APP } from '../../domain/credentials/secrets/sealed-tables.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import type { TellOperator } from '../../domain/messages/outbox/operator-notices.ts'
import type { Ground } from '../../platform/ground.ts'
import { currentRequest } from '../../platform/request-context.ts'
import type { AccountExportStore, StoredAccount } from './export-store.ts'
import type { LineField } from './line.ts'
import type { PasskeyField } from './passkey-line.ts'

interface Needs extends Pick<Ground, 'secret' | 'clock' | 'config'> {
  tellOperator: TellOperator
  stores: { exportedAccounts: AccountExportStore; events: Pick<EventStore, 'addFailures'> }
}

export interface ExportPage {
  records: Record<string, unknown>[]
  /** Null after the last one. */
  next_after: number | null
  /** The greatest id of all accounts: how far there is to go. */
  last: number
  /** Authenticator apps whose secret no server secret opens: their line has null. */
  unopened: number
}

export type AccountExportService = ReturnType<typeof createAccountExport>

export function createAccountExport({ tellOperator, secret, clock, config, stores }: Needs) {
  function open(sealed: Uint8Array): string | null {
    return secret.tryToOpen(APP, sealed)?.bytes.toString('utf8') ?? null
  }

  async function noteExported(count: number): Promise<void> {
    const { actor = null, address = null } = currentRequest() ?? {}
    if (count === 0 || actor === null) return
    tellOperator('operator_accounts_exported')
    const at = clock.now()
    await stores.events.addFailures([{ type: 'accounts.exported', account: null, actor, address, count, at }])
  }

  return {
    /** The accounts after this id, in the order of their ids. What was handed out is recorded before it is. */
    async read(after: number, limit: number): Promise<ExportPage> {
      const [accounts, last] = await Promise.all([
        stores.exportedAccounts.list(after, limit, config.passkeys.rpId),
        stores.exportedAccounts.lastId(),
      ])
      const apps = accounts.map(({ sealedSecret }) => sealedSecret && open(sealedSecret))
      await noteExported(accounts.length)
      return {
        records: accounts.map((account, at) => lineOf(account, apps[at] ?? null)),
        next_after: accounts.length < limit ? null : (accounts.at(-1)?.id ?? null),
        last,
        unopened: accounts.filter(({ sealedSecret }, at) => sealedSecret !== null && apps[at] === null)
          .length,
      }
    },
  }
}

/** Every field, null where there is nothing, so that two exports of the same account are the same bytes. */
function lineOf(account: StoredAccount, appSecret: string | null): Record<LineField, unknown> {
  return {
    email: account.email,
    phone: account.phone,
    email_verified_at: account.emailConfirmedAt,
    phone_verified_at: account.phoneConfirmedAt,
    uuid: account.uuid,
    password: account.passwordDigest && { hash: account.passwordDigest },
    role_id: account.roleId,
    accountable_type: account.accountableType,
    accountable_id: account.accountableId,
    username: account.username,
    groups: account.groups,
    profile: account.profile,
    metadata: account.metadata,
    language: account.language,
    locked_at: account.lockedAt,
    locked_reason: account.lockedReason,
    terms_version: account.termsVersion,
    terms_accepted_at: account.termsAcceptedAt,
    sign_in_count: account.signInCount,
    current_sign_in_at: account.currentSignInAt,
    last_sign_in_at: account.lastSignInAt,
    created_at: account.createdAt,
    account_confirmed_at: account.accountConfirmedAt,
    totp: appSecret && { secret: appSecret },
    two_factor_enabled: hasSecondFactor(account, appSecret),
    identities: account.linked,
    passkeys: account.held.map(
      (passkey): Record<PasskeyField, unknown> => ({
        ...passkey,
        public_key: toUrl(passkey.public_key),
        user_handle: toUrl(passkey.user_handle),
        created_at: new Date(passkey.created_at),
        last_used_at: passkey.last_used_at && new Date(passkey.last_used_at),
      }),
    ),
  }
}

/** False where none is left that an import could turn on: the account would have no way in. */
function hasSecondFactor(account: StoredAccount, appSecret: string | null): boolean {
  const byContact =
    account.passwordDigest !== null && (account.emailConfirmedAt ?? account.phoneConfirmedAt) !== null
  return account.twoFactorEnabled && (appSecret !== null || account.held.length > 0 || byContact)
}

const toUrl = (base64: string) => Buffer.from(base64, 'base64').toString('base64url')
