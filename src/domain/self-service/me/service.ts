/** The account of somebody who is signed in, as a whole: reading it, its language, and erasing it. */

import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import { termsRequired } from '../../accounts/admission/service.ts'
import { requireOrdinary } from '../../accounts/core/account.ts'
import {
  type AccountRecord,
  accountRecord,
  type CarriedRecord,
  carriedRecord,
  verifiedRecord,
} from '../../accounts/core/account-schema.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import { mergeProfile, type ProfilePatch, readProfile } from '../../accounts/core/profile.ts'
import type { Roles } from '../../accounts/core/roles.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import { type EventRecord, eventRecord } from '../../foundation/events/event-schema.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../foundation/events/page.ts'
import type { EventStore } from '../../foundation/events/store.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { RefusedAddresses } from '../../messages/delivery/refused-addresses.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { Reauthentication } from '../../sign-in/core/reauthentication.ts'
import type { SecondFactor } from '../../sign-in/core/second-factor.ts'
import type { OwnerProof } from '../../sign-in/core/sign-in-schema.ts'
import type { Security } from './me-schema.ts'
import type { ErasureStore } from './store.ts'

export type OwnAccount = { account: AccountRecord } & ReturnType<typeof verifiedRecord> & CarriedRecord

interface OwnPatch {
  language?: Language | undefined
  profile?: ProfilePatch | undefined
  /** The version of the terms that the owner accepts. */
  terms?: string | undefined
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Roles
  limits: LimitService
  reauthentication: Reauthentication
  secondFactor: SecondFactor
  notices: OwnerNotices
  refusedAddresses: RefusedAddresses
  trustedDevices: Pick<TrustedDevices, 'list'>
  stores: { accounts: AccountStore; erasure: ErasureStore; events: EventStore }
}

export type MeService = ReturnType<typeof createMeService>

export function createMeService(needs: Needs) {
  const { stores, reauthentication, secondFactor, notices, refusedAddresses, trustedDevices, limits } = needs
  const { clock, config } = needs
  const store = stores.erasure
  const { roles } = needs
  const describe = (account: Authenticated['account']): OwnAccount => ({
    account: accountRecord(account, config.accounts.passwordDigest),
    ...verifiedRecord(account),
    ...carriedRecord(account, roles),
  })
  return {
    /** The current record, in the form in which login returns it, and what the account carries beside it. */
    describe: ({ account }: Authenticated): OwnAccount => describe(account),
    /** The language of messages to the owner, and the profile. */
    async change(
      signedIn: Authenticated,
      { language: wanted, profile, terms }: OwnPatch,
    ): Promise<OwnAccount> {
      const { account } = signedIn
      if (profile !== undefined || terms !== undefined) requireOrdinary(account)
      const language = wanted === account.language ? undefined : wanted
      const patch = profile && readProfile(profile, { mayHavePicture: false })
      if (terms !== undefined && terms !== config.accounts.terms) throw termsRequired(config.accounts.terms)
      await limits.charge(limits.counters.ownChanges(account.uuid))
      const accepts = terms === account.termsVersion ? undefined : terms
      if (language === undefined && patch === undefined && accepts === undefined) return describe(account)
      const merge = patch && ((before: typeof account.profile) => mergeProfile(before, patch))
      const changed = await stores.accounts.change(signedIn, { language, merge, terms: accepts }, clock.now())
      if (changed === null) throw new AppError('invalid_token', { cause: 'session_over' })
      return describe(changed)
    },
    async describeSecurity({ account }: Authenticated): Promise<Security> {
      const [held, counts, trusted, refusedAt] = await Promise.all([
        secondFactor.find(account),
        store.count(account.id, clock.now()),
        trustedDevices.list(account),
        account.email === null ? null : refusedAddresses.findRefusal(account.email),
      ])
      return {
        account,
        methods: account.twoFactorEnabled ? secondFactor.methods(held, true) : [],
        recoveryCodesLeft: held.recoveryCodesLeft,
        appAddedAt: held.stored.confirmedAt,
        removalAt: held.stored.removalAt,
        counts,
        trustedDevices: trusted,
        emailRefusedAt: refusedAt,
      }
    },
    /** Lists the events of the account, newest first. */
    async listEvents({ account }: Authenticated, query: PageQuery): Promise<Page<EventRecord>> {
      const { limit, after } = readPage(query)
      const found = await stores.events.list({ account: account.uuid }, after, limit + 1)
      return toPage(found, limit, eventRecord)
    },
    /** It cannot be undone. It throws the errors of Reauthentication. */
    async erase(
      signedIn: Authenticated,
      proof: OwnerProof,
      client: { addressBucket: string },
    ): Promise<void> {
      await reauthentication.require(signedIn, proof, client)
      const messages = await notices.about(signedIn.account, 'account_erased')
      if (!(await store.erase(signedIn, messages, clock.now()))) {
        throw new AppError('invalid_token', { cause: 'session_over' })
      }
    },
  }
}
