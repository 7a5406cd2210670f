/**
 * The second factors besides sent codes: authenticator apps and recovery codes. Attempts are counted by the callers. Only
 * accounts with two-factor sign-in have either; for others, and for accounts that do not exist, the work is the same and no
 * code is right. An app whose secret was sealed under another server secret counts as set up but never matches: recovery
 * codes work instead, and after them codes that are sent.
 */

import { serviceName } from '../../../platform/config/service-name.ts'
import type { Ground } from '../../../platform/ground.ts'
import type { SetUpFactor } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import { decoyAccount } from '../../foundation/decoys/decoys.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import type { TellOperator } from '../../messages/outbox/operator-notices.ts'
import { createEnrolment } from './enrolment.ts'
import type { EnrolmentStore } from './enrolment-store.ts'
import { createRecoveryCodes } from './recovery-codes.ts'
import type { FactorStore, StoredFactors } from './store.ts'
import { createTotp } from './totp.ts'

/** The factors of an account, read once for a call. */
export interface HeldFactors {
  /** It is null if the identifier has no account. */
  account: Account | null
  /** `lost`: it is set up, but its secret cannot be decrypted any more. */
  app: 'none' | 'usable' | 'lost'
  recoveryCodesLeft: number
  /** True if codes may be sent: there is no app, or it is lost and no recovery code is left to use first. */
  acceptsSentCodes: boolean
  stored: StoredFactors
}

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger' | 'secret'> {
  metrics?: Pick<Metrics, 'count'>
  notices: OwnerNotices
  tellOperator: TellOperator
  devices: Pick<KnownDevices, 'keptOf'>
  stores: { authenticators: FactorStore; enrolments: EnrolmentStore }
}

const LISTED_AT_ONCE = 500

export type Authenticators = ReturnType<typeof createAuthenticators>

export function createAuthenticators(needs: Needs) {
  const { notices, tellOperator, secret, clock, config, logger, metrics = noMetrics } = needs
  const totp = createTotp({ secret, issuer: serviceName(config) })
  const recoveryCodes = createRecoveryCodes({ secret })
  const { authenticators: store } = needs.stores

  const idOf = (account: Account | null) => (account?.twoFactorEnabled ? account.id : decoyAccount.id)

  async function endRemoval(account: Account, by: SetUpFactor): Promise<void> {
    const { removalAt } = await store.find(account.id, config.passkeys.rpId)
    if (removalAt === null) return
    const about = await notices.about(account, 'two_factor_kept')
    if (await store.endRemoval(account, by, about, clock.now())) tellOperator('operator_removal_stopped')
  }

  async function useAppCode({ account, stored: { sealedSecret } }: HeldFactors, typed: string) {
    const now = clock.now()
    const tryCode = async (sealed: Uint8Array | null) => {
      const step = totp.match(sealed, typed, now)
      const matched = sealed !== null && step !== null ? { sealedSecret: sealed, step } : null
      const factorTry = { totp: matched, recoveryHash: null, lostApp: null }
      if (await store.use(idOf(account), factorTry, now)) return 'right'
      return matched === null ? 'wrong' : 'spent'
    }
    const result = await tryCode(sealedSecret)
    if (result !== 'spent') return result
    // It was used before, or its secret was sealed anew since it was read.
    const { sealedSecret: present } = await store.find(idOf(account), config.passkeys.rpId)
    const isSame = present !== null && Buffer.from(present).equals(sealedSecret!)
    return isSame ? result : tryCode(present)
  }

  function heldBy(account: Account | null, stored: StoredFactors): HeldFactors {
    const { sealedSecret, recoveredAt, recoveryHashes } = stored
    const app = sealedSecret === null ? 'none' : totp.opens(sealedSecret) ? 'usable' : 'lost'
    return {
      account,
      app,
      recoveryCodesLeft: recoveryHashes.length,
      acceptsSentCodes:
        app === 'none' || (app === 'lost' && (recoveredAt !== null || recoveryHashes.length === 0)),
      stored,
    }
  }

  return {
    async find(account: Account | null): Promise<HeldFactors> {
      const held = heldBy(account, await store.find(idOf(account), config.passkeys.rpId))
      if (held.app === 'lost') {
        metrics.count('unreadable_rows_total', { kind: 'authenticator_app' })
        logger.error({ account: account?.uuid }, 'an authenticator app opens under no accepted server secret')
      }
      return held
    },
    /** The factors of those accounts that have two-factor sign-in, by one statement, in any order. */
    async findAll(accounts: Account[]): Promise<HeldFactors[]> {
      const byId = new Map(accounts.filter((one) => one.twoFactorEnabled).map((one) => [one.id, one]))
      if (byId.size === 0) return []
      const all = await store.findAll([...byId.keys()], config.passkeys.rpId)
      return all.map(({ accountId, ...stored }) => heldBy(byId.get(accountId)!, stored))
    },
    /**
     * Uses up a code of the app. If it was right, no removal of two factors waits any more. `spent`: one of the app, which has
     * accepted it or a later one before.
     */
    async useAppCode(held: HeldFactors, typed: string): Promise<'right' | 'spent' | 'wrong'> {
      const result = await useAppCode(held, typed)
      const { account, stored } = held
      if (result === 'right' && account !== null && stored.removalAt !== null)
        await endRemoval(account, 'totp')
      return result
    },
    /** Tells whether it is one of the app that is in use; nothing is used up. */
    matchesAppCode: ({ stored: { sealedSecret } }: HeldFactors, typed: string): boolean =>
      totp.match(sealedSecret, typed, clock.now()) !== null && sealedSecret !== null,
    /** The same for a recovery code. */
    matchesRecoveryCode: ({ account, stored }: HeldFactors, typed: string): boolean =>
      recoveryCodes.match(account?.uuid ?? '', typed, stored.recoveryHashes) !== null,
    /**
     * Somebody has just used the factor, which is not lost then: ends a removal of two factors that waits, and tells the owner
     * and the operator. Does nothing where none waits.
     */
    endRemoval,
    /** Tells whether the typed text has the form of a recovery code. */
    isRecoveryCode: recoveryCodes.isRecoveryCode,
    /** Uses up a recovery code and returns whether it was right. A notice to the owner says how many are left. */
    async useRecoveryCode({ account, app, stored }: HeldFactors, typed: string): Promise<boolean> {
      const recoveryHash = recoveryCodes.match(account?.uuid ?? '', typed, stored.recoveryHashes)
      const lostApp = app === 'lost' ? stored.sealedSecret : null
      return store.use(idOf(account), { totp: null, recoveryHash, lostApp }, clock.now())
    },
    /** Notifies the owner once if the app cannot be used any more. */
    async tellLoss({ account, app, stored: { sealedSecret, lossToldAt } }: HeldFactors): Promise<void> {
      if (account === null || sealedSecret === null || app !== 'lost' || lossToldAt !== null) return
      const about = await notices.about(account, 'authenticator_lost')
      await store.noteLoss(account.id, sealedSecret, about, clock.now())
    },
    /** Makes an app for somebody who is not signed in yet. It is stored nowhere. */
    createApp: totp.create,
    /** Tells whether a code is one of that app. */
    matchesApp: (sealedSecret: Uint8Array, typed: string): boolean =>
      totp.match(sealedSecret, typed, clock.now()) !== null,
    /** The number of apps whose secret was sealed under another server secret, or is damaged. */
    async countLost(): Promise<number> {
      let lost = 0
      let after = 0
      for (;;) {
        const apps = await store.listApps(after, LISTED_AT_ONCE)
        lost += apps.filter(({ sealedSecret }) => !totp.opens(sealedSecret)).length
        const last = apps.at(-1)
        if (last === undefined || apps.length < LISTED_AT_ONCE) return lost
        after = last.accountId
      }
    },
    ...createEnrolment({ ...needs, totp, recoveryCodes, endRemoval }),
  }
}
