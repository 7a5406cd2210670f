/**
 * The rules for every state that the service gives: labels, autocomplete, names of accounts beside new passwords; and in Chromium no
 * findings of axe-core (WCAG 2.2 A and AA), nothing wider than the screen, no recovery code wider than its column. A run examines
 * English: all rules of axe on a narrow dark screen, and on every third page colours and sizes on a wide light one. A soak examines
 * every page, in every language and in more views. Colours of teams are tried on a few pages.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { brandStyle, brandTokens } from '../../../src/platform/look/colours.ts'
import { createCatalog } from '../../../src/texts/catalog.ts'
import { examine, examineLargeText, lineOf, loadAxe, rulesOfViews } from '../../helpers/axe.ts'
import { launchBrowser } from '../../helpers/browser.ts'
import { openBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { filesOf, type PageState, startWorld, walkPages } from '../../helpers/page-states/index.ts'
import { newDirectory } from '../../helpers/run-directory.ts'
import { mergeSettings, startService } from '../../helpers/service.ts'
import { reduced } from '../../helpers/soak.ts'
import { use } from '../../helpers/use-service.ts'

interface Field {
  name: string
  type: string
  id: string
  autocomplete: string | null
  described: string[]
  /** The title of the page is its label. */
  labelledby: string | null
  inputmode: string | null
  /** A phone leaves it as it was typed. */
  isAsTyped: boolean
}

/** A button that sends a form. `leadsElsewhere`: not to where the form itself is sent. */
interface Sender {
  leadsElsewhere: boolean
}

interface Read {
  ids: string[]
  labels: string[]
  forms: { id: string | null; fields: Field[]; senders: Sender[] }[]
  loads: string[]
  /** The names of fields: those that the browser focuses, and those that are wrong. */
  focused: string[]
  wrong: string[]
}

async function read(html: string): Promise<Read> {
  const buttons: { id: string | null; within: Read['forms'][number] | undefined; sender: Sender }[] = []
  const page: Read = { ids: [], labels: [], forms: [], loads: [], focused: [], wrong: [] }
  await new HTMLRewriter()
    .on('[id]', { element: (each) => void page.ids.push(each.getAttribute('id')!) })
    .on('label', { element: (label) => void page.labels.push(label.getAttribute('for') ?? '') })
    .on('form', {
      element: (form) => void page.forms.push({ id: form.getAttribute('id'), fields: [], senders: [] }),
    })
    .on('form button, button[form]', {
      element(button) {
        if (button.getAttribute('type') === 'button') return
        const sender = { leadsElsewhere: button.hasAttribute('formaction') }
        // Its form may come later.
        buttons.push({ id: button.getAttribute('form'), within: page.forms.at(-1), sender })
      },
    })
    .on('form input', {
      element: (input) =>
        void page.forms.at(-1)!.fields.push({
          name: input.getAttribute('name') ?? '',
          type: input.getAttribute('type') ?? 'text',
          id: input.getAttribute('id') ?? '',
          autocomplete: input.getAttribute('autocomplete'),
          labelledby: input.getAttribute('aria-labelledby'),
          described: (input.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean),
          inputmode: input.getAttribute('inputmode'),
          isAsTyped:
            input.getAttribute('autocapitalize') === 'none' &&
            input.getAttribute('autocorrect') === 'off' &&
            input.getAttribute('spellcheck') === 'false',
        }),
    })
    .on('[autofocus]', { element: (each) => void page.focused.push(each.getAttribute('name')!) })
    .on('[aria-invalid]', { element: (each) => void page.wrong.push(each.getAttribute('name')!) })
    .on('link[rel=stylesheet], script, img, iframe', {
      element: (each) =>
        void page.loads.push(each.getAttribute('src') ?? each.getAttribute('href') ?? 'inline'),
    })
    .on('style', { element: () => void page.loads.push('style') })
    .on('[style], [onclick], [onsubmit]', { element: () => void page.loads.push('inline') })
    .transform(new Response(html))
    .text()
  for (const { id, within, sender } of buttons)
    (id === null ? within : page.forms.find((each) => each.id === id))!.senders.push(sender)
  return page
}

const world = use(startWorld)
/** As English shows them. */
let walked: PageState[] = []
const pages = new Map<string, Read>()
const visited = new Set<string>()
let browser: Browser

setDefaultTimeout(reduced(120_000, 600_000))
beforeAll(async () => {
  walked = await walkPages(world)
  for (const { name, html, path } of walked) {
    pages.set(name, await read(html))
    visited.add(path)
  }
  browser = await launchBrowser({})
})
afterAll(() => browser?.close())

/** Calls `expectOf` for each page, and names the one that fails. */
function expectOfEach(expectOf: (page: Read) => void): void {
  for (const [name, page] of pages) {
    try {
      expectOf(page)
    } catch (error) {
      throw new Error(`${name}: ${error}`)
    }
  }
}

/** A field is named, and a phone helps with it and changes nothing of it. */
function expectTypable(field: Field, { ids, labels }: Read): void {
  const { name, id, autocomplete, inputmode, described, isAsTyped, labelledby } = field
  expect(autocomplete).toBeTruthy()
  expect(ids).toEqual(expect.arrayContaining(described))
  // The hidden name of the account is for password managers alone.
  if (name === 'username') return
  expect(labelledby === null ? labels : ids).toContain(labelledby ?? id)
  // Recovery codes are in capitals; everything else stays as it was typed.
  if (name !== 'otp' || inputmode !== 'text') expect(isAsTyped).toBe(true)
  if (name === 'identifier') expect(inputmode).toBe('email')
  if (name === 'otp')
    expect([autocomplete, ['numeric', 'text']]).toEqual([
      'one-time-code',
      expect.arrayContaining([inputmode]),
    ])
}

function expectRules(page: Read): void {
  expect(new Set(page.ids).size).toBe(page.ids.length)
  expect(page.loads).not.toContain('inline')
  // The first field that is wrong has the focus, otherwise one at most.
  if (page.wrong.length > 0) expect(page.focused).toEqual(page.wrong)
  else expect(page.focused.length).toBeLessThanOrEqual(1)
  for (const { fields, senders } of page.forms) {
    expect(senders.length).toBeGreaterThan(0)
    const typed = fields.filter(({ type }) => !['hidden', 'checkbox'].includes(type))
    // Enter in a field presses the first button, which is what the page is for.
    if (typed.length > 0) expect(senders[0]!.leadsElsewhere).toBe(false)
    for (const field of typed) expectTypable(field, page)
    const autocompletes = typed.map(({ autocomplete }) => autocomplete?.split(' ')[0])
    if (autocompletes.includes('new-password')) expect(autocompletes).toContain('username')
    if (autocompletes.includes('current-password')) expect(autocompletes).toContain('username')
  }
}

test('each state has one label for each field, loads what the policy allows, and sends by Enter what it is for', () => {
  expect(pages.size).toBeGreaterThan(100)
  expectOfEach(expectRules)
})

test('each page is among the states', () => {
  const { routes } = world.full.inside.app
  const paths = routes.flatMap(({ method, path }) => (method === 'GET' && isPage(path) ? [path] : []))
  expect(paths.filter((path) => !visited.has(path))).toEqual([])
})

/** The others lead on by themselves. */
const isPage = (path: string) =>
  /^\/(account|sign-|confirm|code|recover|choose-password|leave|signed-out)/.test(path) &&
  !['/sign-in/provider', '/account/providers/linked'].includes(path)

test('the page of two factors shows each factor of the account, and a removal that waits', () => {
  const endangered = textOf('account-two-factor-endangered')
  expect(endangered).toContain('Authenticator app Not set up Recommended Code by e-mail wolfe')
  expect(endangered).toContain(
    'example.com On Passkeys You have no passkey yet. Recovery codes 1 left Too few',
  )
  expect(endangered).toContain('Support was asked to turn off your two-factor sign-in.')
  expect(endangered).toMatch(/the link in the message that we sent to [\w .-]+@/)
  // A code of a message does not stop it.
  expect(endangered).not.toMatch(/Or sign in with|Keep it on/)
  expect(endangered).toContain('Send that message again')
  expect(textOf('account-two-factor-endangered-sent')).toContain('We sent it again to ')
  expect(textOf('account-two-factor-endangered-limited')).toMatch(/You can try again in\s2 hours/)
  expect(textOf('account-two-factor-waiting')).not.toContain('Send that message again')
  expect(textOf('account-two-factor-waiting')).toContain('Keep it on')
  expect(textOf('account-two-factor-waiting')).not.toContain('follow the link')
  expect(textOf('account-two-factor-with-app')).toMatch(
    /Authenticator app Added [\w ]+ On Passkeys iPhone, Wolfe[\w-]+ On Recovery codes 7 left /,
  )
  expect(textOf('account-two-factor')).toContain(
    'Authenticator app Not set up Recommended Codes by message Not set up',
  )
  expect(textOf('account-endangered')).toContain('You have one recovery code left.')
})

test('passkeys and linked accounts are rows that say what they are, and what pressing them does', () => {
  expect(textOf('account-passkeys-with-app')).toMatch(
    /iPhone Added [\w ]+ Change Wolfe[\w-]+ Added [\w ]+ Change/,
  )
  expect(textOf('account-providers')).toContain('Google Not linked Link')
  expect(textOf('account-providers-linked')).toMatch(
    /Your Google account is linked\. .*Google ada @work\.example\.com Linked Unlink/,
  )
  expect(textOf('account-providers-confirm-done')).toContain('Your Google account is linked.')
})

test('somebody to whom no code can be sent is told so, and whom to ask', () => {
  expect(textOf('second-step-none')).toMatch(/No code can be sent .* write to support@example\.com/)
})

test('what is wrong with the code of an app stands at its field, below the picture', () => {
  const { html } = stateOf('account-two-factor-app-wrong')
  expect(html).toContain('id="otp-wrong"')
  expect(html).not.toContain('id="problem"')
})

test('an account without a password is told nothing of one on the pages of two factors', () => {
  expect(textOf('account-without-password')).toContain('Two-factor sign-in Signing in takes one step Off')
  expect(textOf('account-two-factor-without-password')).not.toContain('password')
})

test('a failure of the service loads nothing else', () => {
  // Its style is in the page, and the policy allows it by its hash.
  expect(pages.get('unavailable')?.loads).toEqual(['style'])
})

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

/** The same parts and colours make up all pages: each run examines every third, and every ninth in each of the views. */
const EVERY = reduced(3, 1)

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

/** A page of the service with its files, without the service. */
async function openTab(files: Awaited<ReturnType<typeof filesOf>>): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url())
    const { type, text } = files.get(pathname) ?? { type: 'text/html', text: '<!doctype html>' }
    return route.fulfill({ contentType: type, body: text })
  })
  await page.goto('https://auth.example.com/')
  return page
}

const stateOf = (name: string) => walked.find((state) => state.name === name)!
const textOf = (name: string) =>
  stateOf(name)
    .html.replace(/^.*<main/s, '<main')
    .replaceAll('<wbr>', '')
    .replaceAll(/<[^>]*>|\s+/g, ' ')
    .replaceAll(/ +/g, ' ')

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

test.each(languages)('axe finds nothing in the language %s', async (language) => {
  const states = language === 'en' ? walked : await walkPages(world, language)
  const files = await filesOf(world.full, states)
  const script = [...files].find(([path]) => path.endsWith('.js'))?.[1].text ?? ''
  const found: Record<string, string[]> = {}
  await Promise.all(
    [0, 1].map(async (half) => {
      const page = await openTab(files)
      await loadAxe(page)
      for (const [index, state] of states.entries()) {
        if (index % EVERY !== 0 || (index / EVERY) % 2 !== half) continue
        const findings = await findingsOf(page, state, script, index % (EVERY * EVERY) === 0)
        if (language === 'en' && index % 3 === 0) {
          await page.setViewportSize({ width: 390, height: 800 })
          findings.push(...(await examineLargeText(page)))
        }
        if (findings.length > 0) found[state.name] = findings
      }
      await page.context().close()
    }),
  )
  expect(found).toEqual({})
})

const BRANDS = { yellow: '#ffe14d', mint: '#c9f7d0', nearBlack: '#0b0b14' }
const BRANDED = reduced(
  ['second-step-app'],
  ['second-step-app', 'sign-in-wrong', 'sign-up', 'account', 'account-two-factor', 'signed-out'],
)

test('words can be read in a brand of yellow, of mint and of near black, on light and on dark', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await loadAxe(page)
  for (const name of BRANDED)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await show(page, stateOf(name), '')
      for (const [brand, colour] of Object.entries(BRANDS)) {
        await page.addStyleTag({ content: brandStyle(colour) })
        const fill = await page.evaluate(
          "getComputedStyle(document.documentElement).getPropertyValue('--brand')",
        )
        expect(fill).toBe(brandTokens(colour, colorScheme).brand)
        const found = await examine(page, ['color-contrast'])
        expect([name, brand, colorScheme, found]).toEqual([name, brand, colorScheme, []])
      }
    }
  await page.context().close()
})

const LOGOS: [string, number, number, string][] = [
  ['wide', 480, 60, ''],
  ['tall', 40, 96, 'Acme Cloud'],
]

test.each(LOGOS.slice(0, reduced(1, 2)))(
  'a %s logo keeps its shape, is seen in the dark, and leaves the name',
  async (_, width, height, name) => {
    const logo = join(newDirectory('logo'), 'logo.svg')
    writeFileSync(
      logo,
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><path d="M0 0h${width}v${height}z"/></svg>`,
    )
    await using service = await startService({
      settings: mergeSettings(pageSettings, { pages: { name: 'Acme Cloud', logo } }),
    })
    const { path, html } = await openBrowser(service.url).open('/sign-in')
    const page = await openTab(await filesOf(service, [{ name: 'sign-in', path, html }]))
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setContent(html)
    const shown = await page.evaluate(`(async () => {
    const image = document.querySelector('.brand img')
    await image.decode()
    const { objectFit, backgroundColor } = getComputedStyle(image)
    return { objectFit, backgroundColor, isWide: image.offsetWidth > 220, height: image.offsetHeight, alt: image.alt }
  })()`)
    expect(shown).toEqual({
      ...{ objectFit: 'scale-down', backgroundColor: 'rgb(255, 255, 255)', isWide: false, height: 52 },
      alt: name === '' ? 'Acme Cloud' : '',
    })
    expect(await page.innerText('.brand')).toBe(name)
    await page.context().close()
  },
)

test('recovery codes are printed with the service, the account and the day, and with nothing to press', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.emulateMedia({ media: 'print' })
  await page.setContent(stateOf('account-recovery-codes').html)
  const lines = (await page.innerText('body')).split('\n').filter(Boolean)
  expect(lines).toEqual([
    'Keep these 10 codes',
    expect.stringContaining('Each of them replaces your second factor once.'),
    expect.stringMatching(/^Acme Cloud · person-[\w-]+@example\.com · \w+ \d+, \d{4}$/),
    ...Array(10).fill(expect.stringMatching(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)),
  ])
  await page.context().close()
})

test('whose account it is takes one line, on a phone its own below the way back, however long the address', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.setViewportSize({ width: 320, height: 800 })
  await page.setContent(stateOf('account-two-factor-endangered').html)
  const height = () => page.evaluate<number>(`document.querySelector('.up').offsetHeight`)
  expect(await height()).toBeLessThan(60)
  await page.setContent(stateOf('account-password').html)
  const cut = () =>
    page.evaluate<boolean[]>(
      "[...document.querySelectorAll('.up bdi > span')].map((one) => one.scrollWidth > one.clientWidth)",
    )
  expect(await cut()).toEqual([false, false])
  await page.setViewportSize({ width: 1440, height: 800 })
  expect(await height()).toBeLessThan(30)
  expect(await cut()).toEqual([false, false])
  await page.context().close()
})

test('an address that does not fit breaks before its @, in the head of the account and in a row', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.setViewportSize({ width: 390, height: 800 })
  await page.setContent(stateOf('account').html)
  const shown = await page.evaluate(
    "[...document.querySelectorAll('.who bdi > span, a.row bdi > span')].map((one) => [one.clientHeight < 26, one.scrollWidth > one.clientWidth])",
  )
  expect(shown).toEqual([
    [true, false],
    [true, false],
    [true, false],
    [true, false],
  ])
  for (const place of ['.who', 'a.row']) {
    const [local, domain] = await page.evaluate<[number, number]>(
      `[...document.querySelectorAll('${place} bdi > span')].map((one) => one.offsetTop)`,
    )
    expect(domain).toBeGreaterThan(local)
  }
  await page.context().close()
})

/** Each part of an address: whether an ellipsis cuts it, and whether its last letter is in sight. */
const partsOf = (page: Page, place: string) =>
  page.evaluate<{ isCut: boolean; endsInSight: boolean }[]>(
    `[...document.querySelectorAll('${place} .parts > span')].map((part) => {
      const range = document.createRange()
      range.selectNodeContents(part)
      const ends = [...range.getClientRects()].map(({ right }) => right)
      const edge = part.closest('.parts').parentElement.getBoundingClientRect().right
      return { isCut: part.scrollWidth > part.clientWidth, endsInSight: Math.max(...ends) <= edge + 1 }
    })`,
  )

test('a long address has one ellipsis, before its @, and its domain ends in sight', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 800 })
    for (const [state, place] of [
      ['account-endangered', '.who'],
      ['account-endangered', 'a.row'],
      ['account-two-factor-endangered', 'a.row'],
      ['account-two-factor-endangered', '.up'],
    ]) {
      await page.setContent(stateOf(state!).html)
      const [local, domain] = await partsOf(page, place!)
      expect([width, state, place, local?.isCut, domain]).toEqual([
        ...[width, state, place, true],
        { isCut: false, endsInSight: true },
      ])
    }
  }
  await page.context().close()
})

test('a long name takes two lines of the head', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.setViewportSize({ width: 390, height: 800 })
  await page.setContent(stateOf('account-endangered').html)
  expect(await page.evaluate<number>(`document.querySelector('.who h1').offsetHeight`)).toBe(60)
  await page.context().close()
})

test('whose account it is stands out, and an address that is a link still looks like one', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.setContent(stateOf('not-open').html)
  const colours = await page.evaluate(
    "['.who bdi', '.lead a bdi', '.next a'].map((one) => getComputedStyle(document.querySelector(one)).color)",
  )
  const [person, support, link] = colours as string[]
  expect([support === link, person === link]).toEqual([true, false])
  await page.context().close()
})

test('in a page from right to left recovery codes stand at its start, in the order of their characters', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.setViewportSize({ width: 390, height: 800 })
  await page.setContent(stateOf('account-recovery-codes').html.replace('dir="ltr"', 'dir="rtl"'))
  const shown = await page.evaluate(`(() => {
    const code = document.querySelector('.codes li')
    const range = document.createRange()
    range.selectNodeContents(code)
    return [getComputedStyle(code).direction, code.getBoundingClientRect().right - range.getBoundingClientRect().right]
  })()`)
  expect(shown).toEqual(['ltr', expect.closeTo(0, 0)])
  await page.context().close()
})

test('in the colours of the reader lines tell a wrong field, what is dangerous, marks and the focus', async () => {
  const page = await openTab(await filesOf(world.full, walked))
  await page.emulateMedia({ forcedColors: 'active' })
  await page.setContent(stateOf('sign-in-wrong').html)
  await page.focus('input[aria-invalid]')
  expect(await lineOf(page, 'input[aria-invalid]', 'border')).toBe('solid 3px')
  expect(await lineOf(page, 'input[aria-invalid]', 'outline')).toBe('solid 3px')
  expect(await lineOf(page, '.mark', 'border')).toBe('solid 1px')
  await page.setContent(stateOf('account-delete').html)
  expect(await lineOf(page, 'main .button.danger', 'border')).toBe('solid 3px')
  await page.setContent(stateOf('account').html)
  expect(await lineOf(page, '.badge', 'border')).toBe('solid 1px')
  await page.focus('main a.row')
  await page.keyboard.press('Tab')
  expect(await lineOf(page, ':focus', 'outline')).toBe('solid 2px')
  await page.context().close()
})
