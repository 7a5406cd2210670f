/** The pages in w3m, which sends neither `Origin` nor `Sec-Fetch-Site` with a form. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail } from '../helpers/api-client.ts'
import { readMailbox } from '../helpers/dev-pages.ts'
import { startExecutable } from '../helpers/executable.ts'
import { openTextBrowser } from '../helpers/text-browser.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

test('somebody registers, confirms, signs out and signs in again in w3m', async () => {
  const service = await startExecutable({
    shape: 'postgres',
    args: ['--dev'],
    settings: { server: { language: 'en' }, limits: { enabled: true } },
  })
  const w3m = await openTextBrowser(`${service.url}/sign-up`)
  const email = newEmail()
  const password = 'a rather long phrase'
  try {
    await w3m.shows('Create an account')
    await w3m.fill('E-mail address', email)
    await w3m.fill('Choose a password', password)
    await w3m.press('Create an account')
    await w3m.shows(`We sent a code to ${email}`)
    const code = await waitFor(
      async () =>
        (await readMailbox(service.url, service.process().stdout)).find(({ to }) => to === email)?.code,
    )
    // The title of the page is the label of the code. Above it w3m shows what other browsers hide: the name of the account.
    await w3m.fill(`[${email.slice(0, 6)}`, code)
    await w3m.press('Confirm')
    expect(await w3m.shows('Where you are signed in')).toContain(email)
    await w3m.press('Sign out')
    await w3m.shows('You are signed out')
    await w3m.press('Sign in')
    await w3m.shows('Forgot it?')
    await w3m.fill('E-mail address', email)
    await w3m.fill('Password', 'not this one')
    await w3m.press('Sign in')
    await w3m.shows('is not right')
    await w3m.fill('Password', password)
    await w3m.press('Sign in')
    expect(await w3m.shows('Where you are signed in')).toContain(email)
  } finally {
    await w3m.close()
    await service.close()
  }
})
