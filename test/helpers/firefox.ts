/** Debian's Firefox without a window, driven by WebDriver BiDi. Any certificate is accepted. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from './run-directory.ts'
import { waitFor } from './wait.ts'

const executablePath = '/usr/bin/firefox-esr'

export interface Firefox {
  /** Opens an address and waits until it is loaded; gives the path that it led to and the text of the page. */
  open(address: string): Promise<{ path: string; text: string }>
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
  const send = await connect(`${address}/session`)
  await send('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  return {
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

async function connect(address: string): Promise<Send> {
  const socket = new WebSocket(address)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.onmessage = ({ data }) => {
    const { id, result, error, message } = JSON.parse(data)
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
