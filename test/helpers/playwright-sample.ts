/**
 * Runs a sample that is written for Playwright's own runner, which is no dependency of ours: `bun playwright-sample.ts FILE`. It has what
 * the samples use of it, and the browser is the same.
 */
import { plugin } from 'bun'
import type { Locator, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { waitFor } from './wait.ts'

type Body = (fixtures: { page: Page }) => Promise<void>

const tests: [string, Body][] = []
const test = (name: string, body: Body) => void tests.push([name, body])
const expect = (locator: Locator) => ({
  toContainText: (text: string) =>
    waitFor(async () => (await locator.innerText()).includes(text), { what: `"${text}"` }),
})

plugin({
  name: 'playwright',
  setup: (build) =>
    void build.module('@playwright/test', () => ({ exports: { test, expect }, loader: 'object' })),
})

await import(process.argv[2]!)
const browser = await launchBrowser({})
try {
  for (const [name, body] of tests) {
    const page = await browser.newPage()
    page.setDefaultTimeout(20_000)
    await body({ page })
    await page.close()
    console.log(`passed: ${name}`)
  }
} finally {
  await browser.close()
}
