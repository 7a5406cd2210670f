/** Every message in a browser, as wide as a telephone and as a window, in each language. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { messagePurposes } from '../../src/domain/messages/outbox/message.ts'
import { previewPage } from '../../src/domain/messages/rendering/preview-page.ts'
import { createSamples } from '../../src/domain/messages/rendering/sample-messages.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { textDirection } from '../../src/texts/languages.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const catalog = createCatalog({ language: 'fr' })
const texts = {
  serviceName: 'Acme & Sons',
  logoUrl: null,
  support: null,
  colour: '#0f5f6b',
  layoutHtml: null,
}
const config = {
  server: { baseUrl: 'https://auth.example.com' },
  smtp: null,
  sms: { autofillDomain: null },
  codes: { lifetimeSeconds: 600 },
  pages: { enabled: true },
  texts,
} as never
const sample = createSamples(config, catalog)

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser({})
})
afterAll(() => browser.close())

/** Run in the page, of which the types of this project know nothing. */
const measure = `(() => {
  const root = document.documentElement
  const card = document.querySelector('.card')
  const code = document.querySelector('.code')
  const range = document.createRange()
  if (code) range.selectNodeContents(code)
  const lines = code ? new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size : 1
  const { backgroundColor, color, textAlign } = getComputedStyle(card)
  const luminance = (text) => text.match(/\\d+/g).slice(0, 3).reduce((sum, each) => sum + Number(each), 0)
  return {
    overflow: Math.max(0, root.scrollWidth - root.clientWidth),
    lines,
    isDark: luminance(backgroundColor) < luminance(color),
    textAlign,
  }
})()`

const schemes = ['light', 'dark'] as const
const widths = [320, 390, 800]
const languages = [...catalog.tags]

test.each(schemes.flatMap((scheme) => widths.map((width) => ({ scheme, width }))))(
  'fits $width pixels in the $scheme theme, its code on one line',
  async ({ scheme, width }) => {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: 700 } })
    const page = await context.newPage()
    for (const language of languages) {
      const textAlign = textDirection(language) === 'rtl' ? 'right' : 'left'
      for (const purpose of messagePurposes) {
        await page.setContent(sample(language, purpose, 'email').html as string)
        const found = await page.evaluate(measure)
        const wanted = { overflow: 0, lines: 1, isDark: scheme === 'dark', textAlign }
        expect({ language, purpose, found }).toEqual({ language, purpose, found: wanted })
      }
    }
    await context.close()
  },
)

test('the page of all messages draws those mails that are near what is looked at, and the others as one comes to them', async () => {
  const file = join(newDirectory('preview'), 'messages.html')
  await Bun.write(file, previewPage(config, catalog))
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const drawn = () => page.frames().filter((frame) => frame.url() === 'about:srcdoc')
  await page.goto(`file://${file}`)
  await waitFor(() => drawn().length > 0)
  await drawn()[0]!.waitForSelector('.card')
  expect(drawn().length).toBeLessThan(20)
  const last = page.locator('section:target article').last()
  await page.click('nav a >> nth=-1')
  await last.scrollIntoViewIfNeeded()
  await last.frameLocator('iframe').locator('.card').waitFor()
  expect(drawn().length).toBeLessThan(60)
  await page.close()
})
