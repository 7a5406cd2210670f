/**
 * Decides who may open an account. Every way that opens one asks here: `read` checks the call itself, before any code
 * is looked at, and `permit` is part of the statement that opens the account (permit-sql.ts). `refusal` says why that
 * statement opened none.
 */

import type { Ground } from '../../../platform/ground.ts'
import type { ValuesOf } from '../../../platform/postgres/statement.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TestIdentities, TestIdentity } from '../../foundation/test-identities/service.ts'
import type { Account } from '../core/account.ts'
import type { EntryBody } from './entry-schema.ts'
import { readInvitation } from './invitation-codes.ts'
import type { permitParamTypes } from './permit-sql.ts'
import { type Decision, type Newcomer, nothingDecided, type Question } from './question.ts'
import type { Invitation, InvitationStore } from './store.ts'

/** The fields that a call sent which may open an account, once they were checked. */
export interface Entry {
  invitation: Invitation | null
  /** The version that has to be accepted, if the call accepts it. */
  terms: string | null
  /** The contact is a test identity: no mode, domain or invitation matters. */
  test: TestIdentity | null
}

export const noEntry: Entry = { invitation: null, terms: null, test: null }

export type Permit = ValuesOf<typeof permitParamTypes>

/** A registration that waits, as far as it matters here. */
type WaitingRegistration = Pick<Account, 'invitationId' | 'termsVersion' | 'origin'>

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  testIdentities: Pick<TestIdentities, 'find'>
  limits: LimitService
  question: Question
  stores: { invitations: InvitationStore }
}

/** True if the account has yet to accept this version of the terms; an empty one stands for none. */
export const lacksTerms = (account: Pick<Account, 'termsVersion' | 'testIdentity'>, terms: string): boolean =>
  terms !== '' && !account.testIdentity && account.termsVersion !== terms

export const termsRequired = (terms: string) => new AppError('terms_required', { terms })

/** The domain of an address in comparable form. */
export const domainOf = (identifier: Identifier | null): string | null =>
  identifier?.kind === 'email' ? identifier.key.slice(identifier.key.indexOf('@') + 1) : null

export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(needs: Needs) {
  const { testIdentities, limits, question, config } = needs
  const { registration: mode, registrationDomains: domains } = config.accounts
  const terms = config.accounts.terms === '' ? null : config.accounts.terms
  const isListed = (identifier: Identifier | null) => isAmong(domains, identifier)
  const { isUsable, findUsable, findInvitation, readInvitationOf } = createInvitationReader(needs)

  const accepted = (typed: EntryBody['terms']) => (terms !== null && typed === terms ? terms : null)

  function requireTerms(typed: EntryBody['terms'], needsTerms: boolean): void {
    const isMissing = typeof typed !== 'string' || typed === ''
    if (terms !== null && typed !== terms && (needsTerms || !isMissing)) throw termsRequired(terms)
  }

  async function read(
    body: EntryBody,
    named: Identifier,
    client: Source,
    { needsTerms = false }: { needsTerms?: boolean } = {},
  ): Promise<Entry> {
    const test = await testIdentities.find(named)
    const invitation = test ? null : await readInvitationOf(body.invitation, client)
    if (invitation && !fits(invitation, [named])) throw new AppError('invalid_invitation')
    requireTerms(body.terms, needsTerms)
    return { invitation, terms: accepted(body.terms), test }
  }

  return {
    /** The version of the terms that has to be accepted; null: none. */
    terms,
    /** It is false if everybody may open an account with any contact. */
    isRestricted: mode !== 'open' || domains.length > 0 || terms !== null,
    /**
     * Reads the contacts and fields that the body of a call names. `named`: the contact that it would prove.
     * `needsTerms`: without the terms it opens nothing, whatever waits.
     */
    read,
    /** For a provider, whose contact is not known yet. */
    async readForProvider(body: EntryBody, client: Source): Promise<Entry> {
      const invitation = await readInvitationOf(body.invitation, client)
      return { ...noEntry, invitation, terms: accepted(body.terms) }
    },
    /**
     * The invitation of a registration; `primary` is the contact to which its code goes. `requireContact` then checks the
     * contacts.
     */
    async readRegistration(
      body: EntryBody,
      primary: Identifier | null,
      client: Source,
    ): Promise<Entry & { domain: string | null }> {
      const test = primary && (await testIdentities.find(primary))
      if (test) return { ...noEntry, terms: accepted(body.terms), test, domain: null }
      if (mode === 'closed') throw new AppError('registration_closed')
      const invitation = await readInvitationOf(body.invitation, client)
      if (mode === 'invitation' && invitation === null) throw new AppError('registration_closed')
      const domain = invitation?.domain ?? null
      return { ...noEntry, invitation, terms: accepted(body.terms), domain }
    },
    requireContact({ domain, test }: Entry & { domain: string | null }, identifiers: Identifier[]): void {
      if (test) return
      if (!fits({ domain }, identifiers)) throw new AppError('invalid_invitation')
      if (!identifiers.some(isListed)) throw new AppError('domain_not_allowed')
    },
    /** Refuses an address of another domain for an account that is about to get it. */
    requireDomain(identifier: Identifier): void {
      if (identifier.kind === 'email' && !isListed(identifier)) throw new AppError('domain_not_allowed')
    },
    /** It serves somebody who has an account. */
    findInvitation,
    /** It serves a page that says what an invitation gives. Nobody guesses 80 random bits, so a wrong one is not counted. */
    findUsable,
    /** Tells whether the account has the verified address that the invitation asks for. */
    isFor: (
      { domain }: Invitation,
      { emailKey, emailConfirmedAt }: Pick<Account, 'emailKey' | 'emailConfirmedAt'>,
    ): boolean => domain === null || (emailConfirmedAt !== null && emailKey?.split('@')[1] === domain),
    /**
     * Tells whether a call that names an identifier could open an account for it. Never throws for what the call names.
     */
    async couldOpen({ invitation: typed }: EntryBody, identifier: Identifier, client: Source) {
      if ((await testIdentities.find(identifier)) !== null) return true
      const names = typeof typed === 'string' && typed !== ''
      const invitation = names && mode !== 'closed' ? await findUsable(typed) : null
      if (names && invitation === null)
        await limits.admits(limits.counters.wrongInvitations(client.addressBucket))
      if (mode === 'closed' || !isListed(identifier)) return false
      return names ? invitation !== null && fits(invitation, [identifier]) : mode === 'open'
    },
    /** Returns the parameters that the statement checks. `proved`: the contact that the call proves; null: none. */
    permit: (
      { invitation, terms: ownTerms, test }: Entry,
      proved: Identifier | null,
      decision = nothingDecided,
    ): Permit => ({
      ...decision,
      admissionMode: test ? 'open' : mode,
      isContactAdmitted: test !== null || isListed(proved),
      ownInvitation: invitation?.hash ?? null,
      isTest: test !== null,
      provedDomain: domainOf(proved),
      ownTerms,
      requiredTerms: terms,
    }),
    ...createDecision(needs, isUsable),
    /** True if a program of the team decides: then a code is used up only after its answer. */
    asks: question.isConfigured,
  }
}

const fits = ({ domain }: Pick<Invitation, 'domain'>, contacts: (Identifier | null)[]) =>
  domain === null || contacts.some((contact) => domainOf(contact) === domain)

/** Tells whether an address may be there where only some domains may. */
function isAmong(domains: readonly string[], identifier: Identifier | null): boolean {
  if (domains.length === 0) return true
  const domain = domainOf(identifier)
  return (
    domain !== null &&
    domains.some((each) => (each.startsWith('*.') ? domain.endsWith(each.slice(1)) : domain === each))
  )
}

/** Why an account is not opened, and what the team's own program says of one that could be. */
function createDecision({ question, config, stores }: Needs, isUsable: (invitation: Invitation) => boolean) {
  const { registration: mode, registrationDomains: domains } = config.accounts
  const terms = config.accounts.terms === '' ? null : config.accounts.terms
  const { invitations } = stores

  /** The fields that the registration named count if nobody else registered the contact. */
  async function keptOf(waiting: WaitingRegistration | null, contact: Identifier, tag: Uint8Array | null) {
    if (waiting === null || (waiting.invitationId === null && waiting.termsVersion === null)) return null
    return (await invitations.isContested(contact.key, tag)) ? null : waiting
  }

  /** `id`: of the invitation that would be spent; null: there is none. */
  async function refusalOfInvitation(id: number | null, proved: Identifier | null) {
    if (mode === 'closed') return 'registration_closed'
    if (id === null) return mode === 'invitation' ? 'registration_closed' : null
    const invitation = await invitations.findById(id)
    return invitation && isUsable(invitation) && fits(invitation, [proved]) ? null : 'invalid_invitation'
  }

  /** Says why an account is not opened. It is null if the reason is not one of this room. `tag`: of the password that the call names. */
  async function refusal(
    entry: Entry,
    proved: Identifier | null,
    waiting: WaitingRegistration | null,
    tag: Uint8Array | null = null,
  ): Promise<AppError | null> {
    if (waiting !== null && waiting.origin !== null) return null
    const kept = proved && (await keptOf(waiting, proved, tag))
    if (entry.test)
      return terms === null || (entry.terms ?? kept?.termsVersion) === terms ? null : termsRequired(terms)
    const refused = await refusalOfInvitation(entry.invitation?.id ?? kept?.invitationId ?? null, proved)
    if (refused !== null) return new AppError(refused)
    if (!isAmong(domains, proved)) return new AppError('domain_not_allowed')
    return terms === null || (entry.terms ?? kept?.termsVersion) === terms ? null : termsRequired(terms)
  }

  /** The invitation that the account would spend. */
  async function invitationFor({ invitation: own }: Entry, kept: WaitingRegistration | null) {
    const invitation = own ?? (kept?.invitationId ? await invitations.findById(kept.invitationId) : null)
    if (invitation === null) return null
    return { id: invitation.uuid, role_id: invitation.roleId, groups: invitation.groups }
  }

  /**
   * What the team's own program decides of somebody whom everything else permits; throws where it lets nobody in. Nobody
   * is asked about a test identity.
   */
  async function decide(
    entry: Entry,
    {
      identifier,
      waiting,
      tag = null,
    }: { identifier: Identifier | null; waiting: WaitingRegistration | null; tag?: Uint8Array | null },
    person: Omit<Newcomer, 'invitation'>,
    { addressBucket }: Source,
  ): Promise<Decision> {
    if (!question.isConfigured || entry.test) return nothingDecided
    const refused = await refusal(entry, identifier, waiting, tag)
    if (refused !== null) throw refused
    const kept = identifier && (await keptOf(waiting, identifier, tag))
    const invitation = await invitationFor(entry, kept)
    // Two accounts may be about to open for one contact.
    const contacts = identifier ? [`about ${identifier.key}`] : []
    return question.ask({ ...person, invitation }, [`from ${addressBucket}`, ...contacts])
  }

  /** Tells whether what the registration named is enough of the terms, so that the call need not accept them. */
  async function hasAccepted(
    entry: Entry,
    waiting: WaitingRegistration | null,
    contact: Identifier,
    tag: Uint8Array | null,
  ): Promise<boolean> {
    if (terms === null || entry.terms !== null || waiting?.origin) return true
    // Asked also where nothing waits, so that the answer takes the same time.
    const isContested = await invitations.isContested(contact.key, tag)
    return !isContested && waiting?.termsVersion === terms
  }

  return { refusal, decide, hasAccepted }
}

/** Invitations as calls name them. A wrong one is counted by the address of the client. */
function createInvitationReader({ limits, clock, config, stores: { invitations } }: Needs) {
  const isUsable = ({ used, uses, revokedAt, expiresAt }: Invitation) =>
    used < uses && revokedAt === null && expiresAt > clock.now()

  /** It returns null where it does not hold. A right one is never refused for what others tried. */
  async function findUsable(typed: string): Promise<Invitation | null> {
    const hash = readInvitation(typed)
    const found = hash && (await invitations.findByHash(hash))
    return found && isUsable(found) ? found : null
  }

  async function readInvitationOf(typed: EntryBody['invitation'], client: Source) {
    if (typeof typed !== 'string' || typed === '') return null
    if (config.accounts.registration === 'closed') throw new AppError('registration_closed')
    return findInvitation(typed, client)
  }

  async function findInvitation(typed: string, client: Source): Promise<Invitation> {
    const found = await findUsable(typed)
    if (found !== null) return found
    await limits.charge(limits.counters.wrongInvitations(client.addressBucket))
    throw new AppError('invalid_invitation')
  }

  return { isUsable, findUsable, findInvitation, readInvitationOf }
}
