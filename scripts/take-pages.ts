/**
 * Takes the pictures of every state of the pages that docs/pages.md shows: `bun scripts/take-pages.ts`. Needs Debian's
 * chromium and pngquant.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { chromium } from 'playwright-core'

const WIDTH = 390
const COLUMNS = 12
const SHEETS = [
  ['en', 'light'],
  ['ar', 'dark'],
] as const

const root = join(import.meta.dir, '..')
const directory = mkdtempSync(join(tmpdir(), 'poterne-pages-'))
const env = {
  ...process.env,
  POTERNE_SERVER_BASE_URL: 'https://auth.example.com',
  POTERNE_TEXTS_SERVICE_NAME: 'Acme',
  POTERNE_STORAGE_DATA_DIR: directory,
}
await $`${process.execPath} ${join(root, 'src/main.ts')} pages preview --out ${directory}`
  .cwd(directory)
  .env(env as Record<string, string>)
  .quiet()
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--allow-file-access-from-files'],
})
for (const [language, theme] of SHEETS) {
  const states = readdirSync(join(directory, language, theme)).sort()
  const tab = await browser.newPage({ viewport: { width: WIDTH, height: 560 }, colorScheme: theme })
  const figures: string[] = []
  for (const state of states) {
    await tab.goto(`file://${join(directory, language, theme, state)}`)
    const picture = (await tab.screenshot({ fullPage: true })).toString('base64')
    const name = state.replace('.html', '')
    figures.push(
      `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${picture}"></figure>`,
    )
  }
  await tab.close()
  const width = COLUMNS * (WIDTH + 16)
  const sheet = await browser.newPage({ viewport: { width, height: 800 }, deviceScaleFactor: 0.5 })
  await sheet.setContent(`<!doctype html><style>body { margin: 0; columns: ${COLUMNS}; column-gap: 16px; font: 15px sans-serif; background: #888 }
    figure { margin: 0 0 16px; break-inside: avoid } figcaption { padding: 4px; background: #fff; color: #000 }
    img { display: block; width: 100% }</style>${figures.join('')}`)
  const picture = join(root, `docs/pictures/pages-${language}-${theme}.png`)
  await sheet.screenshot({ path: picture, fullPage: true })
  await $`pngquant --force --ext .png --strip 32 ${picture}`
  await sheet.close()
}
await browser.close()
rmSync(directory, { recursive: true })
