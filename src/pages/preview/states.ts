/** Every state of the pages with invented people, for those who look at them and for the tests of how they look. */

import type { Config } from '../../platform/config/types.ts'
import type { Catalog } from '../../texts/catalog.ts'
import type { ErrorCode, FieldError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import type { Texts } from '../../texts/texts.ts'
import {
  continueScreen,
  notOpenScreen,
  signOutScreen,
  twoFactorWantedScreen,
  unknownScreen,
} from '../applications/screens.ts'
import type { Flow } from '../visits/flow.ts'
import { cookiesBlockedScreen, failedScreen, otherHostScreen, unreachedScreen } from '../visits/refusals.ts'
import type { Screen, View } from '../visits/service.ts'
import {
  choosePasswordScreen,
  codeScreen,
  confirmScreen,
  type Drawing,
  leaveScreen,
  type Offered,
  recoverScreen,
  signedOutScreen,
  signInScreen,
  signUpScreen,
  termsScreen,
} from '../ways-in/screens.ts'
import { accountStates, TERMS_VERSION } from './account-states.ts'
import type { PageState } from './page-state.ts'

export const PREVIEW_TIME = new Date('2026-01-01T12:00:00Z')

const identifier = 'ada@example.com'
const typed = { identifier }
const inTwoMinutes = PREVIEW_TIME.getTime() / 1000 + 118
const problem = (code: ErrorCode, fields?: FieldError[], until?: number): Flow => ({
  typed,
  problem: { code, ...(fields && { fields }), ...(until && { until }) },
})
type DrawWayIn = (view: View, drawing: Drawing) => Screen
const ticketed = (kind: string, screen: DrawWayIn): DrawWayIn => {
  return (view, drawing) => screen({ ...view, ticket: { kind } }, drawing)
}
const only =
  (change: Partial<Offered>, screen: DrawWayIn): DrawWayIn =>
  (view, drawing) =>
    screen(view, { ...drawing, offered: { ...drawing.offered, ...change } })

const late =
  (screen: DrawWayIn): DrawWayIn =>
  (view, drawing) =>
    screen(view, { ...drawing, isLate: () => true })

/** The view of somebody who is signed in. */
const asAda = (view: View): View => ({
  ...view,
  session: { account: { email: identifier } } as View['session'],
})
const secondFactor = ticketed('second_factor', codeScreen)
const confirmHere = ticketed('registration', confirmScreen)
const wrongCode = problem('invalid_code')

const waysInStates: PageState[] = [
  { name: 'sign-in', draw: signInScreen },
  {
    name: 'sign-in-simplest',
    draw: only(
      { phone: false, providers: [], passkeys: false, signInByCode: false, registration: 'closed' },
      signInScreen,
    ),
  },
  { name: 'sign-in-wrong', flow: problem('invalid_credentials'), draw: signInScreen },
  { name: 'sign-in-locked', flow: problem('account_locked'), draw: signInScreen },
  {
    name: 'sign-in-limited',
    flow: problem('too_many_requests', undefined, inTwoMinutes),
    draw: signInScreen,
  },
  { name: 'sign-in-provider-away', flow: problem('provider_unavailable'), draw: signInScreen },
  { name: 'sign-in-cancelled', flow: { typed, problem: { code: 'provider_denied' } }, draw: signInScreen },
  { name: 'sign-in-confirmed', flow: { typed, notice: 'confirmed' }, draw: signInScreen },
  { name: 'sign-in-expired', flow: { typed, problem: { code: 'start_again' } }, draw: signInScreen },
  { name: 'sign-up', draw: signUpScreen },
  { name: 'join', flow: { invitation: 'code' }, draw: (view, drawing) => signUpScreen(asAda(view), drawing) },
  { name: 'sign-up-closed', draw: only({ registration: 'closed' }, signUpScreen) },
  { name: 'sign-in-without-password', draw: only({ passwordOptional: true }, signInScreen) },
  { name: 'sign-up-without-password', draw: only({ passwordOptional: true }, signUpScreen) },
  { name: 'code-without-password', flow: { typed }, draw: only({ passwordOptional: true }, codeScreen) },
  { name: 'terms', draw: (view, drawing) => termsScreen(view, drawing, { isNew: true }) },
  { name: 'terms-changed', draw: (view, drawing) => termsScreen(view, drawing, { isNew: false }) },
  {
    name: 'sign-up-wrong',
    flow: problem('validation_failed', [
      { field: 'email', code: 'invalid_email' },
      { field: 'password', code: 'weak_password', reason: 'too_short', minimum: 8 },
    ]),
    draw: signUpScreen,
  },
  { name: 'confirm', flow: { typed }, draw: confirmHere },
  {
    name: 'sign-in-unconfirmed',
    flow: { typed, problem: { code: 'account_unconfirmed' } },
    draw: signInScreen,
  },
  { name: 'confirm-wrong', flow: wrongCode, draw: confirmHere },
  { name: 'confirm-late', flow: { typed }, draw: late(confirmHere) },
  { name: 'confirm-elsewhere', draw: confirmScreen },
  { name: 'code', flow: { typed }, draw: codeScreen },
  { name: 'code-elsewhere', draw: codeScreen },
  { name: 'code-again', flow: { typed, notice: 'sent_again' }, draw: codeScreen },
  {
    name: 'second-factor-app',
    flow: { typed, methods: ['passkey', 'totp', 'recovery_code'] },
    draw: secondFactor,
  },
  {
    name: 'second-factor-letters',
    flow: { typed, methods: ['passkey', 'totp', 'recovery_code'], letters: true },
    draw: secondFactor,
  },
  {
    name: 'second-factor-sent',
    flow: { typed, methods: ['email', 'recovery_code'], sentTo: 'a••@example.com' },
    draw: secondFactor,
  },
  {
    name: 'second-factor-wrong',
    flow: { ...wrongCode, methods: ['totp', 'recovery_code'] },
    draw: secondFactor,
  },
  { name: 'second-factor-recovery', flow: { methods: ['recovery_code'] }, draw: secondFactor },
  { name: 'second-factor-passkey', flow: { methods: ['passkey', 'recovery_code'] }, draw: secondFactor },
  { name: 'second-factor-none', flow: { methods: [] }, draw: secondFactor },
  { name: 'recover', flow: { typed }, draw: recoverScreen },
  { name: 'choose-password', flow: { typed }, draw: choosePasswordScreen },
  {
    name: 'choose-password-wrong',
    flow: problem('validation_failed', [{ field: 'password', code: 'weak_password', reason: 'common' }]),
    draw: choosePasswordScreen,
  },
  { name: 'choose-password-elsewhere', draw: choosePasswordScreen },
  { name: 'choose-password-access-code', flow: { typed, letters: true }, draw: choosePasswordScreen },
  { name: 'leave', draw: (view) => withoutRefresh(leaveScreen(view, 'https://app.example.com/')) },
  { name: 'continue', draw: (view) => continueScreen(asAda(view), 'Example', '#') },
  { name: 'continue-or-another', draw: (view) => continueScreen(asAda(view), 'Grafana', '#', '#') },
  {
    name: 'not-open',
    draw: (view) => notOpenScreen(asAda(view), 'Grafana', { another: '#', back: '#' }),
  },
  {
    name: 'two-factor-wanted',
    draw: (view) => twoFactorWantedScreen(asAda(view), 'Grafana', { another: '#', onwards: '#' }),
  },
  { name: 'sign-out', draw: (view) => signOutScreen(view, '#') },
  { name: 'signed-out', draw: signedOutScreen },
  { name: 'signed-out-erased', flow: { notice: 'account_erased' }, draw: signedOutScreen },
  { name: 'unknown-application', draw: (view) => unknownScreen(view, 'application') },
  { name: 'unknown-redirect', draw: (view) => unknownScreen(view, 'redirect_uri') },
  { name: 'limited', draw: ({ texts }) => failedScreen(texts, 'too_many_requests', '#', 118) },
  { name: 'cookies-blocked', draw: ({ texts }) => cookiesBlockedScreen(texts, '#') },
  { name: 'other-site', draw: ({ texts }) => failedScreen(texts, 'invalid_sign_in_state', '#', undefined) },
  {
    name: 'other-host',
    bare: true,
    draw: ({ texts }) => otherHostScreen(texts, new URL('https://auth.example.com')),
  },
  {
    name: 'unavailable',
    bare: true,
    draw: ({ texts }) => failedScreen(texts, 'unavailable', '#', undefined),
  },
  { name: 'missing', draw: ({ texts }) => unreachedScreen(texts, 'route_not_found') },
]

export const pageStates = (config: Config, catalog: Catalog, name: string): PageState[] => [
  ...waysInStates,
  ...accountStates(previewOffered(config, name), catalog),
]

/** A picture of a page that leads on would be one of the next page. */
const withoutRefresh = ({ title, content }: Screen): Screen => ({ title, content })

export const viewOf = ({ flow = {} }: PageState, texts: Texts, language: Language) => ({
  texts,
  language,
  flow,
  ticket: null,
  session: null,
})

/** The offers of most installations, together with those of this one. */
export function previewOffered(config: Config, name: string): Offered {
  const { password, social, pages } = config
  const configured = social.providers.map(({ name }) => name)
  return {
    service: name,
    support: config.texts.support || pages.help,
    email: true,
    phone: true,
    signInByCode: true,
    passkeys: true,
    providers: configured.length > 0 ? configured : ['google', 'apple'],
    registration: 'open',
    minimumLength: password.minimumLength,
    resendAfter: 60,
    terms: pages.terms,
    termsVersion: TERMS_VERSION,
    passwordOptional: false,
    isForDomains: false,
    trustDevice: true,
  }
}
