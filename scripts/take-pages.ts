/**
 * Takes the pictures that docs/pages.md shows, of every state that the service gives: `bun scripts/take-pages.ts`. Needs Debian's
 * chromium and pngquant. With a folder it writes a picture of each state there instead, in the widths, themes and languages
 * that are looked at.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { $ } from 'bun'
import { type Browser, chromium } from 'playwright-core'
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

/**
 * A band below a sheet, in the colours of what is off or few: they are so rare on it that they would have no place among the
 * colours of the picture.
 */
const RARE: Record<Theme, string[]> = { light: [], dark: ['#f3bf6b', '#f3bf6b', '#2b2214'] }
const bandOf = (theme: Theme) =>
  RARE[theme].flatMap((colour) =>
    [100, 75, 50, 25].map(
      (share) => `<i style="background: color-mix(in srgb, ${colour} ${share}%, #16191d)"></i>`,
    ),
  )

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
  await sheet.setContent(`<!doctype html><style>body { margin: 0; font: 15px sans-serif; background: #888 } main { columns: ${COLUMNS}; column-gap: 16px }
    footer { display: flex } i { flex: 1; height: 128px }
    figure { margin: 0 0 16px; break-inside: avoid } figcaption { padding: 4px; background: #fff; color: #000 }
    img { display: block; width: 100% }</style><main>${figures.join('')}</main><footer>${bandOf(look.theme).join('')}</footer>`)
  await sheet.screenshot({ path, fullPage: true })
  await $`pngquant --force --ext .png --strip --nofs 48 ${path}`
  await sheet.close()
}

const [folder] = process.argv.slice(2)
const world = await startWorld()
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
for (const [language, sheetTheme] of SHEETS) {
  const states = await walkPages(world, language)
  const walked = { states, files: await filesOf(world.full, states) }
  if (folder === undefined) {
    const path = join(import.meta.dir, `../docs/pictures/pages-${language}-${sheetTheme}.png`)
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
