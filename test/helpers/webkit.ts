/** Debian's WebKitGTK on a screen that nobody sees, driven by WebDriver: what iPhones and Safari have in common with it. */
import { existsSync, rmSync } from 'node:fs'
import { freePort } from './free-port.ts'
import { newDirectory } from './run-directory.ts'
import { waitFor } from './wait.ts'

const driverPath = '/usr/bin/WebKitWebDriver'
const screenPath = '/usr/bin/Xvfb'
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
const CALL_MS = 10_000
const ENTER = '\uE007'

export interface WebKit {
  /** Opens an address and waits until it is loaded. */
  open(address: string): Promise<void>
  /** Runs the body of a function in the page, and gives what it returns. */
  run<T>(body: string, ...args: unknown[]): Promise<T>
  /** Types into the fields of these names, in place of what is there. */
  fill(values: Record<string, string>): Promise<void>
  /** Presses Enter in the field of this name. */
  enter(name: string): Promise<void>
  /** Clicks the button or link with these words, as soon as it is there. */
  press(words: string): Promise<void>
  /** Waits for the title of a page. */
  heading(words: string): Promise<void>
  address(): Promise<URL>
  back(): Promise<void>
  close(): Promise<void>
}

/** Any certificate is accepted; hosts below `localhost` lead to this machine. */
export async function launchWebKit(): Promise<WebKit> {
  if (!existsSync(driverPath) || !existsSync(screenPath)) {
    console.error('WebKitGTK is not installed, the tests need it: apt-get install webkit2gtk-driver xvfb')
    process.exit(1)
  }
  const home = newDirectory('webkit')
  const screen = Bun.spawn(
    [screenPath, '-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'],
    {
      stdout: 'pipe',
      stderr: 'ignore',
    },
  )
  const display = Buffer.from((await screen.stdout.getReader().read()).value ?? [])
    .toString()
    .trim()
  const port = await freePort()
  const driver = Bun.spawn([driverPath, `--port=${port}`], {
    stdout: 'ignore',
    stderr: 'ignore',
    env: {
      PATH: process.env.PATH,
      DISPLAY: `:${display}`,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      LANG: 'en_GB.UTF-8',
    },
  })
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`, {
      method,
      signal: AbortSignal.timeout(CALL_MS),
      ...(body && { body: JSON.stringify(body) }),
    })
    const { value } = (await answer.json()) as { value: any }
    if (!answer.ok) throw new Error(`WebKit: ${value.error}: ${value.message}`)
    return value
  }
  await waitFor(
    () =>
      call('GET', 'status').then(
        ({ ready }) => ready,
        () => false,
      ),
    { what: 'the driver of WebKit' },
  )
  // Going back to a page that leads on is never over for the driver, so that nobody waits for it.
  const capabilities = { alwaysMatch: { acceptInsecureCerts: true, pageLoadStrategy: 'none' } }
  const session = `session/${(await call('POST', 'session', { capabilities })).sessionId}`
  return {
    ...commandsOf((method, path, body) => call(method, `${session}/${path}`, body)),
    async close() {
      await call('DELETE', session)
      driver.kill()
      screen.kill()
      await Promise.all([driver.exited, screen.exited])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

type Call = (method: string, path: string, body?: object) => Promise<any>

function commandsOf(call: Call): Omit<WebKit, 'close'> {
  const run = (script: string, ...args: unknown[]) => call('POST', 'execute/sync', { script, args })
  const find = (using: 'css selector' | 'xpath', value: string): Promise<string> =>
    waitFor(
      () =>
        call('POST', 'element', { using, value }).then(
          (found) => found[ELEMENT],
          () => null,
        ),
      {
        what: `${value} in WebKit`,
      },
    )
  const field = (name: string) => find('css selector', `main input[name=${name}]`)
  const type = (element: string, text: string) => call('POST', `element/${element}/value`, { text })
  return {
    run,
    async open(url) {
      await run('globalThis.isLeft = true')
      await call('POST', 'url', { url })
      await waitFor(() => run("return !globalThis.isLeft && document.readyState === 'complete'"), {
        what: url,
      })
    },
    async fill(values) {
      for (const [name, text] of Object.entries(values)) {
        const element = await field(name)
        await call('POST', `element/${element}/clear`, {})
        await type(element, text)
      }
    },
    enter: async (name) => type(await field(name), ENTER),
    press: async (words) =>
      call(
        'POST',
        `element/${await find('xpath', `//*[self::button or self::a][normalize-space()="${words}"]`)}/click`,
        {},
      ),
    async heading(words) {
      await find('xpath', `//h1[normalize-space()="${words}"]`)
    },
    address: async () => new URL(await run('return location.href')),
    back: () => call('POST', 'back', {}),
  }
}
