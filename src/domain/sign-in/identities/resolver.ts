/**
 * Finds the account that an identity opens. Only issuer and subject identify a person. An e-mail address opens an account
 * only if the provider is authoritative for it and the account has verified it, and only at the first sign-in.
 */

import { randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import { nothingDecided } from '../../accounts/admission/question.ts'
import type { Admission, Entry } from '../../accounts/admission/service.ts'
import {
  type Account,
  type AccountSession,
  hasVerified,
  provedContact,
  requireOrdinary,
} from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import { requireRemoval, usableMethods } from '../../accounts/core/sign-in-methods-sql.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { ProvedIdentity } from '../../credentials/providers/provider.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Source } from '../../foundation/limits/callers.ts'
import type { NoticePurpose } from '../../messages/outbox/message.ts'
import { type ClaimAccount, noAccount } from '../../sessions/tokens/account-claims.ts'
import type { EmailOfNew, IdentityStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  admission: Admission
  providers: ProviderService
  notices: OwnerNotices
  stores: { identities: IdentityStore; accounts: AccountStore }
}

interface Client extends Source {
  language: Language
}

/** More than anybody has; each is a way in that its owner has to know. */
export const MAXIMUM_IDENTITIES = 10

/** An attempt fails only because another call completed something in between, so a few are enough. */
const TRIES = 10

export type IdentityResolver = ReturnType<typeof createIdentityResolver>

export function createIdentityResolver(needs: Needs) {
  const { admission, providers, notices, clock, config } = needs
  const { identities: store, accounts } = needs.stores
  const { accountableType, roleId } = config.accounts
  const usable = usableMethods(providers.names, config)

  /** A provider that is no longer configured has only its name. */
  function noticesFor(account: Account, purpose: NoticePurpose, provider: string) {
    const label = providers.names.includes(provider) ? providers.get(provider).label : provider
    return notices.about(account, purpose, { values: { provider: label } })
  }

  /** The account that has verified the e-mail address of the identity. */
  async function ownerOf({ email }: ProvedIdentity): Promise<Account | null> {
    const account = email && (await accounts.findByIdentifier(email.address, 'provider'))
    return account && hasVerified(account, email.address) ? account : null
  }

  const mayLink = ({ email }: ProvedIdentity) =>
    email?.authoritative === true && config.social.linkByEmail === 'authoritative'

  /** A new account does not get an e-mail address that another account has verified, whose owner had it before. */
  function emailOfNew({ email }: ProvedIdentity, owner: Account | null): EmailOfNew {
    if (email === null || owner !== null) return 'none'
    return email.authoritative ? 'verified' : 'claimed'
  }

  /** The contact that a new account would verify. */
  const provedBy = ({ email }: ProvedIdentity) => (email?.authoritative ? email.address : null)

  /** The registration that becomes the account. */
  async function registrationOf(proved: Identifier | null): Promise<Account | null> {
    const waiting = proved && (await accounts.findByIdentifier(proved, 'confirmation'))
    return waiting && waiting.waitingFor === proved.key && waiting.origin === null ? waiting : null
  }

  async function refusalOf(identity: ProvedIdentity, entry: Entry) {
    const proved = provedBy(identity)
    return admission.refusal(entry, proved, await registrationOf(proved))
  }

  /** Gives the account the uuid that was told. */
  async function decide(
    { provider }: ProvedIdentity,
    proved: Identifier | null,
    entry: Entry,
    client: Client,
  ) {
    if (!admission.asks) return { uuid: randomUUID(), isTold: false, decision: nothingDecided }
    const waiting = await registrationOf(proved)
    const uuid = waiting?.uuid ?? randomUUID()
    const contact = proved && provedContact(proved, proved.destination)
    const person = { account: uuid, contact, provider, profile: null, language: client.language }
    const decision = await admission.decide(entry, { identifier: proved, waiting }, person, client)
    return { uuid, isTold: true, decision }
  }

  /** It returns null if something relevant changed in the meantime. */
  async function findOrOpen(identity: ProvedIdentity, client: Client, entry: Entry) {
    const account = await store.findAccount(identity)
    if (account) return account
    const owner = await ownerOf(identity)
    if (owner && !mayLink(identity)) throw new AppError('account_exists')
    if (owner) {
      requireOrdinary(owner)
      const about = await noticesFor(owner, 'identity_linked', identity.provider)
      if (await store.linkByEmail(owner, identity, about, clock.now())) return owner
    }
    const email = emailOfNew(identity, owner)
    const proved = email === 'verified' ? provedBy(identity) : null
    const { decision, ...told } = await decide(identity, proved, entry, client)
    const fresh = { ...told, language: client.language, accountableType, roleId }
    const permit = admission.permit(entry, proved, decision)
    const opened = await store.open(identity, fresh, email, permit, clock.now())
    const refusal = opened === null ? await refusalOf(identity, entry) : null
    if (refusal !== null) throw refusal
    return opened
  }

  return {
    /** Throws what would refuse a new account for the identity, before anything is used up. */
    async requireEntry(identity: ProvedIdentity, entry: Entry): Promise<void> {
      if ((await store.findAccount(identity)) ?? (await ownerOf(identity))) return
      const refusal = await refusalOf(identity, entry)
      if (refusal !== null) throw refusal
    },
    /**
     * The account that it opens. At the first sign-in an account is found for it, or created. An account that has
     * verified its e-mail address keeps it, unless the provider is authoritative enough to open that account.
     */
    async accountOf(identity: ProvedIdentity, client: Client, entry: Entry): Promise<Account> {
      for (let tries = 1; ; tries++) {
        const account = await findOrOpen(identity, client, entry)
        if (account) return account
        if (tries === TRIES) throw new Error('an identity changed hands too often')
      }
    },
    /**
     * The account that it would open, as far as it can be known while nothing is changed; of a new one what claims need.
     * It returns null where `accountOf` refuses it.
     */
    async foresee(identity: ProvedIdentity): Promise<ClaimAccount | null> {
      const account = await store.findAccount(identity)
      if (account) return account
      const owner = await ownerOf(identity)
      if (owner) return mayLink(identity) ? owner : null
      const email = emailOfNew(identity, owner)
      return {
        ...noAccount,
        ...{ uuid: randomUUID(), accountableType, roleId },
        email: email === 'none' ? null : '',
        emailConfirmedAt: email === 'verified' ? clock.now() : null,
      }
    },
    /**
     * Links it to the account and notifies the owner. It returns false if it is linked to an account already, or if there
     * are too many.
     */
    async link(signedIn: AccountSession, identity: ProvedIdentity): Promise<boolean> {
      const notices = await noticesFor(signedIn.account, 'identity_linked', identity.provider)
      return store.link(signedIn, identity, MAXIMUM_IDENTITIES, notices, clock.now())
    },
    /** Refuses where the account has no identity of that provider, or where nothing else would open it. */
    async requireUnlinkable({ id }: Account, provider: string): Promise<void> {
      const foreseen = await store.foreseeRemoval(id, { provider }, usable)
      requireRemoval({ ...foreseen, lives: true }, 'identity_not_found')
    },
    /** Removes the identities of that provider and notifies the owner. */
    async unlink(signedIn: AccountSession, provider: string): Promise<void> {
      const about = await noticesFor(signedIn.account, 'identity_unlinked', provider)
      const removal = await store.unlink(signedIn, { provider }, provider, usable, about, clock.now())
      requireRemoval(removal, 'identity_not_found')
    },
  }
}
