/**
 * Undoing the change or removal of a contact. The notice to the old contact carries a link if the change came from a
 * device or address that the account did not know seven days before. The token in the link is the whole authority: its
 * holder reads the messages of the old contact.
 */

import { serviceName } from '../../../platform/config/service-name.ts'
import type { Ground } from '../../../platform/ground.ts'
import { createDone, createLinkPages } from '../../../platform/http/link-page.ts'
import {
  type Account,
  channelOf,
  contactOf,
  hasVerified,
  verifiedContacts,
} from '../../accounts/core/account.ts'
import type { OwnerNotices, UndoNotice } from '../../accounts/core/owner-notices.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import { type Identifier, maskDestination, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { CodeService } from '../../messages/codes/service.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import { hashOfToken, type UndoLinks } from './links.ts'
import type { Undoable, UndoStore } from './store.ts'
import { type Keeping, UNDO_DAYS } from './undo-sql.ts'

/** `invalid`: unknown, used or too old. */
type UndoState = 'open' | 'restored' | 'taken' | 'invalid'

export interface UndoOutcome {
  state: UndoState
  /** The language of the account; null if the link names none. */
  language: string | null
  /** Masked; empty where the link is invalid. */
  contact: string
}

interface Needs extends Pick<Ground, 'clock' | 'config' | 'secret'> {
  undoLinks: UndoLinks
  devices: KnownDevices
  codes: CodeService
  limits: LimitService
  notices: OwnerNotices
  stores: { undo: UndoStore }
}

const UNDO_MS = UNDO_DAYS * 86_400_000

/** A change or removal of a verified contact within the last seven days, as administrators see it. */
export type FormerContact = Awaited<ReturnType<UndoService['changesOf']>>[number]
export type UndoService = ReturnType<typeof createUndoService>

export function createUndoService(needs: Needs) {
  const { undoLinks, devices, codes, limits, notices, clock, config } = needs
  const store = needs.stores.undo
  const { defaultCountry } = config.accounts

  function outcomeOf(state: UndoState, undoable: Undoable | null): UndoOutcome {
    if (undoable === null) return { state, language: null, contact: '' }
    const { account, destination } = undoable
    return {
      state,
      language: account.language,
      contact: state === 'invalid' ? '' : maskDestination(destination),
    }
  }

  /** To the other verified contacts, the one that is replaced again included. */
  async function noticesOf({ account, kind, destination }: Undoable, isByAdministrator: boolean) {
    const restored = parseIdentifier(destination, defaultCountry)
    const contacts = verifiedContacts(account).filter(
      (contact) => parseIdentifier(contact.destination, defaultCountry)?.key !== restored?.key,
    )
    if (isByAdministrator) contacts.push({ channel: channelOf(kind), destination })
    return notices.about(account, 'contact_restored', { contacts })
  }

  async function restore(hash: Uint8Array, { isByAdministrator }: { isByAdministrator: boolean }) {
    const undoable = await store.find(hash, clock.now())
    if (undoable === null || undoable.isUsed) return outcomeOf('invalid', undoable)
    if (undoable.isTaken) return outcomeOf('taken', undoable)
    const ends = {
      notices: await noticesOf(undoable, isByAdministrator),
      endCodes: codes.ending(undoable.account.uuid),
    }
    const done = await store.restore(hash, undoable, ends, clock.now())
    return outcomeOf(done === 'used' ? 'invalid' : done, undoable)
  }

  return {
    /** Its name, for the page. */
    service: serviceName(config),
    support: config.texts.support,
    draw: createLinkPages(config),
    done: createDone<Pick<UndoOutcome, 'language' | 'contact'>>('undo done', needs),
    /** Where a new password is asked for; null without pages. */
    recoverPath: config.pages.enabled ? '/recover' : null,
    /**
     * Prepares the records that a change or removal of that contact has to keep, and the notice that carries the link;
     * null: no link.
     */
    async prepare(
      signedIn: Authenticated,
      kind: Identifier['kind'],
      { address }: { address: string },
    ): Promise<{ kept: Keeping; notice: UndoNotice | null }> {
      const { account } = signedIn
      const destination = contactOf(account, kind)
      const identifier = destination === null ? null : parseIdentifier(destination, defaultCountry)
      const knownClient = await devices.knewFor(account, signedIn, address, UNDO_MS)
      if (destination === null || identifier === null || knownClient || !hasVerified(account, identifier))
        return { kept: { knownClient, undoHash: null, undoKey: null }, notice: null }
      const { seed, hash } = undoLinks.create()
      return {
        kept: { knownClient, undoHash: hash, undoKey: identifier.key },
        notice: { destination, seed, expiresAt: new Date(clock.now().getTime() + UNDO_MS) },
      }
    },
    /** Changes nothing, since whatever checks mail follows links. */
    async show(token: string, { addressBucket }: { addressBucket: string }): Promise<UndoOutcome> {
      await limits.charge(limits.counters.undoVisits(addressBucket))
      const undoable = await store.find(hashOfToken(token), clock.now())
      if (undoable === null || undoable.isUsed) return outcomeOf('invalid', undoable)
      return outcomeOf(undoable.isTaken ? 'taken' : 'open', undoable)
    },
    async use(token: string, { addressBucket }: { addressBucket: string }): Promise<UndoOutcome> {
      await limits.charge(limits.counters.undoVisits(addressBucket))
      return restore(hashOfToken(token), { isByAdministrator: false })
    },
    /** Newest first. `former` is masked. `canUndo`: a link that was sent to the former contact is open. */
    async changesOf({ id: accountId }: Account) {
      const changes = await store.changesOf(accountId, clock.now())
      return changes.map(({ id, kind, destination, replacedAt, hash, isTaken }) => ({
        id,
        kind,
        former: maskDestination(destination),
        changedAt: replacedAt,
        canUndo: hash !== null && !isTaken,
      }))
    },
    /**
     * Does for an administrator what the open link of the change does. The contact that comes back is told, too: its
     * holder did not press the button.
     */
    async undoChange({ id: accountId }: Account, id: number): Promise<UndoState> {
      const changes = await store.changesOf(accountId, clock.now())
      const hash = changes.find((change) => change.id === id)?.hash ?? null
      return hash === null ? 'invalid' : (await restore(hash, { isByAdministrator: true })).state
    },
  }
}
