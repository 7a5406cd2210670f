/**
 * Takes the pictures of every message that docs/texts.md shows: `bun scripts/take-messages.ts`. Needs Debian's
 * chromium-headless-shell and pngquant.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { launchBrowser } from '../test/helpers/browser.ts'

const root = join(import.meta.dir, '..')
const directory = mkdtempSync(join(tmpdir(), 'poterne-messages-'))
const page = join(directory, 'messages.html')
const smtp = { POTERNE_SMTP_HOST: 'smtp.example.com', POTERNE_SMTP_FROM: 'Acme <no-reply@example.com>' }
const env = {
  ...process.env,
  ...smtp,
  POTERNE_SERVER_BASE_URL: 'https://auth.example.com',
  POTERNE_TEXTS_SERVICE_NAME: 'Acme',
  POTERNE_PAGES_ENABLED: 'true',
  POTERNE_STORAGE_DATA_DIR: directory,
}

/** Five messages in a row, each as wide as on a phone. */
const style = `body { max-width: none; padding: 12px; } nav, h2 { display: none; } section { scroll-margin: 0; }
  .messages { grid-template-columns: repeat(5, 1fr); gap: 12px; } article { padding: 12px; }`

await $`${process.execPath} ${join(root, 'src/main.ts')} texts preview --output ${page}`
  .cwd(directory)
  .env(env as Record<string, string>)
  .quiet()
const browser = await launchBrowser({})
const html = readFileSync(page, 'utf8')
/** The page of one language, which shows its mails whether they are near or not. */
const pageIn = (tag: string) =>
  html
    .replaceAll(/<section id="(.*?)"[\s\S]*?<\/section>/g, (section, id) => (id === tag ? section : ''))
    .replaceAll(
      /<div title="([^"]*)" data-mail="([^"]*)"><\/div>/g,
      '<iframe sandbox title="$1" srcdoc="$2"></iframe>',
    )
    .replace(/<script>[\s\S]*?<\/script>/, '')
    .replace('</style>', `${style}</style>`)
for (const tag of ['en', 'ar']) {
  const picture = join(root, `docs/pictures/messages-${tag}.png`)
  const tab = await browser.newPage({ viewport: { width: 2140, height: 9600 }, deviceScaleFactor: 0.56 })
  await tab.setContent(pageIn(tag))
  // Chromium draws the frames after the page is loaded, and none that is out of sight.
  await tab.waitForTimeout(2000)
  for (const mail of await tab.locator(`section#${tag} iframe`).elementHandles()) {
    const frame = (await mail.contentFrame())!
    const height = Number(await frame.evaluate('document.documentElement.scrollHeight'))
    await mail.evaluate((element, px) => element.setAttribute('style', `height: ${px}px`), height)
  }
  await tab.locator(`section#${tag}`).screenshot({ path: picture })
  await $`pngquant --force --ext .png --strip --nofs 12 ${picture}`
}
await browser.close()
rmSync(directory, { recursive: true })
