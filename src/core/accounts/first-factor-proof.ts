/**
 * "The first factor of this account was proved a moment ago": what a login of an account with two factors leaves for
 * the call that brings the second one. It holds for the account's password of that moment: another one set meanwhile
 * ends it.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { TicketStore } from '../tickets/store.ts'
import type { Account } from './account.ts'

type Proved = Pick<Account, 'uuid' | 'passwordDigest'>

/** By password, or through another provider (a value of its own, RFC 8176 has none). */
export type FirstFactor = 'pwd' | 'fed'

export interface FirstFactorProofs {
  readonly lifetimeSeconds: number
  /** `account` as it was when its first factor was judged. */
  remember(account: Proved, factor: FirstFactor): Promise<void>
  /** Which one was proved; null for none. */
  find(account: Proved): Promise<FirstFactor | null>
  forget(accountUuid: string): Promise<void>
}

const LIFETIME_SECONDS = 600

export function createFirstFactorProofs({
  tickets,
  clock,
}: {
  tickets: TicketStore
  clock: Clock
}): FirstFactorProofs {
  const key = (accountUuid: string) => `first-factor:${accountUuid}`
  const proofOf = ({ passwordDigest }: Proved) =>
    createHash('sha256')
      .update(passwordDigest ?? '')
      .digest('base64url')
  return {
    lifetimeSeconds: LIFETIME_SECONDS,
    async remember(account, factor) {
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      await tickets.put(key(account.uuid), { factor, proof: proofOf(account) }, expiresAt, now)
    },
    async find(account) {
      const ticket = await tickets.find(key(account.uuid), clock.now())
      return ticket?.proof === proofOf(account) ? (ticket.factor as FirstFactor) : null
    },
    forget: (accountUuid) => tickets.remove(key(accountUuid)),
  }
}
