/** A sign-in on the page between password and second factor: ten minutes, known by its cookie, kept as a hash. */

import { createHash } from 'node:crypto'
import type { Account } from '../../domain/accounts/core/account.ts'
import type { TicketStore } from '../../domain/foundation/tickets/store.ts'
import type { Clock } from '../../platform/clock.ts'

export interface PendingSignIn {
  /** The id that a passkey signs for. */
  id: string
  accountUuid: string
  /** An authenticator app that is about to be set up, sealed. */
  app: Uint8Array | null
  /** The account, with the password that it had when it was checked. */
  isFor(account: Account): boolean
  /** It returns true for exactly one of any number of callers. */
  take(): Promise<boolean>
}

export const PENDING_MS = 10 * 60_000

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
const passwordOf = ({ passwordDigest }: Account) => hashOf(passwordDigest ?? '')

interface Needs {
  clock: Clock
  stores: { tickets: TicketStore }
}

export function createPendingSignIns({ clock, stores: { tickets } }: Needs) {
  return {
    /** It replaces what this cookie named before. */
    async put(cookie: string, account: Account, app: Uint8Array | null): Promise<void> {
      const now = clock.now()
      const value = {
        account: account.uuid,
        password: passwordOf(account),
        app: app === null ? null : Buffer.from(app).toString('base64'),
      }
      await tickets.put(keyOf(cookie), value, new Date(now.getTime() + PENDING_MS), now)
    },
    async find(cookie: string): Promise<PendingSignIn | null> {
      const ticket = await tickets.find(keyOf(cookie), clock.now())
      if (ticket === null) return null
      const { account, password, app } = ticket as { account: string; password: string; app: string | null }
      return {
        id: hashOf(cookie),
        accountUuid: account,
        app: app === null ? null : new Uint8Array(Buffer.from(app, 'base64')),
        isFor: (other) => other.uuid === account && passwordOf(other) === password,
        take: async () => (await tickets.take(keyOf(cookie), clock.now())) !== null,
      }
    },
  }
}

const keyOf = (cookie: string) => `administration-sign-in:${hashOf(cookie)}`
