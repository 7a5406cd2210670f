/**
 * Decides who may do what in administration. Every route has an entry in the table of admin-app.ts that says which
 * scope it asks for; what a caller holds is decided here, and nowhere else.
 */

import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import type { Guard } from '../../platform/http/guard.ts'
import { AppError } from '../../texts/errors.ts'

export const scopes = [
  'accounts:read',
  'accounts:write',
  'accounts:recover',
  'accounts:export',
  'accounts:erase',
  'limits:write',
  'sessions:write',
  'sessions:watch',
  'messages:read',
  'messages:write',
  'events:read',
  'invitations:read',
  'invitations:write',
  'tokens:write',
] as const
export type Scope = (typeof scopes)[number]

export const roles = ['viewer', 'support', 'owner'] as const
export type Role = (typeof roles)[number]

/**
 * The right that a route asks for. `owner` is an administrator with that role, or the operator, and never a token.
 * `page` is an administrator who is signed in on the page, `operator` is anybody who may open the socket, and `open`
 * asks for nothing.
 */
export type Access = Scope | 'owner' | 'page' | 'operator' | 'open'

export interface AdminRoute {
  method: string
  /** The path as it is mounted: `/admin/v1/accounts/:uuid`. */
  path: string
  /** The name in the OpenAPI document. */
  operation: string
  access: Access
  /** On the page it asks for password and second factor, if they are older than five minutes. */
  destructive: boolean
  file: string
}

/** Somebody who may open the socket; `name` is the login name that the command line gives. */
interface Operator {
  type: 'operator'
  id: string | null
  name: string | null
}

export interface TokenCaller {
  type: 'token'
  id: string
  name: string
  scopes: readonly Scope[]
  /** Address ranges; empty: from everywhere. */
  addresses: readonly string[]
  expiresAt: Date
}

/** An account that is an administrator, signed in on the page. */
export interface AdministratorCaller {
  type: 'administrator'
  /** The uuid of the account. */
  id: string
  /** It is null because events must not name a person who may be erased. */
  name: null
  role: Role
  sessionId: string
}

/** The caller of a route that is open. */
interface AnonymousCaller {
  type: 'nobody'
  id: null
  name: null
}

export type AdminCaller = Operator | TokenCaller | AdministratorCaller | AnonymousCaller

/** It says who calls: routes of administration are built on it, and it guards those that are not. */
export type AdminBase = Guard<AdminCaller>

/** Refuses callers who are not signed in on the page. */
export function administratorOf(caller: AdminCaller): AdministratorCaller {
  if (caller.type !== 'administrator') throw new AppError('insufficient_scope')
  return caller
}

const scopesOfRole: Record<Role, readonly Scope[]> = {
  viewer: ['accounts:read', 'messages:read', 'events:read', 'invitations:read'],
  support: [
    'accounts:read',
    'accounts:write',
    'accounts:recover',
    'limits:write',
    'sessions:write',
    'messages:read',
    'messages:write',
    'events:read',
    'invitations:read',
  ],
  owner: scopes,
}

export function scopesOf(caller: AdminCaller): readonly Scope[] {
  if (caller.type === 'operator') return scopes
  if (caller.type === 'nobody') return []
  return caller.type === 'token' ? caller.scopes : scopesOfRole[caller.role]
}

/** The fields that support staff may change of an account. */
const SUPPORT_FIELDS = new Set(['locked', 'locked_reason'])

type Body = Record<string, unknown> | null

/** The operations that support staff may use of the scopes they have in part. Each operation itself adds its delay. */
const supportMay: Partial<Record<Scope, Record<string, (body?: Record<string, unknown>) => boolean>>> = {
  'accounts:write': {
    'PATCH /admin/v1/accounts/:uuid': (body = {}) =>
      Object.keys(body).every((field) => SUPPORT_FIELDS.has(field)),
    // Of a registration alone, as its operation checks, and never vouching for the contact.
    'PUT /admin/v1/accounts/:uuid/email': ({ verified } = {}) => verified !== true,
    'PUT /admin/v1/accounts/:uuid/phone': ({ verified } = {}) => verified !== true,
  },
  'accounts:recover': {
    'POST /admin/v1/accounts/:uuid/access-code': ({ send, remove_factors } = {}) =>
      (send === 'email' || send === 'sms') && remove_factors !== true,
    'DELETE /admin/v1/accounts/:uuid/two-factor': () => true,
    'DELETE /admin/v1/accounts/:uuid/two-factor/removal': () => true,
    // It gives nobody more than the link gives that waits at the former contact.
    'DELETE /admin/v1/accounts/:uuid/contact-changes/:id': () => true,
  },
}

/** The scopes that somebody with this role holds wholly: a token with others may do more than they may. */
const wholeScopesOf = (role: Role): readonly Scope[] =>
  scopesOfRole[role].filter((scope) => role !== 'support' || supportMay[scope] === undefined)

/**
 * Returns the things that may stay of those that an administrator with this role made or began; with null, none may.
 */
export const allowedFor = (role: Role | null) => ({
  scopes: role === null ? [] : wholeScopesOf(role),
  seesCodes: role === 'owner',
  removesTwoFactors: role === 'owner' || role === 'support',
})

type Wanted = Pick<AdminRoute, 'method' | 'path' | 'access'>

function mayCall(caller: AdminCaller, { method, path, access }: Wanted, body: Body): boolean {
  if (access === 'open') return true
  if (access === 'page') return caller.type === 'administrator'
  if (caller.type === 'operator') return true
  if (access === 'operator') return false
  if (access === 'owner') return caller.type === 'administrator' && caller.role === 'owner'
  if (!scopesOf(caller).includes(access)) return false
  const isSupport = caller.type === 'administrator' && caller.role === 'support'
  const limited = isSupport ? supportMay[access] : undefined
  return limited === undefined || limited[`${method} ${path}`]?.(body ?? {}) === true
}

export function requireAccess(caller: AdminCaller, route: Wanted, body: Body): void {
  if (!mayCall(caller, route, body)) throw new AppError('insufficient_scope')
}

/** Refuses everybody but an owner and the operator: nobody else may ask who the administrators are. */
export const requireOwner = (caller: AdminCaller): void =>
  requireAccess(caller, { method: 'GET', path: '', access: 'owner' }, null)

/** Tells whether the caller may change contacts of a registration alone, as long as it is what somebody registered. */
export const correctsRegistrations = (caller: AdminCaller): boolean =>
  caller.type === 'administrator' && caller.role === 'support'

/** Tells whether the caller's removal of two factors waits, so that the owner can stop it. */
export const isDelayed = (caller: AdminCaller): boolean =>
  caller.type === 'administrator' && caller.role === 'support'

/**
 * Tells whether the limits of an account bind the caller who lifts them: who may lift them at will may guess passwords
 * and codes at will.
 */
export const liftsAreCounted = (caller: AdminCaller): boolean =>
  caller.type === 'token' || (caller.type === 'administrator' && caller.role !== 'owner')

/** Tells whether an account that is an administrator is out of the caller's reach. */
export const isKeptFromAdministrators = (caller: AdminCaller): boolean =>
  caller.type === 'token' || (caller.type === 'administrator' && caller.role === 'support')

/** The account of a path below `/admin/v1/accounts`: the guard and the operation both read it here, in one spelling. */
export function readAccountUuid(named: string): string {
  if (!isUuid(named)) throw new AppError('account_not_found')
  return named.toLowerCase()
}
