/**
 * Turning two factors off for somebody who lost every one of them. With a delay every verified contact is told at once and
 * can stop it, so that nobody who talks support staff into it takes an account over unnoticed.
 */

import { randomUUID } from 'node:crypto'
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Ground } from '../../../platform/ground.ts'
import { createDone, createLinkPages } from '../../../platform/http/link-page.ts'
import { currentRequest, runAsRequest } from '../../../platform/request-context.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Account, type Contact, verifiedContacts } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { TellOperator } from '../../messages/outbox/operator-notices.ts'
import { createRemovalLinks } from './links.ts'
import type { DueRemoval, TwoFactorRemovalStore, WaitingRemoval } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config' | 'secret'> {
  tellOperator: TellOperator
  notices: OwnerNotices
  limits: LimitService
  stores: { twoFactorRemovals: TwoFactorRemovalStore }
}

interface Reached {
  contact: Contact
  identifier: Identifier
}

export type TwoFactorRemovals = ReturnType<typeof createTwoFactorRemovals>

export function createTwoFactorRemovals(needs: Needs) {
  const { notices, limits, secret, clock, config, stores, tellOperator } = needs
  const store = stores.twoFactorRemovals
  const links = createRemovalLinks({ secret, baseUrl: config.server.baseUrl })

  /** Every verified contact can stop it. A removal that nobody is told of is one that nobody can stop. */
  function reachedContacts(account: Account): Reached[] {
    const reached = verifiedContacts(account).flatMap((contact) => {
      const identifier = parseIdentifier(contact.destination, config.accounts.defaultCountry)
      return identifier !== null && limits.counters.mayReceive(identifier) ? [{ contact, identifier }] : []
    })
    if (reached.length === 0) throw new AppError('channel_not_available')
    return reached
  }

  /**
   * Those that may get the notice again now, and the seconds until one of them may once more. One that must wait keeps no
   * other from it; where each must, it throws.
   */
  async function admittedAgain(reached: Reached[]) {
    const admitted: Reached[] = []
    let waitSeconds = Number.POSITIVE_INFINITY
    let refused: unknown
    for (const one of reached) {
      try {
        const charges = limits.counters.removalNoticesAgain(one.identifier)
        waitSeconds = Math.min(waitSeconds, await limits.chargeAndForesee(charges))
        admitted.push(one)
      } catch (error) {
        if (!(error instanceof AppError && error.errorCode === 'too_many_requests')) throw error
        refused ??= error
      }
    }
    if (admitted.length === 0) throw refused
    return { admitted, waitSeconds }
  }

  function noticesOf(account: Account, { id, dueAt }: WaitingRemoval, reached: Reached[]): NewMessage[] {
    // It is about support staff: the device of the owner who asks for it again is none of its facts.
    const values = { device: '', removal: id, expires_at: dueAt.toISOString() }
    const { language, uuid: accountUuid } = account
    const purpose = 'two_factor_removal'
    return reached.map(({ contact: { channel, destination } }) => ({
      ...{ channel, destination, purpose, language, accountUuid, values },
    }))
  }

  async function removeNow(account: Account, id: string | null): Promise<boolean> {
    const messages = await notices.about(account, 'two_factor_disabled')
    return store.remove(account, id, messages, clock.now())
  }

  /** It acts in the name of the administrator who asked for it. */
  const removeOne = ({ id, account, actor }: DueRemoval) =>
    runAsRequest({ requestId: randomUUID(), actor }, () => removeNow(account, id))

  return {
    /**
     * At once where `delaySeconds` is 0, and `dueAt` is then null. A removal that waits already stays as it is. A delayed
     * one is refused if a contact that could stop it cannot be told today, or if none can be told at all.
     */
    async remove(
      account: Account,
      { delaySeconds }: { delaySeconds: number },
    ): Promise<{ dueAt: Date | null }> {
      if (!account.twoFactorEnabled) throw new AppError('two_factor_not_enabled')
      if (delaySeconds === 0) {
        if (await removeNow(account, null)) return { dueAt: null }
        throw new AppError('two_factor_not_enabled')
      }
      const waiting = await store.find(account.id)
      if (waiting !== null) return { dueAt: waiting.dueAt }
      const now = clock.now()
      const removal = { id: randomUUID(), dueAt: new Date(now.getTime() + delaySeconds * 1000) }
      const reached = reachedContacts(account)
      await limits.charge(reached.flatMap(({ identifier }) => limits.counters.removalNotices(identifier)))
      const messages = noticesOf(account, removal, reached)
      const actor = currentRequest()?.actor ?? { type: 'system', id: null, name: null }
      const requested = await store.request(account, { ...removal, actor }, messages, now)
      if (requested === null) throw new AppError('two_factor_not_enabled')
      return { dueAt: requested.dueAt }
    },
    /**
     * Sends the notice of the removal that waits once more, with the same link, and changes nothing of the removal. Gives where it
     * goes, and the seconds until it can be sent again; null where none waits (any more), or it is due.
     */
    async tellAgain(account: Account): Promise<{ sentTo: string[]; waitSeconds: number } | null> {
      const waiting = await store.find(account.id)
      if (waiting === null) return null
      const { admitted, waitSeconds } = await admittedAgain(reachedContacts(account))
      const messages = noticesOf(account, waiting, admitted)
      const told = await store.tellAgain(waiting.id, messages, clock.now())
      return told ? { sentTo: messages.map(({ destination }) => destination), waitSeconds } : null
    },
    /** Its name, for the page. */
    service: serviceName(config),
    draw: createLinkPages(config),
    done: createDone('stop done', needs),
    accountPath: config.pages.enabled ? '/account' : null,
    /**
     * Tells whether the removal waits to which the token of a link belongs. Only tokens that were made here cost a look.
     */
    async waits(token: string): Promise<boolean> {
      const id = links.idOf(token)
      return id !== null && store.waits(id)
    },
    /** Stops it by the token of a link. It returns false where there is nothing to stop (any more). */
    async stop(token: string): Promise<boolean> {
      const id = links.idOf(token)
      const stopped = id !== null && (await store.stop(id, clock.now()))
      if (stopped) tellOperator('operator_removal_stopped')
      return stopped
    },
    /** The removal that waits for the account, by an administrator. It returns false where none waits (any more). */
    async cancel(account: Account): Promise<boolean> {
      const waiting = await store.find(account.id)
      return waiting !== null && store.stop(waiting.id, clock.now())
    },
    /** Does what is due; gives how many. Housekeeping calls it. */
    async removeDue(now: Date, limit: number): Promise<number> {
      const due = await store.listDue(now, limit)
      for (const one of due) await removeOne(one)
      return due.length
    },
  }
}
