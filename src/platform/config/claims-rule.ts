/** The rule of `[tokens.claims]`: what access tokens say of an account beside the claims of poterne's own. */

import { closest } from 'fastest-levenshtein'
import { isTable } from '../../texts/table.ts'
import { createRule, type Reading } from './rules.ts'

const claimSources = [
  'role',
  'role_id',
  'groups',
  'username',
  'accountable_type',
  'accountable_id',
  'email_verified',
  'phone_verified',
  'language',
] as const

type Scalar = string | number | boolean

/** `metadata.NAME` is a key of the JSON object that the operator keeps with the account. */
export type ClaimSource = (typeof claimSources)[number] | `metadata.${string}`

export type ClaimConfig = { name: string } & (
  | { value: Scalar }
  | {
      from: ClaimSource
      /** It is null if there is none. */
      default: Scalar | null
      required: boolean
    }
)

/** The claims that an access token has, whatever else it says; beside them it may have `client_id`. */
export const ownClaims = [
  'iss',
  'aud',
  'sub',
  'sid',
  'jti',
  'iat',
  'exp',
  'auth_time',
  'amr',
  'role_id',
] as const

/** Those that poterne writes, those by which verifiers decide, and names that programs trip over. */
const reservedClaims = [
  ...ownClaims,
  'nbf',
  ...[
    'acr',
    'azp',
    'nonce',
    'at_hash',
    'c_hash',
    's_hash',
    'client_id',
    'scope',
    'scp',
    'cnf',
    'act',
    'may_act',
  ],
  ...['authorization_details', 'events', 'sub_id', 'sub_jwk', 'txn', 'toe', 'htm', 'htu', 'ath', 'vct', 'vp'],
  ...[
    '_claim_names',
    '_claim_sources',
    'token_introspection',
    'typ',
    'alg',
    'kid',
    'jwk',
    'jku',
    'x5c',
    'x5u',
    'crit',
  ],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'toJSON', 'then'],
]

const MAXIMUM_CLAIMS = 32
const isScalar = (raw: unknown): raw is Scalar =>
  typeof raw === 'string' || typeof raw === 'boolean' || (typeof raw === 'number' && Number.isFinite(raw))

const isSource = (text: string): text is ClaimSource =>
  (claimSources as readonly string[]).includes(text) || /^metadata\..{1,100}$/s.test(text)

const example = {
  role: { from: 'role' },
  plan: { from: 'metadata.plan', default: 'free' },
  tenant: { value: 'acme' },
}

interface ClaimOptions {
  example?: Record<string, unknown>
  /** Further names that a claim may not have. */
  taken?: readonly string[]
}

export function claims(doc: string, { example: shown = example, taken = [] }: ClaimOptions = {}) {
  const expected = 'a table of claims, each { from = "…" } or { value = "…" }'
  const read = (raw: unknown) => readClaims(raw, [...reservedClaims, ...taken])
  return createRule<ClaimConfig[]>(
    { kind: 'table of tables', doc, initial: {}, expected, suffix: '', read },
    { example: shown },
  )
}

function readClaims(raw: unknown, reserved: readonly string[]): Reading<ClaimConfig[]> {
  if (!isTable(raw)) return { wrong: raw }
  const entries = Object.entries(raw)
  if (entries.length > MAXIMUM_CLAIMS)
    return { wrong: null, reason: `expected at most ${MAXIMUM_CLAIMS} claims` }
  const value: ClaimConfig[] = []
  for (const [name, each] of entries) {
    const claim = isTable(each)
      ? readClaim(name, each, reserved)
      : 'expected { from = "…" } or { value = "…" }'
    if (typeof claim === 'string') return { wrong: null, reason: `${name}: ${claim}` }
    value.push(claim)
  }
  return { value }
}

/** It returns the problem as a text. */
function readClaim(
  name: string,
  raw: Record<string, unknown>,
  reserved: readonly string[],
): ClaimConfig | string {
  if (!/^[\x21-\x7e]{1,128}$/.test(name)) return 'expected a name of at most 128 printable ASCII characters'
  if (reserved.includes(name)) return 'this name is reserved, docs/people.md lists which are'
  const unknown = Object.keys(raw).find((key) => !['from', 'default', 'required', 'value'].includes(key))
  if (unknown !== undefined) return `unknown key ${unknown}; expected from, default, required or value`
  const { from, value, default: fallback = null, required = false } = raw
  if (value !== undefined) {
    if (Object.keys(raw).length > 1) return 'expected value alone'
    return isScalar(value) ? { name, value } : 'value: expected a text, a number, true or false'
  }
  if (typeof from !== 'string') return 'expected from or value'
  if (from.startsWith('profile'))
    return 'a profile is what its owner writes, and must not decide rights: keep it in metadata'
  if (!isSource(from))
    return `unknown source "${from}"; did you mean ${closest(from, [...claimSources, 'metadata.'])}?`
  if (fallback !== null && !isScalar(fallback)) return 'default: expected a text, a number, true or false'
  if (typeof required !== 'boolean') return 'required: expected true or false'
  return { name, from, default: fallback, required }
}
