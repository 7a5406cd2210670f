/** Debian's Firefox without a window, driven by WebDriver BiDi. Any certificate is accepted. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from './run-directory.ts'
import { waitFor } from './wait.ts'

const executablePath = '/usr/bin/firefox-esr'

export interface Firefox {
  /** Opens an address and waits until it is loaded; gives the path that it led to and the text of the page. */
  open(address: string): Promise<{ path: string; text: string }>
  /** Runs the body of a function in the page, and gives what it returns. */
  run<T>(body: string, ...args: string[]): Promise<T>
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
  /** The violations of a policy, and the errors of scripts, so far. */
  problems: string[]
  close(): Promise<void>
}

/** `hosts` lead to this machine; nothing else is asked for. */
export async function launchFirefox(hosts: string[]): Promise<Firefox> {
  if (!existsSync(executablePath)) {
    console.error('firefox-esr is not installed, the tests need it: apt-get install firefox-esr')
    process.exit(1)
  }
  const profile = newDirectory('firefox')
  const preferences = {
    'network.dns.localDomains': hosts.join(','),
    // Whatever else the browser would fetch by itself ends at a port where nobody listens.
    'network.proxy.type': 1,
    'network.proxy.ssl': '127.0.0.1',
    'network.proxy.ssl_port': 9,
    'network.proxy.http': '127.0.0.1',
    'network.proxy.http_port': 9,
    'network.proxy.no_proxies_on': ['127.0.0.1', 'localhost', ...hosts].join(','),
    'app.update.disabledForTesting': true,
    'datareporting.policy.dataSubmissionEnabled': false,
  }
  const lines = Object.entries(preferences).map(
    ([key, value]) => `user_pref("${key}", ${JSON.stringify(value)});`,
  )
  writeFileSync(join(profile, 'user.js'), lines.join('\n'))
  const browser = Bun.spawn(
    [
      executablePath,
      '--headless',
      '--no-remote',
      '--profile',
      profile,
      '--remote-debugging-port=0',
      'about:blank',
    ],
    { cwd: profile, stdout: 'ignore', stderr: 'pipe', env: { ...process.env, HOME: profile } },
  )
  let printed = ''
  const reading = (async () => {
    for await (const chunk of browser.stderr) printed += Buffer.from(chunk).toString()
  })()
  const address = await waitFor(() => /listening on (ws:\S+)/.exec(printed)?.[1], {
    what: 'Firefox',
    timeoutMs: 100_000,
  })
  const problems: string[] = []
  const send = await connect(`${address}/session`, ({ level, text }) => {
    if (level === 'error') problems.push(text)
  })
  await send('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  await send('session.subscribe', { events: ['log.entryAdded'] })
  return {
    ...commandsOf(send, context),
    problems,
    async open(address) {
      await send('browsingContext.navigate', { context, url: address, wait: 'complete' })
      const { result } = await send('script.evaluate', {
        expression: 'JSON.stringify({ path: location.pathname, text: document.body.innerText })',
        target: { context },
        awaitPromise: false,
      })
      return JSON.parse(result.value)
    },
    async close() {
      browser.kill()
      await browser.exited
      await reading
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

type Send = (method: string, params: object) => Promise<any>

const ENTER = '\uE007'
const [BACKSPACE, CONTROL] = ['\uE003', '\uE009']

interface KeyAction {
  type: 'keyDown' | 'keyUp'
  value: string
}

const down = (value: string): KeyAction => ({ type: 'keyDown', value })
const up = (value: string): KeyAction => ({ type: 'keyUp', value })
const pressed = (key: string) => [down(key), up(key)]

function commandsOf(send: Send, context: string) {
  const run = async (body: string, ...args: string[]) => {
    const { result, exceptionDetails } = await send('script.callFunction', {
      functionDeclaration: `function () { return JSON.stringify((function () { ${body} }).apply(null, arguments) ?? null) }`,
      arguments: args.map((value) => ({ type: 'string', value })),
      target: { context },
      awaitPromise: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.text)
    return JSON.parse(result.value)
  }
  /** A page that is going away answers nothing. */
  const becomes = (what: string, body: string, ...args: string[]) =>
    waitFor(() => run(body, ...args).catch(() => false), { what: `${what} in Firefox`, timeoutMs: 30_000 })
  const keys = (actions: KeyAction[]) =>
    send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] })
  const focus = (name: string) =>
    becomes(
      `the field ${name}`,
      `const field = document.querySelector('main input[name=' + arguments[0] + ']')
       if (document.readyState !== 'complete' || !field) return false
       field.focus()
       return document.activeElement === field`,
      name,
    )
  return {
    run,
    async fill(values: Record<string, string>) {
      for (const [name, text] of Object.entries(values)) {
        await focus(name)
        await keys([down(CONTROL), ...pressed('a'), up(CONTROL), ...pressed(BACKSPACE)])
        // Six digits send a form, and the page is gone with the last of them.
        await keys([...text].flatMap(pressed))
      }
    },
    async enter(name: string) {
      await focus(name)
      await keys(pressed(ENTER))
    },
    async press(words: string) {
      await becomes(
        words,
        `const all = [...document.querySelectorAll('main button, main a, header button, details a')]
         const one = all.find((each) => each.textContent.trim() === arguments[0] && each.getClientRects().length > 0)
         if (document.readyState !== 'complete' || !one) return false
         one.click()
         return true`,
        words,
      )
    },
    async heading(words: string) {
      await becomes(words, "return document.querySelector('h1')?.textContent.trim() === arguments[0]", words)
    },
    address: async () => new URL(await run('return location.href')),
    back: () => send('browsingContext.traverseHistory', { context, delta: -1 }).then(() => {}),
  }
}

interface LogEntry {
  level: string
  text: string
}

async function connect(address: string, onLog: (entry: LogEntry) => void): Promise<Send> {
  const socket = new WebSocket(address)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.onmessage = ({ data }) => {
    const { id, result, error, message, method, params } = JSON.parse(data)
    if (method === 'log.entryAdded') onLog(params)
    const call = waiting.get(id)
    if (error === undefined) call?.resolve(result)
    else call?.reject(new Error(`${error}: ${message}`))
  }
  socket.onclose = () => {
    for (const call of waiting.values()) call.reject(new Error('Firefox is gone'))
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  let calls = 0
  return (method, params) => {
    const call = Promise.withResolvers<unknown>()
    const id = ++calls
    waiting.set(id, call)
    socket.send(JSON.stringify({ id, method, params }))
    return call.promise
  }
}
