/**
 * Takes the pictures that docs/pages.md shows, of every state that the service gives: `bun scripts/take-pages.ts`. Needs Debian's
 * chromium-headless-shell. With a folder it writes a picture of each state there instead, in the widths, themes and languages
 * that are looked at.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../test/helpers/browser.ts'
import {
  filesOf,
  type PageFile,
  type PageState,
  startWorld,
  walkPages,
} from '../test/helpers/page-states/index.ts'

const WIDTH = 390
const COLUMNS = 12
const SHEETS = [
  ['en', 'light'],
  ['ar', 'dark'],
] as const
type Theme = (typeof SHEETS)[number][1]

interface Look {
  width: number
  theme: Theme
  scale?: number
}

interface Walked {
  states: PageState[]
  files: Map<string, PageFile>
}

/** A picture of each state, as its browser shows it. */
async function* takeAll(browser: Browser, { states, files }: Walked, { width, theme, scale = 1 }: Look) {
  const context = await browser.newContext({
    viewport: { width, height: 560 },
    colorScheme: theme,
    deviceScaleFactor: scale,
  })
  const tab = await context.newPage()
  let html = ''
  await tab.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url())
    const file = files.get(pathname)
    return route.fulfill(
      file
        ? { contentType: file.type, body: Buffer.from(file.bytes) }
        : { contentType: 'text/html', body: html },
    )
  })
  for (const state of states) {
    html = state.html.replace(/<meta http-equiv="refresh"[^>]*>/, '')
    await tab.goto(`https://auth.example.com/state/${state.name}`)
    yield { name: state.name, picture: await tab.screenshot({ fullPage: true, animations: 'disabled' }) }
  }
  await context.close()
}

async function takeSheet(browser: Browser, walked: Walked, look: Look, path: string): Promise<void> {
  const figures: string[] = []
  for await (const { name, picture } of takeAll(browser, walked, look)) {
    const source = `data:image/png;base64,${picture.toString('base64')}`
    figures.push(`<figure><figcaption>${name}</figcaption><img src="${source}"></figure>`)
  }
  const sheet = await browser.newPage({
    viewport: { width: COLUMNS * (look.width + 16), height: 800 },
    deviceScaleFactor: 0.5,
  })
  await sheet.setContent(`<!doctype html><style>body { margin: 0; columns: ${COLUMNS}; column-gap: 16px; font: 15px sans-serif; background: #888 }
    figure { margin: 0 0 16px; break-inside: avoid } figcaption { padding: 4px; background: #fff; color: #000 }
    img { display: block; width: 100% }</style>${figures.join('')}`)
  const picture = await sheet.screenshot({ fullPage: true })
  await Bun.write(path, await asWebp(sheet, picture))
  await sheet.close()
}

/** A palette has no place for colours that are rare on a sheet, as that of what is off. */
async function asWebp(page: Page, png: Buffer): Promise<Buffer> {
  const url = await page.evaluate<string>(`(async () => {
    const picture = new Image()
    picture.src = 'data:image/png;base64,${png.toString('base64')}'
    await picture.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height })
    canvas.getContext('2d').drawImage(picture, 0, 0)
    return canvas.toDataURL('image/webp', 0.8)
  })()`)
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
}

const [folder] = process.argv.slice(2)
const world = await startWorld()
const browser = await launchBrowser({})
for (const [language, sheetTheme] of SHEETS) {
  const states = await walkPages(world, language)
  const walked = { states, files: await filesOf(world.full, states) }
  if (folder === undefined) {
    const path = join(import.meta.dir, `../docs/pictures/pages-${language}-${sheetTheme}.webp`)
    await takeSheet(browser, walked, { width: WIDTH, theme: sheetTheme }, path)
    continue
  }
  for (const [width, theme] of [
    [390, 'light'],
    [390, 'dark'],
    [1440, 'light'],
    [1440, 'dark'],
  ] as const) {
    const into = join(folder, `${language}-${width}-${theme}`)
    mkdirSync(into, { recursive: true })
    for await (const { name, picture } of takeAll(browser, walked, { width, theme }))
      await Bun.write(join(into, `${name}.png`), picture)
  }
}
await browser.close()
await world.close()
process.exit(0)
