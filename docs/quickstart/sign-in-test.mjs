// npx playwright test: people register and sign in on the pages of `poterne serve --dev`.
import { readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'

const poterne = process.env.POTERNE_URL ?? 'http://localhost:8080'
const key = process.env.POTERNE_DEV_KEY ?? readFileSync('data/dev-key', 'utf8').trim()

/** Waits for the code, five seconds at most. */
async function codeFor(to, purpose) {
  const query = new URLSearchParams({ key, to, purpose, wait: '5' })
  const [newest] = await (await fetch(`${poterne}/dev/mailbox.json?${query}`)).json()
  if (!newest) throw new Error(`no ${purpose} for ${to}`)
  return newest.code
}

test('somebody registers, confirms and is signed in', async ({ page }) => {
  // An address for each test: tests that run side by side do not meet.
  const email = `${crypto.randomUUID()}@example.com`
  await page.goto(`${poterne}/sign-up`)
  await page.fill('main input[name=identifier]', email)
  await page.fill('main input[name=password]', 'a rather long sentence')
  await page.press('main input[name=password]', 'Enter')
  await page.waitForURL(/\/confirm/)
  // Six digits submit themselves.
  await page.fill('main input[name=otp]', await codeFor(email, 'confirmation'))
  await page.waitForURL('**/account')
  await expect(page.locator('main')).toContainText(email)
})

test('somebody of people.jsonl signs in', async ({ page }) => {
  await page.goto(`${poterne}/sign-in`)
  await page.fill('main input[name=identifier]', 'dora@example.com')
  await page.fill('main input[name=password]', 'a rather long sentence')
  await page.press('main input[name=password]', 'Enter')
  await page.waitForURL('**/account')
  await expect(page.locator('main')).toContainText('dora@example.com')
})
