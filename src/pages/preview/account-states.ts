/** The pages of an account in the preview: those that the browser gets, with an invented person instead of what is stored. */

import type { Account } from '../../domain/accounts/core/account.ts'
import type { AccountRecord } from '../../domain/accounts/core/account-schema.ts'
import { pictureOf } from '../../domain/credentials/authenticators/totp.ts'
import type { Security } from '../../domain/self-service/me/me-schema.ts'
import type { Catalog } from '../../texts/catalog.ts'
import type { ErrorCode, FieldError } from '../../texts/errors.ts'
import * as screens from '../account/screens.ts'
import type { AccountPages, OwnVisit } from '../account/service.ts'
import { createShownPages } from '../account/shown-pages.ts'
import type { Flow } from '../visits/flow.ts'
import type { Drawing, Offered } from '../ways-in/screens.ts'
import type { PageState } from './page-state.ts'

type Read = AccountPages['read']

const AT = new Date('2025-11-05T08:30:00Z')
/** Minutes and days before the time of the preview. */
const RECENT = new Date('2026-01-01T11:56:00Z')
const DAYS_AGO = new Date('2025-12-30T08:30:00Z')
const LONG = 'Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh'

export const TERMS_VERSION = '2026-01'

interface Person {
  email?: string | null
  phone?: string | null
  name?: string
  hasPassword?: boolean
  methods?: Security['methods']
  recoveryCodesLeft?: number
  removalAt?: Date | null
  acceptedTerms?: string | null
  isEmpty?: boolean
}

const plain: Person = { email: 'ada@example.com', phone: null, name: 'Ada Lovelace' }
const protectedPerson: Person = {
  ...plain,
  phone: '+33612345678',
  methods: ['totp', 'recovery_code'],
  recoveryCodesLeft: 8,
}
const endangered: Person = {
  ...protectedPerson,
  email: `${LONG.toLowerCase()}@a-rather-long-company-name.example.com`,
  name: `Ada ${LONG}`,
  recoveryCodesLeft: 1,
  removalAt: AT,
}
const withPhoneAlone: Person = { email: null, phone: '+33612345678', hasPassword: false, isEmpty: true }

const accountOf = (
  { email = null, phone = null, hasPassword = true, methods, acceptedTerms = TERMS_VERSION }: Person,
  language: string,
) =>
  ({
    email,
    phone,
    language,
    emailConfirmedAt: AT,
    phoneConfirmedAt: AT,
    passwordChangedAt: AT,
    passwordDigest: hasPassword ? '$argon2id$' : null,
    twoFactorEnabled: methods !== undefined,
    termsVersion: acceptedTerms,
  }) as Account

const event = (type: string, device: string | null, address: string | null, at: Date) => ({
  type,
  device,
  address,
  created_at: at.toISOString(),
})

/** Returns the data that the service would read. Only what the screens show is there. */
function readingOf(person: Person): Read {
  const { methods = [], recoveryCodesLeft = 0, removalAt = null, name, isEmpty = false } = person
  const passkey = (id: string, lastUsedAt: Date | null) => ({
    ...{ id, name: id === 'a' ? 'iPhone' : `${LONG} 2`, createdAt: AT, lastUsedAt },
  })
  const session = (id: string, device_name: string | null, more: object = {}) => ({
    ...{
      id,
      device_name,
      device_os: null,
      ip: '203.0.113.7',
      last_used_at: AT.toISOString(),
      current: false,
    },
    ...more,
  })
  const read = {
    security: async ({ session: { account } }: OwnVisit) => ({
      ...{ account, methods, recoveryCodesLeft, removalAt, emailRefusedAt: null },
      trustedDevices: isEmpty ? [] : [{ id: 'b', name: null, createdAt: AT, lastUsedAt: RECENT }],
      counts: isEmpty
        ? { passkeys: 0, identities: 0, sessions: 1 }
        : { passkeys: 2, identities: 1, sessions: 4 },
    }),
    account: ({ session: { account } }: OwnVisit) => ({
      account: account as unknown as AccountRecord,
      profile: name === undefined ? null : { name, given_name: 'Ada', family_name: 'Lovelace' },
    }),
    sessions: async () => [
      session('a', 'Firefox on Linux', { current: true, last_used_at: RECENT.toISOString() }),
      ...(isEmpty
        ? []
        : [
            session('b', null, { ip: '2001:db8:85a3:8d3:1319:8a2e:370:7348', trusted_device: true }),
            session('c', LONG),
            session('d', 'Grafana', { application: 'grafana' }),
          ]),
    ],
    passkeys: async () => ({ passkeys: isEmpty ? [] : [passkey('a', AT), passkey('b', null)], signal: null }),
    identities: async () => (isEmpty ? [] : [{ provider: 'google', email: person.email, createdAt: AT }]),
    events: async () => ({
      items: isEmpty
        ? []
        : [
            event('login.succeeded', 'Firefox on Linux', '203.0.113.7', RECENT),
            event('login.failed', null, '2001:db8:85a3:8d3:1319:8a2e:370:7348', DAYS_AGO),
            event('password.changed', 'Safari on iPhone', null, AT),
            event('account.registered', null, null, AT),
          ],
      next_cursor: isEmpty ? null : 'next',
    }),
  }
  return read as unknown as Read
}

const typed = { contact: 'ada@new.example.com', passkey: 'a', name: 'iPhone', provider: 'google' }
const wrong = (code: ErrorCode, fields: FieldError[] = []): Flow => ({ typed, problem: { code, fields } })
const wrongPassword = wrong('validation_failed', [{ field: 'password', code: 'wrong_password' }])
const appTicket = {
  kind: 'app',
  secret: 'JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP',
  uri: 'otpauth://totp/Example:ada%40example.com?secret=JBSWY3DPEHPK3PXP',
  picture: pictureOf('otpauth://totp/Example:ada%40example.com?secret=JBSWY3DPEHPK3PXP'),
}
const linkedTicket = {
  kind: 'linked',
  identity: JSON.stringify({
    provider: 'google',
    email: { address: { kind: 'email', destination: 'ada@work.example.com', key: 'ada@work.example.com' } },
  }),
}
/** In the form of those that the service makes. */
export const drawnCodes = [
  '16AX-VGVQ-5HN2-HQHD',
  'NMRY-AE4A-KECJ-T39P',
  'TZ0D-GFX7-59GG-20JP',
  'C08Q-Z8DT-G7EN-4TTD',
  '1MG7-66AP-5V6H-X05E',
  'X4SC-6HHH-4G1R-HV98',
  '1SV3-8QMB-XTHB-7H21',
  'C77F-6XRS-MK9M-WKBC',
  '04HM-AEEZ-9MMP-3BJG',
  'B9MH-XC9Z-MNTD-9NMY',
]

interface AccountState {
  name?: string
  path: string
  person?: Person
  flow?: Flow
  ticket?: Record<string, string>
}

/** States that a path has besides its usual one. */
const more: AccountState[] = [
  { name: 'two-factor', path: '/account', person: protectedPerson },
  { name: 'endangered', path: '/account', person: endangered },
  { name: 'new', path: '/account', person: withPhoneAlone },
  { name: 'new-terms', path: '/account', person: { ...plain, acceptedTerms: null } },
  { name: 'saved', path: '/account', flow: { notice: 'saved' } },
  {
    name: 'wrong',
    path: '/account/password',
    flow: wrong('validation_failed', [
      { field: 'current_password', code: 'wrong_password' },
      { field: 'password', code: 'weak_password', reason: 'too_short' },
    ]),
  },
  { name: 'first', path: '/account/password', person: withPhoneAlone },
  { name: 'two-factor', path: '/account/password', person: protectedPerson },
  { name: 'recovery-code', path: '/account/password', person: protectedPerson, flow: { letters: true } },
  {
    name: 'sent-codes',
    path: '/account/password',
    person: { ...protectedPerson, methods: ['email', 'recovery_code'] },
  },
  { name: 'too-old', path: '/account/export', flow: wrong('reauthentication_required') },
  { name: 'first', path: '/account/email', person: withPhoneAlone },
  {
    name: 'wrong',
    path: '/account/email',
    flow: wrong('validation_failed', [{ field: 'email', code: 'invalid_email' }]),
  },
  { name: 'wrong', path: '/account/email/confirm', flow: wrong('invalid_code') },
  { name: 'on', path: '/account/two-factor', person: protectedPerson },
  { name: 'off', path: '/account/two-factor', flow: { notice: 'two_factor_off' } },
  {
    name: 'sent',
    path: '/account/two-factor/off',
    person: protectedPerson,
    flow: { notice: 'code_on_its_way' },
  },
  { name: 'expired', path: '/account/two-factor/app/confirm' },
  {
    name: 'done',
    path: '/account/two-factor/app/confirm',
    person: protectedPerson,
    ticket: { kind: 'done' },
  },
  { name: 'wrong', path: '/account/two-factor/app/confirm', ticket: appTicket, flow: wrong('invalid_code') },
  { name: 'none', path: '/account/passkeys', person: withPhoneAlone },
  { name: 'expired', path: '/account/providers/confirm' },
  { name: 'done', path: '/account/providers/confirm', ticket: { kind: 'done' } },
  { name: 'earlier-sign-in', path: '/account', flow: { problem: { code: 'earlier_sign_in' } } },
  { name: 'failed', path: '/account/providers', flow: { problem: { code: 'provider_failed' } } },
  { name: 'only-this', path: '/account/sessions', person: withPhoneAlone },
  { name: 'none', path: '/account/history', person: withPhoneAlone },
  { name: 'wrong', path: '/account/delete', flow: wrongPassword },
]

/** Every path once with an ordinary person, then what else it can look like. */
export function accountStates(offered: Offered, catalog: Catalog): PageState[] {
  const accountOffered = { ...offered, languages: catalog.tags, untold: ['grafana'] }
  const pagesFor = (person: Person) => createShownPages(readingOf(person), accountOffered)
  const stateOf = ({ name, path, person = plain, flow = { typed }, ticket }: AccountState): PageState => ({
    name: [path.slice(1).replaceAll('/', '-'), ...(name === undefined ? [] : [name])].join('--'),
    flow,
    draw: (view, drawing) => pagesFor(person)[path]!(visitOf(view, drawing, path, person, catalog, ticket)),
  })
  return [
    ...Object.keys(pagesFor(plain)).map((path) =>
      stateOf({
        path,
        ...(path.endsWith('/app/confirm') && { ticket: appTicket }),
        ...(path.endsWith('/providers/confirm') && { ticket: linkedTicket }),
        ...(path.endsWith('/phone/confirm') && { flow: { typed: { contact: '+33612345678' } } }),
      }),
    ),
    ...more.map(stateOf),
    {
      name: 'account-recovery-codes',
      draw: (view, drawing) =>
        screens.recoveryCodesScreen(
          visitOf(view, drawing, '/account/two-factor', protectedPerson, catalog),
          drawnCodes,
          accountOffered,
        ),
    },
  ]
}

function visitOf(
  { texts, flow, language }: Parameters<PageState['draw']>[0],
  { now, to }: Drawing,
  path: string,
  person: Person,
  catalog: Catalog,
  ticket: Record<string, string> | null = null,
): OwnVisit {
  const visit = {
    ...{ texts, flow, now, to, path, ticket, within: null, query: new URLSearchParams() },
    client: { language, texts: catalog.of(language) },
    session: { account: accountOf(person, language) },
  }
  return visit as unknown as OwnVisit
}
