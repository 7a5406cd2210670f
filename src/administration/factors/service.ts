/**
 * The ways to sign in to an account, as an administrator sees and removes them, and the former contact that comes back.
 * Every verified contact of the owner is told.
 */

import type { OwnerNotices } from '../../domain/accounts/core/owner-notices.ts'
import { requireRemoval, usableMethods } from '../../domain/accounts/core/sign-in-methods-sql.ts'
import type { ProviderService } from '../../domain/credentials/providers/service.ts'
import { type Page, type PageQuery, pageOf } from '../../domain/foundation/events/page.ts'
import type { TwoFactorRemovals } from '../../domain/self-service/two-factor-removals/service.ts'
import type { SecondFactor } from '../../domain/sign-in/core/second-factor.ts'
import type { IdentityStore, LinkedIdentity } from '../../domain/sign-in/identities/store.ts'
import type { Passkey } from '../../domain/sign-in/passkeys/passkey.ts'
import type { PasskeyStore } from '../../domain/sign-in/passkeys/store.ts'
import type { UndoService } from '../../domain/sign-in/undo/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { parseWholeNumber } from '../../platform/http/read-values.ts'
import { AppError } from '../../texts/errors.ts'
import type { AccountDetails } from '../directory/directory-schema.ts'
import type { Directory } from '../directory/service.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  directory: Directory
  twoFactorRemovals: TwoFactorRemovals
  notices: OwnerNotices
  secondFactor: Pick<SecondFactor, 'find'>
  providers: Pick<ProviderService, 'names'>
  undo: Pick<UndoService, 'undoChange'>
  stores: { passkeys: PasskeyStore; identities: IdentityStore }
}

/** Long enough that somebody reads the message. */
const DELAY_SECONDS = 86_400

export type AccountFactors = ReturnType<typeof createAccountFactors>

export function createAccountFactors(needs: Needs) {
  const { directory, twoFactorRemovals, notices, secondFactor, undo, clock } = needs
  const { passkeys, identities } = needs.stores
  const usable = usableMethods(needs.providers.names, needs.config)
  return {
    /** `delayed`: the owner can stop it for 24 hours. */
    async removeTwoFactor(uuid: string, { delayed }: { delayed: boolean }): Promise<{ dueAt: Date | null }> {
      const account = await directory.find(uuid)
      return twoFactorRemovals.remove(account, { delaySeconds: delayed ? DELAY_SECONDS : 0 })
    },
    /** Keeps them on: a removal that waits is not done. */
    async cancelRemoval(uuid: string): Promise<void> {
      await twoFactorRemovals.cancel(await directory.find(uuid))
    },
    /** Oldest first. */
    async listPasskeys(uuid: string, query: PageQuery): Promise<Page<Passkey>> {
      const { id } = await directory.view(uuid)
      const keyOf = (passkey: Passkey) => `${passkey.createdAt.toISOString()} ${passkey.id}`
      return pageOf(query, await passkeys.list(id), { list: 'passkeys', keyOf })
    },
    async listIdentities(uuid: string, query: PageQuery): Promise<Page<LinkedIdentity>> {
      const { id } = await directory.view(uuid)
      const keyOf = (identity: LinkedIdentity) => String(identity.id).padStart(16, '0')
      return pageOf(query, await identities.list(id), { list: 'identities', keyOf })
    },
    async removePasskey(uuid: string, id: string): Promise<void> {
      const account = await directory.find(uuid)
      const passkey = (await passkeys.list(account.id)).find((one) => one.id === id)
      if (passkey === undefined) throw new AppError('passkey_not_found')
      const { app } = await secondFactor.find(account)
      const factors = { ...usable, appOpens: app === 'usable' }
      const foreseen = await passkeys.foreseeRemoval(account.id, id, factors)
      requireRemoval({ ...foreseen, lives: true }, 'passkey_not_found', { byAdministrator: true })
      const values = { passkey: passkey.name }
      const messages = await notices.about(account, 'passkey_removed', { values })
      const removal = await passkeys.remove({ account, sessionId: null }, id, factors, messages, clock.now())
      requireRemoval(removal, 'passkey_not_found', { byAdministrator: true })
    },
    async removeIdentity(uuid: string, id: string): Promise<void> {
      const account = await directory.find(uuid)
      const identity = (await identities.list(account.id)).find((one) => String(one.id) === id)
      if (identity === undefined) throw new AppError('identity_not_found')
      const { provider } = identity
      const foreseen = await identities.foreseeRemoval(account.id, { id: identity.id }, usable)
      requireRemoval({ ...foreseen, lives: true }, 'identity_not_found', { byAdministrator: true })
      const messages = await notices.about(account, 'identity_unlinked', { values: { provider } })
      const by = { account, sessionId: null }
      const removal = await identities.unlink(
        by,
        { id: identity.id },
        provider,
        usable,
        messages,
        clock.now(),
      )
      requireRemoval(removal, 'identity_not_found', { byAdministrator: true })
    },
    /** Puts the former contact back, as the open link does that was sent to it. */
    async undoContactChange(uuid: string, id: string): Promise<AccountDetails> {
      const state = await undo.undoChange(await directory.find(uuid), parseWholeNumber(id) ?? 0)
      if (state === 'taken') throw new AppError('identifier_taken')
      if (state !== 'restored') throw new AppError('contact_not_found')
      return directory.describe(await directory.find(uuid))
    },
  }
}
