/** The claims about an account that an application is told: by the scopes that were granted, and by its own list. */
import { describe, expect, test } from 'bun:test'
import { noAccount } from '../../src/domain/sessions/tokens/account-claims.ts'
import { claimsFor, type IdentityAccount } from '../../src/pages/applications/claims.ts'

const uuid = '0b8f0f52-6a6e-4a53-9a44-3c7a3b1f2d10'
const roles = { nameOf: (id: number) => (id === 7 ? 'editor' : String(id)) }
const now = new Date('2026-07-01T12:00:00Z')
const nobody: IdentityAccount = { ...noAccount, uuid, language: 'fr', profile: null }
const ada: IdentityAccount = {
  ...nobody,
  ...{ email: 'Ada@example.com', emailConfirmedAt: now, phone: '+33612345678', phoneConfirmedAt: now },
  ...{ username: 'ada', groups: ['staff'], roleId: 7, metadata: { plan: 'gold' } },
  profile: { given_name: 'Ada', family_name: 'Lovelace', zoneinfo: 'Europe/London', picture: 'https://a/b' },
}
const other = { own: false, claims: [] }
const own = { own: true, claims: [] }
const told = (
  account: IdentityAccount,
  scopes: string,
  application: Parameters<typeof claimsFor>[2] = other,
) => claimsFor(account, scopes.split(' '), application, roles).claims

describe('of scopes', () => {
  test('openid and unknown ones say nothing', () => {
    expect(told(ada, 'openid constructor __proto__ address offline_access')).toEqual({})
  })

  test('profile names the person; the whole name is made of its parts', () => {
    expect(told(ada, 'openid profile')).toEqual({
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      zoneinfo: 'Europe/London',
      picture: 'https://a/b',
      locale: 'fr',
      preferred_username: 'ada',
    })
    expect(told({ ...ada, profile: { name: 'A. L.', given_name: 'Ada' } }, 'profile')).toMatchObject({
      name: 'A. L.',
      given_name: 'Ada',
    })
    expect(told({ ...ada, profile: { family_name: 'Lovelace' } }, 'profile').name).toBe('Lovelace')
  })

  test('somebody without profile and username is named by the uuid alone', () => {
    expect(told(nobody, 'profile')).toEqual({ locale: 'fr', preferred_username: uuid })
  })

  test('contacts are the verified ones', () => {
    expect(told(ada, 'email phone')).toEqual({
      email: 'Ada@example.com',
      email_verified: true,
      phone_number: '+33612345678',
      phone_number_verified: true,
    })
    const claimed = { ...ada, emailConfirmedAt: null, phoneConfirmedAt: null }
    for (const account of [claimed, nobody, { ...ada, testIdentity: true }]) {
      expect(told(account, 'email phone')).toEqual({
        email: `${uuid}@no-address.invalid`,
        email_verified: false,
      })
      expect(told(account, 'email phone', own)).toEqual({})
    }
  })

  test('groups are always a list', () => {
    expect(told(ada, 'groups')).toEqual({ groups: ['staff'] })
    expect(told(nobody, 'groups')).toEqual({ groups: [] })
  })
})

describe('of the application', () => {
  const from = (
    name: string,
    source: 'role' | 'groups' | 'username' | 'metadata.plan',
    required = false,
  ) => ({
    ...{ name, from: source, default: null, required },
  })

  test('they are told whatever the scope, and its groups take the place of the scope’s', () => {
    const claims = [from('plan', 'metadata.plan'), { name: 'tenant', value: 'acme' }, from('groups', 'role')]
    expect(told(ada, 'openid', { own: false, claims })).toEqual({
      plan: 'gold',
      tenant: 'acme',
      groups: 'editor',
    })
    expect(told(ada, 'openid groups', { own: false, claims }).groups).toBe('editor')
    // Where they have no value, the scope's do not come back: they would say more than the operator wrote.
    const none = { own: false, claims: [from('groups', 'metadata.plan')] }
    expect(told({ ...ada, metadata: null }, 'groups', none)).toEqual({})
  })

  test('a required one that is missing is named, and what does not fit into 2,048 bytes', () => {
    const claims = [from('plan', 'metadata.plan', true), from('name', 'username')]
    expect(claimsFor(nobody, [], { own: true, claims }, roles)).toEqual({
      ...{ claims: {}, omitted: [], missing: 'plan' },
    })
    const large = { ...ada, metadata: { plan: 'x'.repeat(2048) } }
    expect(claimsFor(large, [], { own: true, claims: [from('plan', 'metadata.plan')] }, roles)).toEqual({
      ...{ claims: {}, omitted: ['plan'], missing: null },
    })
  })
})
