/**
 * Every state that the service gives, in Chromium: no findings of axe-core (WCAG 2.2 A and AA), nothing wider than the screen, no
 * recovery code wider than its column. A run examines English: all rules on a narrow dark screen, and on every third page colours
 * and sizes on a wide light one. A soak examines every page, in every language and in more views.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { createCatalog } from '../../../src/texts/catalog.ts'
import { examine, examineLargeText, loadAxe, rulesOfViews } from '../../helpers/axe.ts'
import { launchBrowser } from '../../helpers/browser.ts'
import { filesOf, type PageState, startWorld, walkPages } from '../../helpers/page-states/index.ts'
import { reduced } from '../../helpers/soak.ts'
import { use } from '../../helpers/use-service.ts'

const languages = reduced(['en'], [...createCatalog({ language: 'en' }).tags])
const otherViews = reduced(
  [[1440, 'light']] as const,
  [
    [1440, 'light'],
    [320, 'light'],
    [390, 'light'],
    [390, 'dark'],
    [1440, 'dark'],
  ] as const,
)

/** The same parts and colours make up all pages. */
const EVERY = reduced(3, 1)

const world = use(startWorld)
setDefaultTimeout(reduced(120_000, 600_000))
let browser: Browser

beforeAll(async () => {
  browser = await launchBrowser({})
}, 60_000)
afterAll(() => browser?.close())

/**
 * A document in place of the one before keeps axe, which takes longer to load than to run. Its script runs at its end, and it does
 * not lead on by itself.
 */
const show = (page: Page, { html }: PageState, script: string) =>
  page.setContent(
    html
      .replace(/<meta http-equiv="refresh"[^>]*>/, '')
      .replace(
        /<script src="[^"]*" defer><\/script>(.*)<\/body>/s,
        (_, body) => `${body}<script>{${script}}</script></body>`,
      ),
  )

async function findingsOf(page: Page, state: PageState, script: string, isWhole: boolean): Promise<string[]> {
  await page.setViewportSize({ width: 320, height: 800 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await show(page, state, script)
  const findings = await examine(page)
  if (!isWhole) return findings
  for (const [width, colorScheme] of otherViews) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    const found = await examine(page, rulesOfViews)
    findings.push(...found.map((finding) => `${width} ${colorScheme}: ${finding}`))
  }
  return findings
}

test.each(languages)('in the language %s', async (language) => {
  const states = await walkPages(world, language)
  const files = await filesOf(world.full, states)
  const script = [...files].find(([path]) => path.endsWith('.js'))?.[1].text ?? ''
  const found: Record<string, string[]> = {}
  await Promise.all(
    [0, 1].map(async (half) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.route('**/*', (route) => {
        const { pathname } = new URL(route.request().url())
        const { type, text } = files.get(pathname) ?? { type: 'text/html', text: '<!doctype html>' }
        return route.fulfill({ contentType: type, body: text })
      })
      await page.goto('https://auth.example.com/')
      await loadAxe(page)
      for (const [index, state] of states.entries()) {
        if (index % 2 !== half) continue
        const findings = await findingsOf(page, state, script, index % EVERY === 0)
        if (language === 'en' && index % 3 === 0) {
          await page.setViewportSize({ width: 390, height: 800 })
          findings.push(...(await examineLargeText(page)))
        }
        if (findings.length > 0) found[state.name] = findings
      }
      await context.close()
    }),
  )
  expect(found).toEqual({})
})
