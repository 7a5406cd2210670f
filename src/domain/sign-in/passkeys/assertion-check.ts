/**
 * Checks the signature of a passkey and uses its challenge up: for signing in, and to confirm a change inside a
 * session.
 */

import type { Ground } from '../../../platform/ground.ts'
import type { AssertionBody } from '../../../platform/http/passkey-schemas.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { Authenticators } from '../../credentials/authenticators/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { PASSKEY_AGE_MS } from '../../sessions/core/recent-sign-in.ts'
import type { NewSession } from '../../sessions/core/session.ts'
import type { ConfirmByPasskey } from '../core/reauthentication.ts'
import { type ChallengePurpose, type Challenges, createChallenges } from './challenge.ts'
import { amrOf, type Passkey } from './passkey.ts'
import type { PasskeyStore, PasskeyUse, UseRefusal } from './store.ts'
import { causeOfRefusal, challengeOf, type RelyingParty, verifyAssertion } from './verification.ts'

/** A valid signature that was not used yet. */
type CheckedAssertion = PasskeyUse

interface Needs extends Pick<Ground, 'clock'> {
  notices: OwnerNotices
  authenticators: Pick<Authenticators, 'endRemoval'>
  events: GatheredEvents
  stores: { passkeys: PasskeyStore }
}

export type AssertionCheck = ReturnType<typeof createAssertionCheck>

export function createAssertionCheck(
  { notices, authenticators, events, clock, stores }: Needs,
  { challenges, relyingParty }: { challenges: Challenges; relyingParty: RelyingParty },
) {
  const store = stores.passkeys

  async function refused({ passkey, account }: CheckedAssertion, refusal: UseRefusal): Promise<AppError> {
    if (refusal === 'counter_fell') {
      const about = await notices.about(account, 'passkey_copied', { values: { passkey: passkey.name } })
      await store.tellCopy(passkey.id, about, clock.now())
      events.add('login.failed', account)
    }
    return new AppError('invalid_passkey')
  }

  const isYoung = ({ proved, createdAt }: Passkey) =>
    !proved && clock.now().getTime() - createdAt.getTime() < PASSKEY_AGE_MS

  /** A person who has a passkey has not lost every factor; a young one may be an intruder's. */
  async function noteUse({ account, passkey, removalWaits }: CheckedAssertion): Promise<void> {
    if (removalWaits && !isYoung(passkey)) await authenticators.endRemoval(account, 'passkey')
  }

  return {
    /**
     * A credential that no account has, and one that a session alone added a moment ago, are refused with codes of their
     * own.
     */
    async check(credential: AssertionBody, purpose: ChallengePurpose): Promise<CheckedAssertion> {
      const bytes = challengeOf(credential)
      const challenge = bytes && challenges.open(bytes, purpose)
      if (!challenge) throw new AppError('invalid_passkey')
      const found = await store.find(credential.id)
      if (found === null) {
        throw new AppError('unknown_passkey', {
          passkey: { rp_id: relyingParty.id, credential_id: credential.id },
        })
      }
      const assertion = await verifyAssertion(credential, bytes, relyingParty, found.passkey)
      if (assertion === null || found.passkey.rpId !== relyingParty.id) {
        throw new AppError('invalid_passkey', { cause: causeOfRefusal(credential, relyingParty) })
      }
      if (purpose.kind !== 'login' && isYoung(found.passkey)) throw new AppError('passkey_too_new')
      return { ...found, challenge, assertion }
    },

    /**
     * Uses the challenge up: of any number of callers with one signature exactly one succeeds. A used challenge is
     * refused, and so is a counter that went back, which means that the key was copied; then the owner is notified. A
     * removal of two factors that waits ends.
     */
    async spend(checked: CheckedAssertion): Promise<void> {
      const outcome = await store.use(checked, clock.now())
      if (outcome !== 'used') throw await refused(checked, outcome)
      await noteUse(checked)
    },

    /** The same, and opens the session with it. It returns null if the account has changed since it was read. */
    async signIn(checked: CheckedAssertion, session: NewSession): Promise<Account | null> {
      const outcome = await store.signIn(checked, session, clock.now())
      if (typeof outcome === 'string') throw await refused(checked, outcome)
      if (outcome !== null) await noteUse(checked)
      return outcome
    },
  }
}

/** The part that signing in depends on. */
export type PasskeyFoundation = ReturnType<typeof createPasskeyAssertions>

export function createPasskeyAssertions(
  needs: Needs & Parameters<typeof createChallenges>[0],
  relyingParty: RelyingParty,
) {
  const challenges = createChallenges(needs)
  const assertions = createAssertionCheck(needs, { challenges, relyingParty })
  const confirmByPasskey: ConfirmByPasskey = async ({ account, sessionId }, credential, kind = 'step_up') => {
    const checked = await assertions.check(credential, { kind, accountUuid: account.uuid, sessionId })
    if (checked.account.id !== account.id) throw new AppError('invalid_passkey')
    await assertions.spend(checked)
    return amrOf(checked.passkey)
  }
  return { challenges, assertions, relyingParty, confirmByPasskey }
}
