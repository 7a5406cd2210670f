/** The states of one's own account. */
import { newEmail, PASSWORD } from '../api-client.ts'
import { appCode, protectByApp, protectBySentCodes } from '../authenticator.ts'
import { type PageBrowser, passProvider } from '../page-browser.ts'
import { newPerson } from '../pretend-provider.ts'
import type { TestService } from '../service.ts'
import { register, settle, signIn } from './ways-in.ts'
import { addPasskey, changes, type Walk } from './world.ts'

const LONG = 'Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh'
const password = PASSWORD
const secretIn = ({ html }: PageBrowser) => /<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? ''

export async function walkAccount(walk: Walk): Promise<void> {
  await newcomer(walk)
  await changedContacts(walk)
  await protectedPerson(walk)
  await byMessage(walk)
  await endangered(walk)
  await removalLimited(walk)
  await withoutPassword(walk)
}

/** Somebody who has a password, and nothing else yet. */
async function newcomer(walk: Walk): Promise<void> {
  const { note, provider, full } = walk
  const browser = await register(walk)
  const show = async (name: string, path: string) => note(name, await browser.open(path))
  await show('account', '/account')
  await show('account-profile', '/account/profile')
  note('account-profile-saved', await browser.send('/account/profile', { name: 'Ada Lovelace' }))
  await show('account-named', '/account')
  for (const name of ['language', 'password', 'email', 'phone', 'two-factor', 'passkeys', 'providers'])
    await show(`account-${name}`, `/account/${name}`)
  for (const name of ['sessions', 'history', 'export', 'delete'])
    await show(`account-${name}`, `/account/${name}`)
  await show('account-passkeys-add', '/account/passkeys/add')
  await browser.open('/account/password')
  const typed = { password: 'not the right one', new_password: 'short' }
  note('account-password-wrong', await browser.send('/account/password', typed))
  await browser.open('/account/delete')
  note('account-delete-wrong', await browser.send('/account/delete', { password: 'not the right one' }))
  provider.present(newPerson({ email: 'ada@work.example.com', email_verified: true }))
  await browser.open('/account/providers')
  await browser.send('/account/providers/link')
  note('account-providers-confirm', await passProvider(browser))
  const before = browser.address
  await browser.send('/account/providers/confirm', { password })
  note('account-providers-linked', browser)
  note('account-providers-confirm-done', await browser.open(before))
  await show('account-providers-confirm-expired', '/account/providers/confirm')
  await show('account-providers-failed', '/account/providers/linked?error=server_error')
  await browser.open('/account/providers')
  note('account-providers-remove', await browser.send('/account/providers/choose'))
  await browser.open('/account')
  await full.inside.database.all(changes.dropTerms, { email: contactIn(browser) })
  await show('account-new-terms', '/account')
  full.clock.advance(16 * 60_000)
  await browser.open('/account/export')
  note('account-export-too-old', await browser.send('/account/export'))
}

const contactIn = ({ html }: PageBrowser): string => /person-[\w-]+@example\.com/.exec(html)?.[0] ?? ''

async function changedContacts(walk: Walk): Promise<void> {
  const { note } = walk
  const browser = await register(walk)
  await browser.open('/account/email')
  note('account-email-wrong', await browser.send('/account/email', { contact: 'no address', password }))
  note('account-email-confirm', await browser.send('/account/email', { contact: newEmail(), password }))
  note('account-email-confirm-wrong', await browser.send('/account/email/confirm', { otp: '000000' }))
  await browser.open('/account/phone')
  note('account-phone-confirm', await browser.send('/account/phone', { contact: '+33612345678', password }))
}

/** An app is set up; then a passkey, and another device. */
async function protectedPerson(walk: Walk): Promise<void> {
  const { note, full, browse } = walk
  const browser = await register(walk)
  note('account-two-factor-app', await browser.open('/account/two-factor/app'))
  note('account-two-factor-app-expired', await browser.open('/account/two-factor/app/confirm'))
  await browser.open('/account/two-factor/app')
  note('account-two-factor-app-confirm', await browser.send('/account/two-factor/app', { password }))
  const shown = browser.address
  const otp = appCode(secretIn(browser), full.clock.now())
  note(
    'account-two-factor-app-wrong',
    await browser.send('/account/two-factor/app/confirm', { otp: '000000' }),
  )
  note('account-recovery-codes', await browser.send('/account/two-factor/app/confirm', { otp }))
  note('account-two-factor-app-done', await browser.open(shown))
  const owner = await protectByApp(full)
  await addPasskey(full, owner, 'iPhone', 0)
  await addPasskey(full, owner, LONG, 1)
  const own = await signIn(browse(), owner.person.identifier)
  await own.send('/code/field')
  await own.send('/code', { otp: owner.recoveryCodes[2]!, trust: 'yes' })
  await settle(walk, own)
  note('account-with-app', await own.open('/account'))
  for (const name of ['password', 'two-factor', 'passkeys', 'sessions', 'history'])
    note(`account-${name}-with-app`, await own.open(`/account/${name}`))
  note('account-two-factor-codes', await own.open('/account/two-factor/codes'))
  note('account-two-factor-off', await own.open('/account/two-factor/off'))
  note('account-password-letters', await (await own.open('/account/password')).send('/account/field'))
  await own.open('/account/passkeys')
  note('account-passkeys-edit', await own.send('/account/passkeys/choose'))
  await requestRemoval(full, owner.bearer)
  note('account-two-factor-waiting', await own.open('/account/two-factor'))
  note('account-two-factor-keep', await own.open('/account/two-factor/keep'))
}

async function requestRemoval(at: TestService, bearer: string): Promise<void> {
  const { uuid } = (await at.get('me', { bearer })).body.account
  const { directory, twoFactorRemovals } = at.inside.services
  await twoFactorRemovals.remove(await directory.find(uuid), { delaySeconds: 86_400 })
}

async function byMessage(walk: Walk): Promise<void> {
  const { note, full } = walk
  const browser = await register(walk)
  const email = contactIn(await browser.open('/account'))
  note('account-two-factor-on', await browser.open('/account/two-factor/on'))
  note('account-two-factor-confirm', await browser.send('/account/two-factor/on', { password }))
  await browser.send('/account/two-factor/confirm', { otp: await full.inbox.nextCode(email) })
  note('account-two-factor-confirm-done', await browser.open('/account/two-factor/confirm'))
  await browser.open('/account/two-factor/off')
  note('account-two-factor-off-sent', await browser.send('/account/code'))
  const otp = await full.inbox.nextCode(email)
  note('account-two-factor-is-off', await browser.send('/account/two-factor/off', { password, otp }))
  await browser.open('/account/delete')
  note('signed-out-erased', await browser.send('/account/delete', { password }))
  // Somebody else signs in on another tab, and this one is from before.
  const first = await register(walk)
  await first.open('/account/email')
  const { address } = await first.send('/account/email', { contact: newEmail(), password })
  await first.open('/account')
  await first.send('/sign-out')
  const second = contactIn(await (await register(walk)).open('/account'))
  await signIn(first, second)
  note('account-earlier-sign-in', await first.open(address))
}

/** Long names, one code left, and a removal of two factors that waits. */
async function endangered(walk: Walk): Promise<void> {
  const { note, full, browse } = walk
  const email = `${LONG.toLowerCase()}.${crypto.randomUUID().slice(0, 8)}@a-rather-long-company-name.example.com`
  const { person, bearer } = await protectBySentCodes(full, email)
  const browser = await signIn(browse(), email)
  await browser.send('/code', { otp: await full.inbox.nextCode(email) })
  await settle(walk, browser)
  await browser.open('/account/profile')
  await browser.send('/account/profile', { name: `Ada ${LONG}` })
  await full.inside.database.all(changes.dropMostCodes, { email: person.identifier })
  await requestRemoval(full, bearer)
  note('account-endangered', await browser.open('/account'))
  note('account-two-factor-endangered', await browser.open('/account/two-factor'))
  note('account-two-factor-endangered-sent', await browser.send('/account/two-factor/removal/again'))
  note('account-password-sent-codes', await browser.open('/account/password'))
}

/** Somebody who asked for the notice of a removal too often. */
async function removalLimited(walk: Walk): Promise<void> {
  const { note, limited, browse } = walk
  const { person, bearer } = await protectBySentCodes(limited)
  const browser = await signIn(browse(limited), person.identifier)
  await browser.send('/code', { otp: await limited.inbox.nextCode(person.identifier) })
  await settle(walk, browser)
  await requestRemoval(limited, bearer)
  await browser.open('/account')
  for (let asked = 0; asked < 4; asked++) await browser.send('/account/two-factor/removal/again')
  note('account-two-factor-endangered-limited', browser)
}

async function withoutPassword({ note, optional, browse }: Walk): Promise<void> {
  const browser = await browse(optional).open('/sign-in')
  const identifier = newEmail()
  await browser.send('/sign-in/code', { identifier })
  await browser.send('/code', { otp: await optional.inbox.nextCode(identifier) })
  note('account-without-password', await browser.open('/account'))
  note('account-two-factor-without-password', await browser.open('/account/two-factor'))
  note('account-password-first', await browser.open('/account/password'))
}
