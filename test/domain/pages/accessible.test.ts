/**
 * Every state of the pages in Chromium: no findings of axe-core (WCAG 2.2 A and AA), nothing wider than the screen. A run
 * examines English: all rules on a narrow dark screen, and on every third page colours and sizes on a wide light one. A soak
 * examines every page, in every language and in more views.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { writePreview } from '../../../src/pages/preview/write.ts'
import { loadConfig } from '../../../src/platform/config/load.ts'
import { createCatalog } from '../../../src/texts/catalog.ts'
import { examine, loadAxe, rulesOfViews } from '../../helpers/axe.ts'
import { launchBrowser } from '../../helpers/browser.ts'
import { reduced } from '../../helpers/soak.ts'

setDefaultTimeout(120_000)

const catalog = createCatalog({ language: 'en' })
const languages = reduced(['en'], [...catalog.tags])
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

let directory: string
let browser: Browser

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'poterne-preview-'))
  const loaded = loadConfig({ env: {}, directory, mustDeliver: false })
  if (!loaded.ok) throw new Error('the defaults are valid')
  await writePreview(loaded.config, catalog, directory)
  browser = await launchBrowser({})
}, 60_000)

afterAll(async () => {
  await browser?.close()
  rmSync(directory, { recursive: true, force: true })
})

const wear = (page: Page, theme: string) =>
  page.evaluate(`new Promise((resolve) => {
    const link = document.querySelector('link[rel=stylesheet]')
    link.onload = resolve
    link.href = '../../${theme}.css'
  })`)

const read = (path: string) => readFileSync(join(directory, path), 'utf8')

/** A document in place of the one before keeps axe, which takes longer to load than to run. Its script runs at its end. */
const show = (page: Page, path: string) =>
  page.setContent(
    read(path).replace(/<script src="[./]*(\w+\.js)" defer><\/script>(.*)<\/body>/s, (_, script, body) => {
      return `${body}<script>{${read(script)}}</script></body>`
    }),
  )

async function findingsOf(page: Page, language: string, name: string, isWhole: boolean): Promise<string[]> {
  await page.setViewportSize({ width: 320, height: 800 })
  await show(page, join(language, 'dark', name))
  const findings = await examine(page)
  if (!isWhole || (await page.locator('link').count()) === 0) return findings
  let worn = 'dark'
  for (const [width, theme] of otherViews) {
    await page.setViewportSize({ width, height: 800 })
    if (theme !== worn) await wear(page, theme)
    worn = theme
    const found = await examine(page, rulesOfViews)
    findings.push(...found.map((finding) => `${width} ${theme}: ${finding}`))
  }
  return findings
}

test.each(languages)('in the language %s', async (language) => {
  const names = readdirSync(join(directory, language, 'dark'))
  const found: Record<string, string[]> = {}
  await Promise.all(
    [0, 1].map(async (half) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(`file://${directory}/${language}/dark/${names[0]}`)
      await loadAxe(page)
      for (const [index, name] of names.entries()) {
        if (index % 2 !== half) continue
        const findings = await findingsOf(page, language, name, index % EVERY === 0)
        if (findings.length > 0) found[name] = findings
      }
      await context.close()
    }),
  )
  expect(found).toEqual({})
})
