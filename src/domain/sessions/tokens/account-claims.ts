/**
 * The claims of access tokens about an account beside poterne's own (`[tokens.claims]`). All of them together are
 * bounded, so that a token is never too long to be accepted: what does not fit is left out, and the operator is told.
 */

import type { Clock } from '../../../platform/clock.ts'
import type { ClaimConfig, ClaimSource } from '../../../platform/config/claims-rule.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { Logger } from '../../../platform/log/logging.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { Roles } from '../../accounts/core/roles.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import type { TellOperator } from '../../messages/outbox/operator-notices.ts'

/** The size as JSON. Without them a token has about 500 characters, of 4,096 that poterne accepts. */
export const CLAIMS_BYTES = 2048

export type ClaimValue = string | number | boolean | string[]

/** The columns from which claims are made. */
export const claimColumns = [
  'uuid',
  'id',
  'roleId',
  'groups',
  'username',
  'accountableType',
  'accountableId',
  'email',
  'emailConfirmedAt',
  'phone',
  'phoneConfirmedAt',
  'language',
  'metadata',
  'testIdentity',
] as const
export type ClaimAccount = Pick<Account, (typeof claimColumns)[number]>

/** The account from which claims are made where there is none yet. */
export const noAccount: ClaimAccount = {
  ...{ uuid: '', id: 0, roleId: 0, accountableType: '', accountableId: null, language: '' },
  ...{ username: null, groups: null, metadata: null },
  testIdentity: false,
  ...{ email: null, emailConfirmedAt: null, phone: null, phoneConfirmedAt: null },
}

interface Needs {
  config: Pick<Config, 'tokens'>
  roles: Pick<Roles, 'nameOf'>
  events: Pick<GatheredEvents, 'add'>
  tellOperator: TellOperator
  logger: Pick<Logger, 'warn'>
  clock: Clock
}

/** One line for each account and claim in this time. */
const TOLD_MS = 3_600_000
const MAXIMUM_TOLD = 10_000

export type AccountClaims = ReturnType<typeof createAccountClaims>

export function createAccountClaims(needs: Needs) {
  const { config, roles, events, tellOperator, logger, clock } = needs
  const configured = config.tokens.claims
  const hasRequired = configured.some((claim) => 'from' in claim && claim.required)
  const told = new Map<string, number>()

  const make = (account: ClaimAccount) => makeClaims(configured, account, roles)

  function tell(uuid: string, claim: string, type: 'token.incomplete' | 'token.claim_omitted'): void {
    events.add(type, { uuid })
    const key = `${uuid} ${claim}`
    const now = clock.now().getTime()
    if (now - (told.get(key) ?? Number.NEGATIVE_INFINITY) < TOLD_MS) return
    if (told.size >= MAXIMUM_TOLD) told.clear()
    told.set(key, now)
    logger.warn({ account: uuid, claim }, type === 'token.incomplete' ? INCOMPLETE : OMITTED)
    tellOperator('operator_claim_missing', claim)
  }

  function requireComplete(uuid: string, missing: string | null): void {
    if (missing === null) return
    tell(uuid, missing, 'token.incomplete')
    throw new AppError('account_incomplete', { cause: missing })
  }

  /** The claims of a token that is signed now. Throws for an incomplete account, and tells what did not fit. */
  function take({ uuid }: Pick<ClaimAccount, 'uuid'>, { claims, omitted, missing }: MadeClaims) {
    requireComplete(uuid, missing)
    for (const claim of omitted) tell(uuid, claim, 'token.claim_omitted')
    return claims
  }

  return {
    isConfigured: configured.length > 0,
    /** True if there are accounts for which no token is signed. */
    hasRequired,
    /** Makes them without telling anybody. */
    make,
    isComplete: (account: ClaimAccount): boolean => !hasRequired || make(account).missing === null,
    /**
     * The claims of a token that is signed now. An incomplete account is refused. The operator is told of that and of
     * what did not fit.
     */
    of(account: ClaimAccount): Record<string, ClaimValue> {
      return configured.length === 0 ? {} : take(account, make(account))
    },
    /** The same for claims that were made for one application. */
    take,
    /** Called before anything is written, so that no session opens whose token could not be signed. */
    require(account: ClaimAccount): void {
      if (hasRequired) requireComplete(account.uuid, make(account).missing)
    },
    /**
     * Returns the first claim, of a token or of these lists, that fitted before a change by an administrator and does not
     * after it; null if there is none.
     */
    findOverflow(
      before: ClaimAccount | null,
      after: ClaimAccount,
      ofApplications: readonly (readonly ClaimConfig[])[],
    ): string | null {
      const overflows = [configured, ...ofApplications].map((list) => {
        if (list.length === 0) return undefined
        const known = before === null ? [] : makeClaims(list, before, roles).omitted
        return makeClaims(list, after, roles).omitted.find((claim) => !known.includes(claim))
      })
      return overflows.find((claim) => claim !== undefined) ?? null
    },
  }
}

const INCOMPLETE = 'no access token was signed: the account lacks a claim that tokens.claims requires'
const OMITTED = 'a claim was left out of an access token: all claims together are at most 2,048 bytes'

export type MadeClaims = ReturnType<typeof makeClaims>

/** `omitted`: those that did not fit. `missing`: a required one that has no value or did not fit; null: none. */
export function makeClaims(
  configured: readonly ClaimConfig[],
  account: ClaimAccount,
  roles: Pick<Roles, 'nameOf'>,
) {
  const claims: Record<string, ClaimValue> = {}
  const omitted: string[] = []
  let missing: string | null = null
  let bytes = Buffer.byteLength('{}')
  for (const claim of configured) {
    const value = claimValue(claim, account, roles)
    const isRequired = 'from' in claim && claim.required
    if (value !== null) {
      const comma = bytes > 2 ? ',' : ''
      const size = Buffer.byteLength(`${comma}${JSON.stringify(claim.name)}:${JSON.stringify(value)}`)
      if (bytes + size <= CLAIMS_BYTES) {
        claims[claim.name] = value
        bytes += size
        continue
      }
      omitted.push(claim.name)
    }
    if (isRequired) missing ??= claim.name
  }
  return { claims, omitted, missing }
}

/** It is null if the account has none. */
function claimValue(
  claim: ClaimConfig,
  account: ClaimAccount,
  roles: Pick<Roles, 'nameOf'>,
): ClaimValue | null {
  if ('value' in claim) return claim.value
  return sourceOf(claim.from, account, roles) ?? claim.default
}

function sourceOf(from: ClaimSource, account: ClaimAccount, roles: Pick<Roles, 'nameOf'>): ClaimValue | null {
  switch (from) {
    case 'role':
      return roles.nameOf(account.roleId)
    case 'role_id':
      return account.roleId
    case 'groups':
      return account.groups ?? []
    case 'username':
      return account.username
    case 'accountable_type':
      return account.accountableType
    case 'accountable_id':
      return account.accountableId ?? account.id
    case 'email_verified':
      return account.email !== null && account.emailConfirmedAt !== null && !account.testIdentity
    case 'phone_verified':
      return account.phone !== null && account.phoneConfirmedAt !== null && !account.testIdentity
    case 'language':
      return account.language
    default:
      return scalarOf(account.metadata, from.slice('metadata.'.length))
  }
}

function scalarOf(metadata: Record<string, unknown> | null, name: string): ClaimValue | null {
  const value = metadata !== null && Object.hasOwn(metadata, name) ? metadata[name] : null
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
