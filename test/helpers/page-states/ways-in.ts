/** The states of the ways in. */
import { spyOn } from 'bun:test'
import { DatabaseUnavailable } from '../../../src/platform/postgres/failure.ts'
import { asOperator } from '../administration.ts'
import { newEmail, PASSWORD } from '../api-client.ts'
import { protectByApp, protectBySentCodes } from '../authenticator.ts'
import { authorizeAddress, newVerifier, openIdAddress } from '../hand-over.ts'
import { newClient } from '../limited-service.ts'
import { nextOf, type PageBrowser, passProvider } from '../page-browser.ts'
import { newPerson } from '../pretend-provider.ts'
import type { TestService } from '../service.ts'
import { addPasskey, changes, type Walk } from './world.ts'

const WRONG = 'not the right one'

/** The form of sign-in, filled and sent. */
export const signIn = async (browser: PageBrowser, identifier: string, password = PASSWORD) =>
  (await browser.open('/sign-in')).send('/sign-in', { identifier, password })

/** Somebody who registered on the pages, in the language of the walk. */
export async function register({ browse, full }: Walk, identifier = newEmail()): Promise<PageBrowser> {
  const browser = await browse().open('/sign-up')
  await browser.send('/sign-up', { identifier, password: PASSWORD, terms: 'yes' })
  return browser.send('/confirm', { otp: await full.inbox.nextCode(identifier) })
}

/** Accepts the terms, and takes the language of the walk. */
export async function settle({ language }: Walk, browser: PageBrowser): Promise<void> {
  if (browser.path === '/sign-in/terms') await browser.send('/sign-in/terms')
  await browser.open('/account/language')
  await browser.send('/account/language', { language })
}

export async function walkWaysIn(walk: Walk): Promise<void> {
  await signInStates(walk)
  await refusedStates(walk)
  await signUpStates(walk)
  await codeStates(walk)
  await secondStepStates(walk)
  await recoverStates(walk)
  await invitedStates(walk)
  await applicationStates(walk)
  await failedStates(walk)
}

async function signInStates({ browse, note, simple, optional }: Walk): Promise<void> {
  note('sign-in', await browse().open('/sign-in'))
  note('sign-in-simplest', await browse(simple).open('/sign-in'))
  note('sign-in-without-password', await browse(optional).open('/sign-in'))
  note('sign-in-wrong', await signIn(browse(), 'ada@example.com', WRONG))
  note('sign-in-cancelled', await browse().open('/sign-in/provider?error=access_denied'))
  note('sign-in-provider-failed', await browse().open('/sign-in/provider?error=server_error'))
  const leaving = await browse().open('/sign-in')
  note('leave', await leaving.send('/sign-in/provider'))
}

/** Somebody who has the password, and does not get in. */
async function refusedStates(walk: Walk): Promise<void> {
  const { browse, note, full, limited } = walk
  const unconfirmed = newEmail()
  const registered = await browse().open('/sign-up')
  await registered.send('/sign-up', { identifier: unconfirmed, password: PASSWORD, terms: 'yes' })
  note('sign-in-unconfirmed', await signIn(browse(), unconfirmed))
  const { uuid, person } = await full.signedIn()
  await asOperator(full, 'PATCH', `accounts/${uuid}`, { locked: true })
  note('sign-in-locked', await signIn(browse(), person.identifier))
  const eager = browse(limited)
  for (let tries = 0; tries < 20 && !eager.html.includes('data-wait="'); tries++)
    await signIn(eager, 'ada@example.com', WRONG)
  note('sign-in-limited', eager)
  const changed = await register(walk)
  const email = emailOf(changed)
  await full.inside.database.all(changes.dropTerms, { email })
  await changed.open('/account')
  await changed.send('/sign-out')
  note('terms-changed', await signIn(changed, email))
}

/** The address that the page shows. */
const emailOf = ({ html }: PageBrowser): string => /person-[\w-]+@example\.com/.exec(html)?.[0] ?? ''

async function signUpStates({ browse, note, full, simple, optional, provider }: Walk): Promise<void> {
  note('sign-up', await browse().open('/sign-up'))
  note('sign-up-closed', await browse(simple).open('/sign-up'))
  note('sign-up-without-password', await browse(optional).open('/sign-up'))
  const wrong = await browse().open('/sign-up')
  note('sign-up-wrong', await wrong.send('/sign-up', { identifier: '123', password: 'short', terms: 'yes' }))
  const browser = await browse().open('/sign-up')
  const identifier = newEmail()
  note('confirm', await browser.send('/sign-up', { identifier, password: PASSWORD, terms: 'yes' }))
  const late = spyOn(full.inside.services.sender, 'isLate' as never).mockReturnValue(true as never)
  note('confirm-late', await browser.open(browser.address).finally(() => late.mockRestore()))
  note('confirm-wrong', await browser.send('/confirm', { otp: '000000' }))
  note('confirm-again', await browser.send('/confirm/again'))
  note('confirm-elsewhere', await browse().open('/confirm'))
  provider.present(newPerson({ email: newEmail(), email_verified: true }))
  const social = await browse().open('/sign-in')
  note('terms', await passProvider(await social.send('/sign-in/provider')))
}

async function codeStates({ browse, note, optional }: Walk): Promise<void> {
  const browser = await browse().open('/sign-in')
  note('code', await browser.send('/sign-in/code', { identifier: 'ada@example.com' }))
  note('code-wrong', await browser.send('/code', { otp: '000000' }))
  note('code-again', await browser.send('/code/again'))
  note('code-elsewhere', await browse().open('/code'))
  const creating = await browse(optional).open('/sign-in')
  note('code-without-password', await creating.send('/sign-in/code', { identifier: newEmail() }))
}

async function secondStepStates({ browse, note, full, optional, limited }: Walk): Promise<void> {
  const arrive = (service: TestService, { person }: { person: { identifier: string } }) =>
    signIn(browse(service), person.identifier)
  const byApp = await protectByApp(full)
  await addPasskey(full, byApp, 'iPhone', 0)
  const browser = await arrive(full, byApp)
  note('second-step-app', browser)
  note('second-step-wrong', await browser.send('/code', { otp: '000000' }))
  note('second-step-letters', await browser.send('/code/field'))
  const shown = browser.address
  const byMail = await protectBySentCodes(full)
  note('second-step-sent', await arrive(full, byMail))
  // It waits for ten minutes.
  full.clock.advance(11 * 60_000)
  note('sign-in-expired', await browser.open(shown))
  const byPasskey = await protectByApp(optional)
  await addPasskey(optional, byPasskey, 'iPhone', 0)
  await optional.inside.database.all(changes.dropApp, { email: byPasskey.person.identifier })
  note('second-step-passkey', await arrive(optional, byPasskey))
  // Somebody with the password is sent ten codes a day.
  const exhausted = await protectBySentCodes(limited)
  for (let n = 0; n < 11; n++) await limited.post('login', exhausted.person, newClient())
  note('second-step-recovery', await arrive(limited, exhausted))
  await limited.inside.database.all(changes.dropRecoveryCodes, { email: exhausted.person.identifier })
  note('second-step-none', await arrive(limited, exhausted))
}

async function recoverStates({ browse, note }: Walk): Promise<void> {
  const browser = await browse().open('/sign-in')
  note('recover', await browser.send('/sign-in/forgot', { identifier: 'ada@example.com' }))
  note('choose-password', await browser.send('/recover'))
  const weak = { otp: '000000', password: 'password' }
  note('choose-password-weak', await browser.send('/choose-password', weak))
  note('choose-password-wrong', await browser.send('/choose-password', { otp: '000000', password: PASSWORD }))
  note('choose-password-access-code', await browser.send('/choose-password/field'))
  note('choose-password-elsewhere', await browse().open('/choose-password'))
}

async function invitedStates(walk: Walk): Promise<void> {
  const { note, full, browse } = walk
  const browser = await register(walk)
  const { body } = await asOperator(full, 'POST', 'invitations', { uses: 3, groups: ['course', 'staff'] })
  const { pathname, search } = new URL(body.link)
  note('sign-up-invited', await browse().open(pathname + search))
  note('join', await browser.open(pathname + search))
  await browser.open('/account')
  note('signed-out', await browser.send('/sign-out'))
}

/** What a browser sees that an application sent. */
async function applicationStates(walk: Walk): Promise<void> {
  const { note, browse } = walk
  const browser = await register(walk)
  const identifier = emailOf(browser)
  const asks = (more: Record<string, string>) => authorizeAddress(newVerifier(), more)
  note('continue', await browser.open(asks({ redirect_uri: 'http://127.0.0.1/signed-in' })))
  note('continue-or-another', await browser.open(openIdAddress('grafana', { prompt: 'consent' })))
  note('not-open', await browser.open(openIdAddress('payroll')))
  note('two-factor-wanted', await browser.open(openIdAddress('ledger')))
  note('sign-out', await browser.open('/oauth2/sign-out'))
  note('unknown-application', await browse().open(asks({ client_id: 'nobody' })))
  note('unknown-redirect', await browse().open(asks({ redirect_uri: 'https://elsewhere.example.com/' })))
  const back = await browse().open(asks({ prompt: 'login' }))
  note('hand-over', await back.send('/sign-in', { identifier, password: PASSWORD }))
  if (nextOf(back) === '') throw new Error('the hand-over leads on by itself')
}

async function failedStates(walk: Walk): Promise<void> {
  const { browse, note, full, limited } = walk
  note('missing', await browse().open('/account/nowhere', { accept: 'text/html' }))
  note('other-host', await browse().open('/sign-in', { host: 'elsewhere.example.com' }))
  const signedIn = await register(walk)
  const away = spyOn(full.inside.database, 'first').mockRejectedValue(new DatabaseUnavailable())
  note('unavailable', await signedIn.open('/account').finally(() => away.mockRestore()))
  const refused = async (name: string, browser: PageBrowser, headers: Record<string, string>) => {
    const answer = await browser.post('/sign-in', {}, headers)
    note(name, Object.assign(browser, { source: await answer.text() }))
  }
  await refused('cookies-blocked', browse(), {})
  await refused('other-site', await browse().open('/sign-in'), { 'sec-fetch-site': 'cross-site' })
  const { identifier } = await limited.signUp(newEmail())
  const eager = await signIn(browse(limited), identifier)
  await settle(walk, eager)
  for (let tries = 0; tries < 70 && eager.status !== 429; tries++)
    await eager.open(authorizeAddress(newVerifier()))
  note('limited', eager)
}
